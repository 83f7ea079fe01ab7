'use strict';

/** Seeds: plain documents with every type, functions and modules; loaded once, restored any number of times. */

const assert = require('node:assert/strict');
const { mkdtempSync, mkdirSync, rmSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { test } = require('node:test');

const { start } = require('../../index.js');
const { rest, suiteFor } = require('../helpers/suite.js');

/** @param {import('node:test').TestContext} t @param {{ [name: string]: unknown }} files */
function folder(t, files) {
  const dir = mkdtempSync(join(tmpdir(), 'firelet-seed-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(dir, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
  return dir;
}

/** @param {import('../../index.js').Suite} suite @param {string} path */
const fields = async (suite, path) => (await rest(suite, 'GET', path)).body.fields;

test('a file of documents has words for every type', async (t) => {
  const cwd = folder(t, {
    'seed.json': {
      'users/alice': {
        name: 'Alice', age: 30, score: 1.5, admin: true, none: null, tags: ['a', 1, { deep: null }], address: { city: 'Oslo' },
        at: { $timestamp: '2026-01-31T12:00:00.123456Z' },
        large: { $integer: '9223372036854775807' },
        whole: { $double: 2 },
        nan: { $double: 'NaN' },
        zero: { $double: '-0' },
        bytes: { $bytes: 'AQID' },
        friend: { $reference: 'users/bob' },
        elsewhere: { $reference: 'projects/p/databases/d/documents/users/carol' },
        place: { $geoPoint: { latitude: 59.9, longitude: 10.7 } },
        pair: { $geoPoint: [1, 2] },
        vector: { $vector: [1, 0.5] },
        dollars: { $map: { $price: 5 } },
        empty: {}, nothing: [],
      },
      'users/bob/pets/rex': {},
      $databases: { second: { 'users/dora': { me: { $reference: 'users/dora' } } } },
    },
  });
  const suite = await suiteFor(t, { cwd, project: 'demo-seed', seed: 'seed.json' });
  assert.deepEqual(await fields(suite, '/users/alice'), {
    name: { stringValue: 'Alice' },
    age: { integerValue: '30' },
    score: { doubleValue: 1.5 },
    admin: { booleanValue: true },
    none: { nullValue: null },
    tags: { arrayValue: { values: [{ stringValue: 'a' }, { integerValue: '1' }, { mapValue: { fields: { deep: { nullValue: null } } } }] } },
    address: { mapValue: { fields: { city: { stringValue: 'Oslo' } } } },
    at: { timestampValue: '2026-01-31T12:00:00.123456Z' },
    large: { integerValue: '9223372036854775807' },
    whole: { doubleValue: 2 },
    nan: { doubleValue: 'NaN' },
    zero: { doubleValue: -0 },
    bytes: { bytesValue: 'AQID' },
    friend: { referenceValue: 'projects/demo-seed/databases/(default)/documents/users/bob' },
    elsewhere: { referenceValue: 'projects/p/databases/d/documents/users/carol' },
    place: { geoPointValue: { latitude: 59.9, longitude: 10.7 } },
    pair: { geoPointValue: { latitude: 1, longitude: 2 } },
    vector: {
      mapValue: { fields: { __type__: { stringValue: '__vector__' }, value: { arrayValue: { values: [{ doubleValue: 1 }, { doubleValue: 0.5 }] } } } },
    },
    dollars: { mapValue: { fields: { $price: { integerValue: '5' } } } },
    empty: { mapValue: {} },
    nothing: { arrayValue: {} },
  });
  assert.equal((await rest(suite, 'GET', '/users/bob/pets/rex')).status, 200);
  const second = await fetch(`${suite.firestore.url}/v1/projects/demo-seed/databases/second/documents/users/dora`);
  assert.equal((await second.json()).fields.me.referenceValue, 'projects/demo-seed/databases/second/documents/users/dora');
});

test('each test goes back to the seed', async (t) => {
  const seed = { 'users/alice': { n: 1 } };
  const suite = await suiteFor(t, { project: 'demo-seed', seed });
  for (let turn = 0; turn < 3; turn += 1) {
    await suite.restore('seed');
    assert.deepEqual(await fields(suite, '/users/alice'), { n: { integerValue: '1' } });
    assert.equal((await rest(suite, 'GET', '/users/bob')).status, 404);
    await rest(suite, 'DELETE', '/users/alice');
    await rest(suite, 'PATCH', '/users/bob', { fields: {} });
  }
  await suite.fork({ project: 'demo-seed-fork' });
});

test('a function writes with the SDK or in the plain form, and its rules do not stop it', async (t) => {
  const rules = 'service cloud.firestore { match /databases/{d}/documents { match /{p=**} { allow read, write: if false; } } }';
  const before = process.env.FIRESTORE_EMULATOR_HOST;
  const suite = await suiteFor(t, {
    project: 'demo-seed',
    firestore: { rules },
    seed: async (admin) => {
      const { Firestore } = require('@google-cloud/firestore');
      assert.equal(process.env.FIRESTORE_EMULATOR_HOST, admin.env.FIRESTORE_EMULATOR_HOST);
      const db = new Firestore({ projectId: admin.project });
      await db.doc('users/alice').set({ at: new Date(1_700_000_000_000) });
      await db.terminate();
      await admin.write({ 'users/bob': { at: new Date(1_700_000_000_000), bytes: new Uint8Array([1, 2, 3]), left: undefined } });
    },
  });
  assert.equal(process.env.FIRESTORE_EMULATOR_HOST, before);
  const at = { timestampValue: '2023-11-14T22:13:20Z' };
  assert.deepEqual(await fields(suite, '/users/alice'), { at });
  assert.deepEqual(await fields(suite, '/users/bob'), { at, bytes: { bytesValue: 'AQID' } });
});

test('modules of both kinds export a function or documents', async (t) => {
  const write = "(admin) => admin.write({ 'users/alice': { n: 1 } })";
  const cwd = folder(t, {
    'a.js': `module.exports = async ${write};`,
    'b.mjs': `export default ${write};`,
    'c.cjs': "module.exports = { 'users/alice': { n: 1 } };",
  });
  for (const seed of ['a.js', './b.mjs', join(cwd, 'c.cjs')]) {
    const suite = await suiteFor(t, { cwd, project: 'demo-seed', seed });
    assert.deepEqual(await fields(suite, '/users/alice'), { n: { integerValue: '1' } }, seed);
  }
});

test('more documents than one commit takes', async (t) => {
  const seed = Object.fromEntries(Array.from({ length: 1_201 }, (_, n) => [`many/${n}`, { text: 'x'.repeat(10_000) }]));
  const suite = await suiteFor(t, { project: 'demo-seed', seed });
  const { body } = await rest(suite, 'POST', ':runAggregationQuery', {
    structuredAggregationQuery: { structuredQuery: { from: [{ collectionId: 'many' }] }, aggregations: [{ alias: 'n', count: {} }] },
  });
  assert.equal(body[0].result.aggregateFields.n.integerValue, '1201');
});

test('in kept data a seed is loaded once', async (t) => {
  const cwd = folder(t, {});
  const options = { cwd, project: 'demo-seed', data: { keep: true } };
  const first = await suiteFor(t, { ...options, seed: { 'users/alice': { n: 1 } } });
  await rest(first, 'PATCH', '/users/alice', { fields: { n: { integerValue: '2' } } });
  await first.stop();
  const second = await suiteFor(t, { ...options, seed: { 'users/alice': { n: 3 } } });
  assert.deepEqual(await fields(second, '/users/alice'), { n: { integerValue: '2' } });
  await second.restore('seed');
  assert.deepEqual(await fields(second, '/users/alice'), { n: { integerValue: '1' } });
});

test('mistakes are told with their place, and nothing is left running', async (t) => {
  const cwd = folder(t, { 'broken.json': '{', 'list.json': [], 'seed.txt': '', 'throws.js': 'throw new Error("mine");', 'text.js': "module.exports = 'x';" });
  mkdirSync(join(cwd, 'empty'));
  /** @type {[any, RegExp][]} */
  const cases = [
    ['missing.json', /there is no .*missing\.json/],
    ['broken.json', /broken\.json is no JSON/],
    ['list.json', /must hold an object of documents/],
    ['seed.txt', /must be a \.json file/],
    ['throws.js', /throws\.js cannot be loaded: mine/],
    ['text.js', /must export a function or an object/],
    ['empty', /holds no official export/],
    [5, /must be the path of a file/],
    [{ users: {} }, /`users` must be the path of a document/],
    [{ 'users/': {} }, /`users\/` must be the path of a document/],
    [{ 'users/a': 5 }, /`users\/a` must be an object/],
    [{ 'users/a': { at: { $timestamp: 'today' } } }, /`users\/a` of the option `seed`: at\.\$timestamp must be a time/],
    [{ 'users/a': { at: { $date: 'x' } } }, /at must be \$timestamp, /],
    [{ 'users/a': { at: { $double: 1, more: 2 } } }, /alone in its object/],
    [{ 'users/a': { n: 2 ** 60 } }, /\$integer/],
    [{ 'users/a': { n: { $integer: '9223372036854775808' } } }, /64 bits/],
    [{ 'users/a': { n: { $bytes: 'a' } } }, /base64/],
    [{ 'users/a': { n: { $reference: 'users' } } }, /path of a document/],
    [{ 'users/a': { n: { $geoPoint: [91, 0] } } }, /latitude/],
    [{ 'users/a': { n: { $vector: ['x'] } } }, /list of numbers/],
    [{ 'users/a': { n: new Map() } }, /plain data/],
    [{ 'users/a': { n: [[1]] } }, /the documents from `users\/a` on were refused: .*array/i],
    [{ $databases: { '(default)': {} } }, /stand beside/],
    [() => { throw new Error('mine'); }, /its function failed: mine/],
    [(/** @type {any} */ admin) => admin.write(5), /what was given to `write`/],
  ];
  for (const [seed, message] of cases) {
    await assert.rejects(start({ config: false, cwd, seed }), { code: 'FIRELET_BAD_SEED', message }, String(message));
  }
});
