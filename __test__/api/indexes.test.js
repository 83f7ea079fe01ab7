'use strict';

/** `firestore.indexes`: what becomes of a query that production refuses for want of an index. */

const assert = require('node:assert/strict');
const { once } = require('node:events');
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { test } = require('node:test');

const { firebaseProject } = require('../helpers/firebase-project.js');
const { rest, suiteFor } = require('../helpers/suite.js');

/** An order by two fields, which takes a composite index. */
const QUERY = {
  structuredQuery: {
    from: [{ collectionId: 'books' }],
    orderBy: [{ field: { fieldPath: 'author' } }, { field: { fieldPath: 'year' }, direction: 'DESCENDING' }],
  },
};

const INDEX = {
  collectionGroup: 'books',
  queryScope: 'COLLECTION',
  fields: [
    { fieldPath: 'author', order: 'ASCENDING' },
    { fieldPath: 'year', order: 'DESCENDING' },
  ],
};

/** @param {import('node:test').TestContext} t @param {unknown[]} indexes */
const project = (t, indexes) =>
  firebaseProject(t, {
    'firebase.json': { firestore: { indexes: 'firestore.indexes.json' } },
    'firestore.indexes.json': { indexes, fieldOverrides: [] },
  });

const withIndexes = (/** @type {string} */ cwd, /** @type {'off' | 'warn' | 'strict' | 'record'} */ indexes) => ({
  cwd,
  config: 'firebase.json',
  firestore: { indexes },
});

test('strict refuses as production does, until the index is declared', async (t) => {
  const suite = await suiteFor(t, withIndexes(project(t, []), 'strict'));
  const { status, body } = await rest(suite, 'POST', ':runQuery', QUERY);
  const { error } = Array.isArray(body) ? body[0] : body;
  assert.deepEqual([status, error.status], [400, 'FAILED_PRECONDITION']);
  assert.match(error.message, /^The query requires an index\. You can create it here: https:\/\/console\.firebase\.google\.com\/v1\/r\/project\/demo-no-project\/firestore\/indexes\?create_composite=/);
  const entry = JSON.parse(error.message.slice(error.message.lastIndexOf('json: ') + 'json: '.length));
  assert.deepEqual(entry, INDEX);

  const declared = await suiteFor(t, withIndexes(project(t, [entry]), 'strict'));
  assert.equal((await rest(declared, 'POST', ':runQuery', QUERY)).status, 200);
});

test('warn answers, and tells each index once', async (t) => {
  const suite = await suiteFor(t, withIndexes(project(t, []), 'warn'));
  /** @type {string[]} */
  const told = [];
  const listen = (/** @type {Error} */ warning) => warning.name === 'FireletWarning' && told.push(warning.message);
  process.on('warning', listen);
  t.after(() => process.off('warning', listen));
  const first = once(process, 'warning');
  for (let turn = 0; turn < 3; turn += 1) assert.equal((await rest(suite, 'POST', ':runQuery', QUERY)).status, 200);
  await first;
  const other = { structuredQuery: { ...QUERY.structuredQuery, from: [{ collectionId: 'papers' }] } };
  const second = once(process, 'warning');
  assert.equal((await rest(suite, 'POST', ':runQuery', other)).status, 200);
  await second;
  assert.deepEqual(told.map((text) => /"collectionGroup":"(\w+)"/.exec(text)?.[1]), ['books', 'papers']);
  assert.match(told[0] ?? '', /^firestore: production would refuse a query for want of an index\. Add this to "indexes" in firestore\.indexes\.json: \{/);
});

test('record writes the entry, and the file serves the next suite', async (t) => {
  const cwd = project(t, []);
  const suite = await suiteFor(t, withIndexes(cwd, 'record'));
  assert.equal((await rest(suite, 'POST', ':runQuery', QUERY)).status, 200);
  assert.equal((await rest(suite, 'POST', ':runQuery', QUERY)).status, 200);
  const written = JSON.parse(readFileSync(join(cwd, 'firestore.indexes.json'), 'utf8'));
  assert.deepEqual(written, { indexes: [INDEX], fieldOverrides: [] });
  const strict = await suiteFor(t, withIndexes(cwd, 'strict'));
  assert.equal((await rest(strict, 'POST', ':runQuery', QUERY)).status, 200);
});

test('off says nothing', async (t) => {
  const cwd = project(t, []);
  const suite = await suiteFor(t, withIndexes(cwd, 'off'));
  assert.equal((await rest(suite, 'POST', ':runQuery', QUERY)).status, 200);
  assert.deepEqual(JSON.parse(readFileSync(join(cwd, 'firestore.indexes.json'), 'utf8')), { indexes: [], fieldOverrides: [] });
});

test('databases of the enterprise edition want no index', async (t) => {
  const config = { firestore: [{ database: '(default)' }, { database: 'data', edition: 'enterprise' }] };
  const suite = await suiteFor(t, withIndexes(firebaseProject(t, { 'firebase.json': config }), 'strict'));
  const status = async (/** @type {string} */ database) => {
    const url = `${suite.firestore.url}/v1/projects/${suite.project}/databases/${database}/documents:runQuery`;
    return (await fetch(url, { method: 'POST', headers: { authorization: 'Bearer owner' }, body: JSON.stringify(QUERY) })).status;
  };
  assert.deepEqual([await status('(default)'), await status('data')], [400, 200]);
});
