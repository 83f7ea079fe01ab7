'use strict';

/** Plain REST, as a script without any SDK speaks it. */

const assert = require('node:assert/strict');
const { test } = require('node:test');

const { fileSuite, rest } = require('../helpers/suite.js');

const file = fileSuite({ project: 'demo-rest' });

const ROOT = 'projects/demo-rest/databases/(default)/documents';

/**
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 */
const call = (method, path, body) => rest(file.suite, method, path, body);

/**
 * @param {{ status: number, body: any }} answer
 * @param {number} http
 * @param {string} name
 * @param {RegExp} [message]
 */
function isError({ status, body }, http, name, message) {
  const { error } = Array.isArray(body) ? body[0] : body;
  assert.deepEqual([status, error.code, error.status], [http, http, name], JSON.stringify(body));
  if (message) assert.match(error.message, message);
}

/** @param {{ [name: string]: number }} values */
const integers = (values) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { integerValue: String(value) }]));

test('every type of value comes back as it went', async () => {
  const fields = {
    nothing: { nullValue: null },
    yes: { booleanValue: true },
    whole: { integerValue: '9223372036854775807' },
    half: { doubleValue: 0.5 },
    nan: { doubleValue: 'NaN' },
    text: { stringValue: 'h\u00e9llo' },
    bytes: { bytesValue: 'AP+A' },
    when: { timestampValue: '2023-11-14T22:13:20.123456Z' },
    where: { geoPointValue: { latitude: -89.5, longitude: 179.25 } },
    reference: { referenceValue: `${ROOT}/other/thing` },
    list: { arrayValue: { values: [{ integerValue: '1' }, { arrayValue: {} }] } },
    map: { mapValue: { fields: { 'a.b': { mapValue: {} } } } },
  };
  // An array directly in an array is refused; inside a map it is legal.
  fields.list.arrayValue.values[1] = /** @type {any} */ ({ mapValue: { fields: { inner: { arrayValue: {} } } } });
  const written = await call('PATCH', '/types/all', { fields });
  assert.equal(written.status, 200, JSON.stringify(written.body));
  const read = await call('GET', '/types/all');
  assert.equal(read.body.name, `${ROOT}/types/all`);
  assert.deepEqual(read.body.fields, fields);
  assert.match(read.body.createTime, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3,6})?Z$/);
  assert.equal(read.body.updateTime, read.body.createTime);
});

test('create, read, update and delete', async () => {
  const created = await call('POST', '/docs?documentId=one', { fields: integers({ a: 1, b: 2 }) });
  assert.equal(created.status, 200);
  assert.equal(created.body.name, `${ROOT}/docs/one`);
  isError(await call('POST', '/docs?documentId=one', { fields: {} }), 409, 'ALREADY_EXISTS');
  const named = await call('POST', '/docs', { fields: {} });
  assert.match(named.body.name, /\/docs\/[A-Za-z0-9]{20}$/);
  const patched = await call('PATCH', '/docs/one?updateMask.fieldPaths=a', { fields: integers({ a: 10, c: 3 }) });
  assert.deepEqual(patched.body.fields, integers({ a: 10, b: 2 }));
  assert.deepEqual((await call('GET', '/docs/one?mask.fieldPaths=b')).body.fields, integers({ b: 2 }));
  isError(await call('PATCH', '/docs/two?currentDocument.exists=true', { fields: {} }), 404, 'NOT_FOUND');
  const old = created.body.updateTime;
  isError(await call('DELETE', `/docs/one?currentDocument.updateTime=${old}`), 400, 'FAILED_PRECONDITION');
  const deleted = await call('DELETE', '/docs/one');
  assert.deepEqual([deleted.status, deleted.body], [200, {}]);
  isError(await call('GET', '/docs/one'), 404, 'NOT_FOUND', /not found/);
});

test('lists of documents and of collections', async () => {
  for (const n of [1, 2, 3]) await call('PATCH', `/list/d${n}`, { fields: integers({ n }) });
  const first = await call('GET', '/list?pageSize=2');
  assert.deepEqual(first.body.documents.map((/** @type {any} */ each) => each.name.split('/').at(-1)), ['d1', 'd2']);
  const second = await call('GET', `/list?pageSize=2&pageToken=${encodeURIComponent(first.body.nextPageToken)}`);
  assert.deepEqual(second.body.documents.map((/** @type {any} */ each) => each.name.split('/').at(-1)), ['d3']);
  assert.equal(second.body.nextPageToken, undefined);
  await call('PATCH', '/list/d1/sub/x', { fields: {} });
  assert.deepEqual((await call('POST', '/list/d1:listCollectionIds', {})).body.collectionIds, ['sub']);
  isError(await call('GET', '/list?pageSize=-1'), 400, 'INVALID_ARGUMENT', /Page size/);
});

