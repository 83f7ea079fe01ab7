'use strict';

/**
 * The web SDK's builds for Node: the full one over gRPC, with listeners, and the lite one over REST.
 * What both can do is asked of both.
 */

const assert = require('node:assert/strict');
const { after, describe, test } = require('node:test');

const { deleteApp, initializeApp } = require('firebase/app');
const full = require('firebase/firestore');
const lite = require('firebase/firestore/lite');

const { fileSuite } = require('../helpers/suite.js');

const file = fileSuite({ project: 'demo-web' });

// The SDKs print every refused write, and these tests ask for some.
full.setLogLevel('silent');
lite.setLogLevel('silent');

/**
 * @param {Promise<unknown>} promise
 * @param {string} code
 */
async function fails(promise, code) {
  await assert.rejects(promise, (/** @type {any} */ error) => {
    assert.equal(error.code, code, error.message);
    return true;
  });
}

/**
 * One app with its database, closed when the tests of its `describe` are done.
 *
 * @param {any} sdk
 * @param {string} name
 */
function database(sdk, name) {
  /** @type {{ app: any, db: any } | undefined} */
  let made;
  after(async () => {
    if (made === undefined) return;
    await sdk.terminate(made.db);
    await deleteApp(made.app);
  });
  return () => {
    if (made === undefined) {
      const app = initializeApp({ projectId: `demo-web-${name}` }, `web-${name}`);
      const db = sdk.getFirestore(app);
      sdk.connectFirestoreEmulator(db, file.suite.firestore.host, file.suite.firestore.port);
      made = { app, db };
    }
    return made.db;
  };
}

