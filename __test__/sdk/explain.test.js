'use strict';

/** Queries explained: by the server SDK over gRPC, and over REST. */

const assert = require('node:assert/strict');
const { after, describe, test } = require('node:test');

const sdk = require('@google-cloud/firestore');

const { fileSuite, rest } = require('../helpers/suite.js');

const file = fileSuite({ project: 'demo-explain' });

/** More documents than a query matches one by one before it asks for indexes. */
const DOCUMENTS = 2_100;

/** How long the indexes may take. */
const PATIENCE_MS = 20_000;

const NAMES = [{ query_scope: 'Collection', properties: '(__name__ ASC)' }];

/**
 * Everything a stream brings.
 *
 * @param {NodeJS.ReadableStream} stream
 * @returns {Promise<any[]>}
 */
async function all(stream) {
  const items = [];
  for await (const item of stream) items.push(item);
  return items;
}

describe('the server SDK', () => {
  /** @type {sdk.Firestore | undefined} */
  let made;
  const client = () => {
    file.suite.applyEnv();
    return (made ??= new sdk.Firestore({ projectId: 'demo-explain-sdk' }));
  };
  after(() => made?.terminate());

  /** A collection of its own with three documents. */
  const three = async () => {
    const collection = client().collection(`c${Math.random().toString(36).slice(2)}`);
    for (const [id, n] of [['a', 1], ['b', 2], ['c', 1]]) await collection.doc(String(id)).set({ n });
    return collection;
  };

  test('a plan alone executes nothing', async () => {
    const query = (await three()).where('n', '==', 1);
    for (const explain of [query.explain(), query.explain({ analyze: false }), query.count().explain()]) {
      const { metrics, snapshot } = await explain;
      assert.equal(snapshot, null);
      assert.equal(metrics.executionStats, null);
      assert.deepEqual(metrics.planSummary.indexesUsed, NAMES);
    }
  });

  test('a query that is analyzed brings its result and what it took', async () => {
    const query = (await three()).where('n', '==', 1);
    const { metrics, snapshot } = await query.explain({ analyze: true });
    assert.deepEqual(snapshot?.docs.map((document) => document.id), ['a', 'c']);
    assert.deepEqual(metrics.planSummary.indexesUsed, NAMES);
    const stats = metrics.executionStats;
    assert.ok(stats);
    assert.equal(stats.resultsReturned, 2);
    assert.equal(stats.readOperations, 2);
    assert.ok(stats.executionDuration.seconds * 1e9 + stats.executionDuration.nanoseconds > 0);
    assert.deepEqual(stats.debugStats, {
      documents_scanned: '3',
      index_entries_scanned: '3',
      billing_details: { documents_billable: '2', index_entries_billable: '0', small_ops: '0', min_query_cost: '0' },
    });
  });

  test('a query without results costs one read', async () => {
    const { metrics, snapshot } = await (await three()).where('n', '==', 9).explain({ analyze: true });
    assert.equal(snapshot?.size, 0);
    assert.equal(metrics.executionStats?.resultsReturned, 0);
    assert.equal(metrics.executionStats?.readOperations, 1);
  });

  test('an aggregation that is analyzed brings its result and what it took', async () => {
    const { metrics, snapshot } = await (await three()).count().explain({ analyze: true });
    assert.equal(snapshot?.data().count, 3);
    assert.equal(metrics.executionStats?.resultsReturned, 1);
    assert.equal(metrics.executionStats?.readOperations, 1);
    assert.equal(metrics.executionStats?.debugStats.documents_scanned, '0');
  });

  test('a stream brings what is told with the last document', async () => {
    const query = (await three()).orderBy('n');
    const planned = await all(query.explainStream());
    assert.deepEqual(planned.map((item) => [item.document?.id, item.metrics?.executionStats]), [[undefined, null]]);
    const items = await all(query.explainStream({ analyze: true }));
    assert.deepEqual(items.map((item) => item.document?.id), ['a', 'c', 'b']);
    assert.deepEqual(items.map((item) => item.metrics?.executionStats?.resultsReturned), [undefined, undefined, 3]);
  });

  test('a search of neighbours tells its vectors', async () => {
    const collection = client().collection('near');
    for (const x of [1, 2, 3]) await collection.doc(`${x}`).set({ v: sdk.FieldValue.vector([x, 0]) });
    const nearest = { vectorField: 'v', queryVector: [0, 0], limit: 2, distanceMeasure: /** @type {const} */ ('EUCLIDEAN') };
    // The SDK's types lack `explain` here.
    const query = /** @type {any} */ (collection.findNearest(nearest));
    assert.equal((await query.explain({ analyze: false })).snapshot, null);
    const { metrics, snapshot } = await query.explain({ analyze: true });
    assert.deepEqual(snapshot?.docs.map((/** @type {any} */ document) => document.id), ['1', '2']);
    assert.equal(metrics.executionStats?.readOperations, 3);
    assert.equal(metrics.executionStats?.debugStats.billing_details.index_entries_billable, '3');
  });

  test('an index is told once it is there', async () => {
    const collection = client().collection('many');
    const numbers = Array.from({ length: DOCUMENTS }, (_, n) => n);
    while (numbers.length > 0) {
      const batch = client().batch();
      for (const n of numbers.splice(0, 500)) batch.set(collection.doc(`${n}`), { n, tenth: n % 10 });
      await batch.commit();
    }
    const query = collection.where('tenth', '==', 3).where('n', '==', 13);
    const expected = ['(n ASC, __name__ ASC)', '(tenth ASC, __name__ ASC)'];
    const began = performance.now();
    for (;;) {
      const { metrics, snapshot } = await query.explain({ analyze: true });
      assert.deepEqual(snapshot?.docs.map((document) => document.id), ['13']);
      const used = metrics.planSummary.indexesUsed.map((index) => index.properties);
      if (used.length === 2) {
        assert.deepEqual(used.sort(), expected);
        assert.equal(metrics.executionStats?.debugStats.documents_scanned, '1');
        assert.ok(Number(metrics.executionStats?.debugStats.index_entries_scanned) < 20);
        break;
      }
      assert.deepEqual(used, ['(__name__ ASC)']);
      assert.ok(performance.now() - began < PATIENCE_MS, 'the indexes do not come');
    }
  });
});

test('REST has the members of the protocol', async () => {
  await rest(file.suite, 'PATCH', '/c/a', { fields: { n: { integerValue: '1' } } });
  const query = { from: [{ collectionId: 'c' }] };
  const explained = { explainMetrics: { planSummary: { indexesUsed: NAMES } } };
  const plan = { structuredQuery: query, explainOptions: {} };
  assert.deepEqual(await rest(file.suite, 'POST', ':runQuery', plan), { status: 200, body: [explained] });
  const counted = { structuredQuery: query, aggregations: [{ alias: 'n', count: {} }] };
  const analyze = { structuredAggregationQuery: counted, explainOptions: { analyze: true } };
  const { body } = await rest(file.suite, 'POST', ':runAggregationQuery', analyze);
  assert.deepEqual(body[0].result, { aggregateFields: { n: { integerValue: '1' } } });
  const { executionDuration, ...stats } = body[0].explainMetrics.executionStats;
  assert.match(executionDuration, /^0(\.\d+)?s$/);
  assert.deepEqual(stats, {
    resultsReturned: '1',
    readOperations: '1',
    debugStats: {
      documents_scanned: '0',
      index_entries_scanned: '1',
      billing_details: { documents_billable: '0', index_entries_billable: '1', small_ops: '0', min_query_cost: '0' },
    },
  });
});