test('queries and aggregations', async () => {
  for (const n of [1, 2, 3, 4]) await call('PATCH', `/numbers/n${n}`, { fields: integers({ n, odd: n % 2 }) });
  const where = { fieldFilter: { field: { fieldPath: 'odd' }, op: 'EQUAL', value: { integerValue: 1 } } };
  const structuredQuery = {
    from: [{ collectionId: 'numbers' }],
    where,
    orderBy: [{ field: { fieldPath: 'n' }, direction: 'DESCENDING' }],
    select: { fields: [{ fieldPath: 'n' }] },
  };
  const rows = await call('POST', ':runQuery', { structuredQuery });
  assert.deepEqual(rows.body.map((/** @type {any} */ row) => row.document.fields), [integers({ n: 3 }), integers({ n: 1 })]);
  assert.ok(rows.body.every((/** @type {any} */ row) => row.readTime !== undefined));
  const aggregated = await call('POST', ':runAggregationQuery', {
    structuredAggregationQuery: {
      structuredQuery: { from: [{ collectionId: 'numbers' }] },
      aggregations: [
        { alias: 'all', count: {} },
        { alias: 'total', sum: { field: { fieldPath: 'n' } } },
        { alias: 'mean', avg: { field: { fieldPath: 'n' } } },
      ],
    },
  });
  assert.deepEqual(aggregated.body[0].result.aggregateFields, {
    all: { integerValue: '4' },
    total: { integerValue: '10' },
    mean: { doubleValue: 2.5 },
  });
  const empty = await call('POST', ':runQuery', { structuredQuery: { from: [{ collectionId: 'nothing' }] } });
  assert.equal(empty.body.length, 1);
  assert.equal(empty.body[0].document, undefined);
});

test('commits: several writes, transforms, one failure fails all', async () => {
  const name = (/** @type {string} */ id) => `${ROOT}/commits/${id}`;
  const done = await call('POST', ':commit', {
    writes: [
      { update: { name: name('a'), fields: integers({ n: 1 }) } },
      {
        update: { name: name('b'), fields: {} },
        updateTransforms: [
          { fieldPath: 'n', increment: { integerValue: '5' } },
          { fieldPath: 'when', setToServerValue: 'REQUEST_TIME' },
        ],
      },
    ],
  });
  assert.equal(done.status, 200, JSON.stringify(done.body));
  assert.equal(done.body.writeResults.length, 2);
  const [sum, time] = done.body.writeResults[1].transformResults;
  assert.deepEqual(sum, { integerValue: '5' });
  // The server's time comes in whole milliseconds.
  assert.match(time.timestampValue, /:\d\d(\.\d{3})?Z$/);
  assert.ok(Date.parse(done.body.commitTime) - Date.parse(time.timestampValue) < 1_000);
  const failed = await call('POST', ':commit', {
    writes: [
      { update: { name: name('c'), fields: {} } },
      { update: { name: name('a'), fields: {} }, currentDocument: { exists: false } },
    ],
  });
  isError(failed, 409, 'ALREADY_EXISTS');
  isError(await call('GET', '/commits/c'), 404, 'NOT_FOUND');
  const each = await call('POST', ':batchWrite', {
    writes: [
      { update: { name: name('d'), fields: {} } },
      { update: { name: name('a'), fields: {} }, currentDocument: { exists: false } },
    ],
  });
  assert.deepEqual(each.body.status.map((/** @type {any} */ status) => status.code ?? 0), [0, 6]);
  assert.equal((await call('GET', '/commits/d')).status, 200);
});

test('a transaction from begin to commit, and one that comes too late', async () => {
  const name = `${ROOT}/transactions/t`;
  await call('PATCH', '/transactions/t', { fields: integers({ n: 1 }) });
  const begin = async () => (await call('POST', ':beginTransaction', { options: { readWrite: {} } })).body.transaction;
  const [first, second] = [await begin(), await begin()];
  for (const transaction of [first, second]) {
    const read = await call('POST', ':batchGet', { documents: [name], transaction });
    assert.deepEqual(read.body.at(-1).found.fields, integers({ n: 1 }));
  }
  const writes = [{ update: { name, fields: integers({ n: 2 }) } }];
  assert.equal((await call('POST', ':commit', { writes, transaction: first })).status, 200);
  const begun = performance.now();
  isError(await call('POST', ':commit', { writes, transaction: second }), 409, 'ABORTED');
  assert.ok(performance.now() - begun < 500, 'a conflict is decided at once');
  const third = await begin();
  assert.equal((await call('POST', ':rollback', { transaction: third })).status, 200);
  isError(await call('POST', ':commit', { writes: [], transaction: 'AAAA' }), 400, 'INVALID_ARGUMENT');
});

test('other databases and other projects keep apart', async () => {
  const read = async (/** @type {string} */ path) => (await fetch(`${file.suite.firestore.url}/v1/projects/${path}/documents/c/d`)).status;
  await fetch(`${file.suite.firestore.url}/v1/projects/demo-a/databases/two/documents/c/d`, { method: 'PATCH', body: '{}' });
  assert.equal(await read('demo-a/databases/two'), 200);
  assert.equal(await read('demo-a/databases/(default)'), 404);
  assert.equal(await read('demo-b/databases/two'), 404);
});

test('the route that clears a database', async () => {
  await call('PATCH', '/gone/soon', { fields: {} });
  const url = `${file.suite.firestore.url}/emulator/v1/${ROOT}`;
  const cleared = await fetch(url, { method: 'DELETE' });
  assert.deepEqual([cleared.status, await cleared.json()], [200, {}]);
  isError(await call('GET', '/gone/soon'), 404, 'NOT_FOUND');
});