for (const [name, sdk] of /** @type {[string, any][]} */ ([['full', full], ['lite', lite]])) {
  describe(`firebase/firestore${name === 'lite' ? '/lite' : ''}`, () => {
    const db = database(sdk, name);
    let count = 0;
    const collection = () => sdk.collection(db(), `c${count++}`);
    const ids = async (/** @type {any} */ query) =>
      (await sdk.getDocs(query)).docs.map((/** @type {any} */ document) => document.id);

    test('every type of value comes back as it went', async () => {
      const document = sdk.doc(collection(), 'all');
      const data = {
        nothing: null,
        yes: true,
        whole: 42,
        half: 0.5,
        infinite: Infinity,
        text: 'h\u00e9llo \u{1f600}',
        list: [1, 'two', { three: [] }],
        map: { 'a.b': { c: null } },
      };
      const special = {
        bytes: sdk.Bytes.fromUint8Array(new Uint8Array([0, 255, 128])),
        when: new sdk.Timestamp(1_700_000_000, 123_456_000),
        where: new sdk.GeoPoint(-89.5, 179.25),
        vector: sdk.vector([1, -0.5, 0]),
      };
      const reference = sdk.doc(db(), 'other/thing');
      await sdk.setDoc(document, { ...data, ...special, reference });
      const back = (await sdk.getDoc(document)).data();
      for (const [key, value] of Object.entries(special)) assert.ok(back[key].isEqual(value), key);
      assert.equal(back.reference.path, reference.path);
      for (const key of ['reference', ...Object.keys(special)]) delete back[key];
      assert.deepEqual(back, data);
    });

    test('create, read, update and delete', async () => {
      const document = sdk.doc(collection(), 'one');
      assert.equal((await sdk.getDoc(document)).exists(), false);
      await fails(sdk.updateDoc(document, { a: 1 }), 'not-found');
      await sdk.setDoc(document, { a: 1, b: { c: 2, d: 3 } });
      await sdk.updateDoc(document, { 'b.c': 20, when: sdk.serverTimestamp() });
      const updated = await sdk.getDoc(document);
      assert.deepEqual([updated.get('a'), updated.get('b')], [1, { c: 20, d: 3 }]);
      assert.ok(Math.abs(updated.get('when').toMillis() - Date.now()) < 60_000);
      await sdk.setDoc(document, { b: { d: sdk.deleteField() }, n: sdk.increment(5) }, { merge: true });
      await sdk.updateDoc(document, { list: sdk.arrayUnion(1, 2), when: sdk.deleteField() });
      await sdk.updateDoc(document, { list: sdk.arrayRemove(1) });
      assert.deepEqual((await sdk.getDoc(document)).data(), { a: 1, b: { c: 20 }, n: 5, list: [2] });
      await sdk.deleteDoc(document);
      assert.equal((await sdk.getDoc(document)).exists(), false);
      const added = await sdk.addDoc(collection(), { a: 1 });
      assert.match(added.id, /^[A-Za-z0-9]{20}$/);
    });

    test('queries filter, order and page', async () => {
      const { where, orderBy, limit, query, startAfter, endBefore, or, and, documentId } = sdk;
      const cities = collection();
      const batch = sdk.writeBatch(db());
      const rows = {
        bern: { country: 'CH', people: 134, tags: ['old', 'capital'] },
        geneva: { country: 'CH', people: 204, tags: ['lake'] },
        lyon: { country: 'FR', people: 522, tags: ['old'] },
        paris: { country: 'FR', people: 2103, tags: ['capital'] },
      };
      for (const [id, row] of Object.entries(rows)) batch.set(sdk.doc(cities, id), row);
      await batch.commit();
      assert.deepEqual(await ids(cities), ['bern', 'geneva', 'lyon', 'paris']);
      assert.deepEqual(await ids(query(cities, where('people', '>', 150), orderBy('people', 'desc'))), ['paris', 'lyon', 'geneva']);
      assert.deepEqual(await ids(query(cities, where('country', 'in', ['FR', 'IT']))), ['lyon', 'paris']);
      assert.deepEqual(await ids(query(cities, where('country', '!=', 'FR'))), ['bern', 'geneva']);
      assert.deepEqual(await ids(query(cities, where('tags', 'array-contains-any', ['lake', 'capital']))), ['bern', 'geneva', 'paris']);
      assert.deepEqual(await ids(query(cities, where(documentId(), '>', 'geneva'))), ['lyon', 'paris']);
      assert.deepEqual(await ids(query(cities, or(where('people', '<', 150), and(where('country', '==', 'FR'), where('people', '>', 1000))))), ['bern', 'paris']);
      assert.deepEqual(await ids(query(cities, orderBy('people'), limit(2))), ['bern', 'geneva']);
      assert.deepEqual(await ids(query(cities, orderBy('people'), startAfter(204), endBefore(2103))), ['lyon']);
      const group = sdk.collectionGroup(db(), 'deep');
      await sdk.setDoc(sdk.doc(cities, 'bern', 'deep', 'x'), { n: 1 });
      assert.deepEqual(await ids(group), ['x']);
    });

    test('aggregations count, sum and average', async () => {
      const numbers = collection();
      for (const n of [1, 2, 3.5]) await sdk.addDoc(numbers, { n });
      const answer = name === 'lite'
        ? await sdk.getAggregate(numbers, { all: sdk.count(), total: sdk.sum('n'), mean: sdk.average('n') })
        : await sdk.getAggregateFromServer(numbers, { all: sdk.count(), total: sdk.sum('n'), mean: sdk.average('n') });
      assert.deepEqual(answer.data(), { all: 3, total: 6.5, mean: 6.5 / 3 });
    });

    test('a batch is all or nothing', async () => {
      const documents = collection();
      const bad = sdk.writeBatch(db());
      bad.set(sdk.doc(documents, 'new'), { n: 1 });
      bad.update(sdk.doc(documents, 'missing'), { n: 2 });
      await fails(bad.commit(), 'not-found');
      assert.deepEqual(await ids(documents), []);
      const good = sdk.writeBatch(db());
      good.set(sdk.doc(documents, 'a'), { n: 1 }).set(sdk.doc(documents, 'b'), { n: 2 }).delete(sdk.doc(documents, 'c'));
      await good.commit();
      assert.deepEqual(await ids(documents), ['a', 'b']);
    });

    test('a transaction reads, writes and gives a value back', async () => {
      const document = sdk.doc(collection(), 'counter');
      await sdk.setDoc(document, { n: 1 });
      const next = await sdk.runTransaction(db(), async (/** @type {any} */ transaction) => {
        const n = (await transaction.get(document)).get('n') + 1;
        transaction.update(document, { n });
        return n;
      });
      assert.equal(next, 2);
      assert.deepEqual((await sdk.getDoc(document)).data(), { n: 2 });
      const broken = sdk.runTransaction(db(), async (/** @type {any} */ transaction) => {
        transaction.set(document, { n: 100 });
        throw new Error('changed my mind');
      });
      await assert.rejects(broken, /changed my mind/);
      assert.deepEqual((await sdk.getDoc(document)).data(), { n: 2 });
    });
  });
}

