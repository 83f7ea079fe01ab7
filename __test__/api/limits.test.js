'use strict';

/** `firestore.limits`: production's limits, and a suite without them. */

const assert = require('node:assert/strict');
const { test } = require('node:test');

const { rest, suiteFor } = require('../helpers/suite.js');

/**
 * @param {'production' | 'off'} limits
 * @returns {import('../../index.js').StartOptions}
 */
const withLimits = (limits) => ({ config: false, only: 'firestore', firestore: { limits } });

/**
 * More than a document, an index, a commit, and a query may hold in production.
 *
 * @param {string} docs
 * @returns {Record<'document' | 'entries' | 'transforms' | 'disjunctions', [verb: string, body: object]>}
 */
const requests = (docs) => ({
  document: [':commit', { writes: [{ update: { name: `${docs}/c/1`, fields: { s: { stringValue: 'x'.repeat(1_100_000) } } } }] }],
  entries: [
    ':commit',
    { writes: [{ update: { name: `${docs}/c/2`, fields: { a: { arrayValue: { values: Array.from({ length: 20_000 }, (_, n) => ({ integerValue: n })) } } } } }] },
  ],
  transforms: [
    ':commit',
    { writes: [{ transform: { document: `${docs}/c/3`, fieldTransforms: Array.from({ length: 501 }, () => ({ fieldPath: 'n', increment: { integerValue: 1 } })) } }] },
  ],
  disjunctions: [
    ':runQuery',
    {
      structuredQuery: {
        from: [{ collectionId: 'c' }],
        where: {
          fieldFilter: {
            field: { fieldPath: 'n' },
            op: 'IN',
            value: { arrayValue: { values: Array.from({ length: 200 }, (_, n) => ({ integerValue: n + 400 })) } },
          },
        },
      },
    },
  ],
});

test('production is the default, and refuses', async (t) => {
  for (const suite of [await suiteFor(t, withLimits('production')), await suiteFor(t, { config: false, only: 'firestore' })]) {
    const docs = `projects/${suite.project}/databases/(default)/documents`;
    for (const [what, [verb, body]] of Object.entries(requests(docs))) {
      assert.equal((await rest(suite, 'POST', verb, body)).status, 400, what);
    }
  }
});

test('off lifts sizes, counts and lists', async (t) => {
  const suite = await suiteFor(t, withLimits('off'));
  const docs = `projects/${suite.project}/databases/(default)/documents`;
  for (const [what, [verb, body]] of Object.entries(requests(docs))) {
    const answer = await rest(suite, 'POST', verb, body);
    assert.equal(answer.status, 200, `${what}: ${JSON.stringify(answer.body).slice(0, 500)}`);
  }
  const [verb, query] = requests(docs).disjunctions;
  const found = await rest(suite, 'POST', verb, query);
  const documents = found.body.flatMap((/** @type {any} */ row) => row.document ?? []);
  assert.deepEqual(documents.map((/** @type {any} */ document) => document.fields.n), [{ integerValue: '501' }]);
});

test('off keeps what protects the process, and the rules of names', async (t) => {
  const suite = await suiteFor(t, withLimits('off'));
  const docs = `projects/${suite.project}/databases/(default)/documents`;
  const writes = (/** @type {string} */ name, /** @type {unknown} */ fields) => ({ writes: [{ update: { name, fields } }] });
  const values = Array.from({ length: 1_001 }, (_, n) => ({ integerValue: n }));
  const where = { fieldFilter: { field: { fieldPath: 'n' }, op: 'IN', value: { arrayValue: { values } } } };
  for (const [verb, body] of [
    [':commit', writes(`${docs}/c/${'d'.repeat(1_501)}`, {})],
    [':commit', writes(`${docs}/c/1`, { __x__: { integerValue: 1 } })],
    [':runQuery', { structuredQuery: { from: [{ collectionId: 'c' }], where } }],
  ]) {
    assert.equal((await rest(suite, 'POST', /** @type {string} */ (verb), body)).status, 400);
  }
});
