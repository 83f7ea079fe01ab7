'use strict';

/**
 * Query pipelines with the server SDK and with the web SDK: the path that people take first, and what the
 * engine's own tests cannot see.
 */

const assert = require('node:assert/strict');
const { after, before, describe, test } = require('node:test');

const { Firestore, Pipelines } = require('@google-cloud/firestore');
const { deleteApp, initializeApp } = require('firebase/app');
const full = require('firebase/firestore');
const web = require('firebase/firestore/pipelines');

const { fileSuite } = require('../helpers/suite.js');

const file = fileSuite({ project: 'demo-pipelines' });

const BOOKS = {
  dune: { title: 'Dune', year: 1965, rating: 4.6, tags: ['desert', 'epic'], awards: { hugo: true } },
  emma: { title: 'Emma', year: 1815, rating: 4.1, tags: ['classic'] },
  ring: { title: 'The Ring', year: 1954, rating: 4.7, tags: ['epic', 'magic'], awards: { hugo: false } },
  war: { title: 'War', year: 1869, rating: null, tags: [] },
};

describe('server SDK', () => {
  /** @type {any} */
  let db;
  const { and, average, constant, countAll, divide, equal, field, greaterThan, variable } =
    /** @type {any} */ (Pipelines);

  before(async () => {
    const { host, port } = file.suite.firestore;
    db = new Firestore({ projectId: 'demo-pipelines', host: `${host}:${port}`, ssl: false, customHeaders: { Authorization: 'Bearer owner' } });
    const batch = db.batch();
    for (const [id, book] of Object.entries(BOOKS)) batch.set(db.doc(`books/${id}`), book);
    batch.set(db.doc('books/dune/reviews/one'), { stars: 5 });
    batch.set(db.doc('books/dune/reviews/two'), { stars: 3 });
    await batch.commit();
  });
  after(() => db.terminate());

  /** @param {any} pipeline */
  const rows = async (pipeline) =>
    (await pipeline.execute()).results.map((/** @type {any} */ row) => row.data());
  /** @param {any} pipeline */
  const ids = async (pipeline) =>
    (await pipeline.execute()).results.map((/** @type {any} */ row) => row.id);

  test('where, sort, limit and select, end to end', async () => {
    const books = db.pipeline().collection('books');
    const found = books
      .where(and(greaterThan('year', 1900), field('tags').arrayContains('epic')))
      .sort(field('rating').descending())
      .limit(1)
      .select('title', field('year').subtract(1900).as('since'), 'awards.hugo');
    assert.deepEqual(await rows(found), [{ title: 'The Ring', since: 54, awards: { hugo: false } }]);
    assert.deepEqual(await ids(books.sort(field('year').ascending()).offset(1).limit(2)), ['war', 'ring']);
  });

  test('documents keep their names and times, other rows have none', async () => {
    const { results, executionTime } = await db.pipeline().documents(['books/emma', 'books/none']).execute();
    assert.ok(executionTime.toMillis() > 0);
    assert.deepEqual(results.map((/** @type {any} */ row) => row.ref.path), ['books/emma']);
    assert.ok(results[0].createTime.isEqual(results[0].updateTime));
    const grouped = await db.pipeline().collection('books')
      .aggregate({ accumulators: [countAll().as('n'), average('rating').as('mean')], groups: [] })
      .execute();
    assert.equal(grouped.results[0].ref, undefined);
    assert.equal(grouped.results[0].createTime, undefined);
    assert.equal(grouped.results[0].data().n, 4);
    assert.equal(grouped.results[0].data().mean, (4.6 + 4.1 + 4.7) / 3);
  });

  test('errors fail the request, unless they are caught', async () => {
    const one = db.pipeline().collection('books').limit(1);
    const broken = divide(constant(1), constant(0));
    await assert.rejects(one.select(broken.as('x')).execute(), (/** @type {any} */ error) => error.code === 3);
    assert.deepEqual(await rows(one.select(broken.ifError(constant('caught')).as('x'))), [{ x: 'caught' }]);
    await assert.rejects(one.rawStage('teleport', []).execute(), (/** @type {any} */ error) => {
      assert.equal(error.code, 12);
      assert.match(error.message, /'teleport'/);
      return true;
    });
  });

  test('pipelines inside of pipelines', async () => {
    const reviews = db.pipeline().collectionGroup('reviews')
      .where(equal(field('__name__').parent().documentId(), variable('book')))
      .aggregate(average('stars').as('stars'));
    const found = db.pipeline().collection('books')
      .where(equal('title', 'Dune'))
      .define(field('__name__').documentId().as('book'))
      .select('title', reviews.toScalarExpression().as('stars'));
    assert.deepEqual(await rows(found), [{ title: 'Dune', stars: 4 }]);
  });

  test('a transaction depends on what its pipeline has read', async () => {
    const epic = db.pipeline().collection('books').where(field('tags').arrayContains('epic'));
    let attempts = 0;
    const count = await db.runTransaction(async (/** @type {any} */ transaction) => {
      attempts += 1;
      const { results } = await transaction.execute(epic);
      if (attempts === 1) await db.doc('books/saga').set({ tags: ['epic'] });
      transaction.set(db.doc('counts/epic'), { n: results.length });
      return results.length;
    });
    assert.deepEqual([attempts, count], [2, 3]);
    await db.doc('books/saga').delete();
  });

  test('many rows come in many answers, complete and in order', async () => {
    const writer = db.bulkWriter();
    for (let n = 0; n < 1500; n += 1) writer.set(db.doc(`many/${String(n).padStart(4, '0')}`), { n });
    await writer.close();
    const found = await rows(db.pipeline().collection('many').sort(field('n').descending()));
    assert.deepEqual(found.map((/** @type {any} */ row) => row.n), Array.from({ length: 1500 }, (_, n) => 1499 - n));
  });

  test('over REST', async () => {
    const { host, port } = file.suite.firestore;
    const url = `http://${host}:${port}/v1/projects/demo-pipelines/databases/(default)/documents:executePipeline`;
    const stages = [
      { name: 'collection', args: [{ referenceValue: '/books' }] },
      { name: 'where', args: [{ functionValue: { name: 'equal', args: [{ fieldReferenceValue: 'title' }, { stringValue: 'Emma' }] } }] },
      { name: 'select', args: [{ mapValue: { fields: { year: { fieldReferenceValue: 'year' } } } }] },
    ];
    const response = await fetch(url, { method: 'POST', body: JSON.stringify({ structuredPipeline: { pipeline: { stages } } }) });
    const answer = /** @type {any} */ (await response.json());
    assert.deepEqual(answer[0].results, [{ fields: { year: { integerValue: '1815' } } }]);
  });
});

describe('web SDK', () => {
  /** @type {any} */
  let app;
  /** @type {any} */
  let db;
  before(() => {
    app = initializeApp({ projectId: 'demo-pipelines' }, 'pipelines');
    db = full.getFirestore(app);
    const { host, port } = file.suite.firestore;
    full.connectFirestoreEmulator(db, host, port);
  });
  after(async () => {
    await full.terminate(db);
    await deleteApp(app);
  });

  test('where, sort, limit and select', async () => {
    const { execute, field } = /** @type {any} */ (web);
    const pipeline = db.pipeline().collection('books')
      .where(field('year').lessThan(1900))
      .sort(field('year').descending())
      .limit(1)
      .select('title', field('title').charLength().as('length'));
    const { results } = await execute(pipeline);
    assert.deepEqual(results.map((/** @type {any} */ row) => row.data()), [{ title: 'War', length: 3 }]);
  });
});