describe('listeners of firebase/firestore', () => {
  const db = database(full, 'listen');

  /**
   * Listens, and gives what was heard as soon as it is `length` entries long.
   *
   * @param {any} target
   * @param {(snapshot: any) => string} show
   */
  function listen(target, show) {
    /** @type {string[]} */
    const heard = [];
    /** @type {(() => void)[]} */
    const waiting = [];
    const stop = full.onSnapshot(target, { includeMetadataChanges: true }, (/** @type {any} */ snapshot) => {
      // Only what the server has said: local guesses come first and depend on timing.
      if (snapshot.metadata.hasPendingWrites || snapshot.metadata.fromCache) return;
      const shown = show(snapshot);
      if (shown !== heard.at(-1)) heard.push(shown);
      waiting.splice(0).forEach((wake) => wake());
    });
    const until = async (/** @type {number} */ length) => {
      while (heard.length < length) await new Promise((resolve) => waiting.push(() => resolve(undefined)));
      return heard;
    };
    return { stop, until };
  }

  test('a document: missing, created, changed, deleted', async () => {
    const document = full.doc(db(), 'listen/one');
    const { stop, until } = listen(document, (snapshot) => JSON.stringify(snapshot.data() ?? null));
    await until(1);
    // Written by another client, so that nothing but the server can tell this one.
    const url = `${file.suite.firestore.url}/v1/projects/demo-web-listen/databases/(default)/documents/listen/one`;
    const put = (/** @type {number} */ n) =>
      fetch(url, { method: 'PATCH', body: JSON.stringify({ fields: { n: { integerValue: n } } }) });
    await put(1);
    await until(2);
    await put(2);
    await until(3);
    await fetch(url, { method: 'DELETE' });
    assert.deepEqual(await until(4), ['null', '{"n":1}', '{"n":2}', 'null']);
    stop();
  });

  test('a query with order and limit: the window moves', async () => {
    const scores = full.collection(db(), 'scores');
    for (const n of [10, 20, 30]) await full.setDoc(full.doc(scores, `s${n}`), { n });
    const top = full.query(scores, full.orderBy('n', 'desc'), full.limit(2));
    const { stop, until } = listen(top, (snapshot) => snapshot.docs.map((/** @type {any} */ each) => each.id).join());
    await until(1);
    const url = `${file.suite.firestore.url}/v1/projects/demo-web-listen/databases/(default)/documents/scores`;
    await fetch(`${url}/s25`, { method: 'PATCH', body: '{"fields":{"n":{"integerValue":"25"}}}' });
    await until(2);
    await fetch(`${url}/s30`, { method: 'DELETE' });
    assert.deepEqual(await until(3), ['s30,s20', 's30,s25', 's25,s20']);
    stop();
  });

  test('clearing the suite is heard like any deletion', async () => {
    const document = full.doc(db(), 'listen/cleared');
    await full.setDoc(document, { n: 1 });
    const { stop, until } = listen(document, (snapshot) => String(snapshot.exists()));
    await until(1);
    await file.suite.clear({ project: 'demo-web-listen' });
    assert.deepEqual(await until(2), ['true', 'false']);
    stop();
  });

  test('a document that the listening client creates is never missing again', async () => {
    const document = full.doc(db(), 'listen/created');
    /** @type {[boolean, boolean][]} */
    const heard = [];
    const end = new Promise((resolve) => {
      const stop = full.onSnapshot(document, { includeMetadataChanges: true }, (/** @type {any} */ snapshot) => {
        const { hasPendingWrites, fromCache } = snapshot.metadata;
        if (!snapshot.exists() && !fromCache && heard.length === 0) void full.setDoc(document, { n: 1 });
        if (!fromCache || heard.length > 0) heard.push([snapshot.exists(), hasPendingWrites]);
        if (snapshot.exists() && !hasPendingWrites) resolve(stop());
      });
    });
    await end;
    assert.deepEqual(heard, [[false, false], [true, true], [true, false]]);
  });

  test('fifteen thousand documents of a collection group, filtered and ordered', async () => {
    const count = 15_000;
    const root = 'projects/demo-web-listen/databases/(default)/documents';
    for (let from = 0; from < count; from += 500) {
      const writes = Array.from({ length: 500 }, (_, at) => {
        const n = from + at;
        const fields = { n: { integerValue: count - n }, even: { booleanValue: n % 2 === 0 } };
        return { update: { name: `${root}/owners/o${n % 7}/things/t${n}`, fields } };
      });
      const url = `${file.suite.firestore.url}/v1/${root}:commit`;
      assert.equal((await fetch(url, { method: 'POST', body: JSON.stringify({ writes }) })).status, 200);
    }
    const things = full.collectionGroup(db(), 'things');
    const { docs } = await full.getDocs(full.query(things, full.where('even', '==', true), full.orderBy('n')));
    const numbers = docs.map((/** @type {any} */ document) => document.get('n'));
    assert.deepEqual(numbers, Array.from({ length: count / 2 }, (_, n) => 2 * n + 2));
  });
});
