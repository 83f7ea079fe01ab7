'use strict';

/** The server SDK over gRPC: firebase-admin with its own version of it, and the newest on its own. */

const assert = require('node:assert/strict');
const { after, describe, test } = require('node:test');

const { fileSuite } = require('../helpers/suite.js');

const file = fileSuite({ project: 'demo-server' });

/** gRPC's numbers for the codes these tests expect. */
const INVALID_ARGUMENT = 3;
const NOT_FOUND = 5;
const ALREADY_EXISTS = 6;
const FAILED_PRECONDITION = 9;

/**
 * @typedef {{ db: any, sdk: any, close: () => Promise<void> }} Client
 */

/** @type {{ [name: string]: () => Client }} */
const CLIENTS = {
  'firebase-admin': () => {
    const { deleteApp, initializeApp } = require('firebase-admin/app');
    const sdk = require('firebase-admin/firestore');
    file.suite.applyEnv();
    const app = initializeApp({ projectId: 'demo-server-admin' }, 'server-test');
    const db = sdk.getFirestore(app);
    return { db, sdk, close: () => db.terminate().then(() => deleteApp(app)) };
  },
  '@google-cloud/firestore': () => {
    const sdk = require('@google-cloud/firestore');
    file.suite.applyEnv();
    const db = new sdk.Firestore({ projectId: 'demo-server-newest' });
    return { db, sdk, close: () => db.terminate() };
  },
};

/**
 * @param {Promise<unknown>} promise
 * @param {number} code
 * @param {RegExp} [message]
 */
async function fails(promise, code, message) {
  await assert.rejects(promise, (/** @type {any} */ error) => {
    assert.equal(error.code, code, error.message);
    if (message) assert.match(error.message, message);
    return true;
  });
}

for (const [name, make] of Object.entries(CLIENTS)) {
  describe(name, () => {
    /** @type {Client | undefined} */
    let made;
    const client = () => (made ??= make());
    after(() => made?.close());
    let count = 0;
    /** A collection that no other test has. */
    const collection = () => client().db.collection(`c${count++}`);
    /** @param {any} query */
    const ids = async (query) => (await query.get()).docs.map((/** @type {any} */ document) => document.id);

    test('every type of value comes back as it went', async () => {
      const { db, sdk } = client();
      const document = collection().doc('all');
      const data = {
        nothing: null,
        yes: true,
        whole: Number.MAX_SAFE_INTEGER,
        negative: -7,
        half: 0.5,
        infinite: -Infinity,
        text: 'h\u00e9llo \u{1f600}',
        bytes: Buffer.from([0, 255, 128]),
        when: new sdk.Timestamp(1_700_000_000, 123_456_000),
        where: new sdk.GeoPoint(-89.5, 179.25),
        list: [1, 'two', { three: [] }],
        map: { 'a.b': { c: null } },
        vector: sdk.FieldValue.vector([1, -0.5, 0]),
        reference: db.doc('other/thing'),
      };
      const written = await document.set(data);
      const read = await document.get();
      assert.ok(read.exists);
      assert.ok(read.createTime.isEqual(written.writeTime));
      assert.ok(read.updateTime.isEqual(written.writeTime));
      const back = read.data();
      assert.ok(back.when.isEqual(data.when));
      assert.ok(back.where.isEqual(data.where));
      assert.ok(back.reference.isEqual(data.reference));
      assert.deepEqual(back.vector.toArray(), [1, -0.5, 0]);
      for (const special of ['when', 'where', 'reference', 'vector']) {
        delete back[special];
        delete /** @type {any} */ (data)[special];
      }
      assert.deepEqual(back, data);
      const nan = await collection().add({ value: NaN });
      assert.ok(Number.isNaN((await nan.get()).get('value')));
    });

    test('create, set, update and delete, each with its precondition', async () => {
      const { sdk } = client();
      const { FieldValue } = sdk;
      const document = collection().doc('one');
      assert.equal((await document.get()).exists, false);
      await fails(document.update({ a: 1 }), NOT_FOUND);
      await document.create({ a: 1, b: { c: 2, d: 3 } });
      await fails(document.create({ a: 2 }), ALREADY_EXISTS);
      await document.update({ 'b.c': 20, e: FieldValue.serverTimestamp() });
      const updated = await document.get();
      assert.deepEqual([updated.get('a'), updated.get('b')], [1, { c: 20, d: 3 }]);
      const age = updated.updateTime.toMillis() - updated.get('e').toMillis();
      assert.ok(age >= 0 && age < 1_000, `the server's time is ${age} ms before the commit`);
      assert.equal(updated.get('e').nanoseconds % 1_000_000, 0, 'it comes in whole milliseconds');
      await document.set({ b: { d: FieldValue.delete() }, f: true }, { merge: true });
      assert.deepEqual((await document.get()).get('b'), { c: 20 });
      await fails(document.update({ a: 3 }, { lastUpdateTime: updated.updateTime }), FAILED_PRECONDITION);
      await fails(document.delete({ lastUpdateTime: updated.updateTime }), FAILED_PRECONDITION);
      await document.delete();
      assert.equal((await document.get()).exists, false);
      await document.delete();
      await fails(document.delete({ exists: true }), NOT_FOUND);
    });

    test('field transforms add, unite and remove', async () => {
      const { FieldValue } = client().sdk;
      const document = collection().doc('counters');
      await document.set({ n: 1, half: 0.5, list: [1, 2], text: 'x' });
      await document.update({
        n: FieldValue.increment(41),
        half: FieldValue.increment(1),
        list: FieldValue.arrayUnion(2, 3),
        text: FieldValue.increment(5),
        fresh: FieldValue.arrayUnion('a'),
      });
      await document.update({ list: FieldValue.arrayRemove(1) });
      assert.deepEqual((await document.get()).data(), { n: 42, half: 1.5, list: [2, 3], text: 5, fresh: ['a'] });
    });

    test('queries filter, order, page and project', async () => {
      const { db, sdk } = client();
      const { FieldPath, Filter } = sdk;
      const cities = collection();
      const batch = db.batch();
      const rows = {
        bern: { country: 'CH', people: 134, tags: ['old', 'capital'], area: { km: 51 } },
        geneva: { country: 'CH', people: 204, tags: ['lake'], area: { km: 16 } },
        lyon: { country: 'FR', people: 522, tags: ['old'], area: { km: 48 } },
        paris: { country: 'FR', people: 2103, tags: ['capital'], area: { km: 105 } },
        rome: { country: 'IT', people: 2748, tags: ['old', 'capital'] },
      };
      for (const [id, row] of Object.entries(rows)) batch.set(cities.doc(id), row);
      await batch.commit();
      assert.deepEqual(await ids(cities), ['bern', 'geneva', 'lyon', 'paris', 'rome']);
      assert.deepEqual(await ids(cities.where('country', '==', 'CH')), ['bern', 'geneva']);
      assert.deepEqual(await ids(cities.where('people', '>', 204).orderBy('people', 'desc')), ['rome', 'paris', 'lyon']);
      assert.deepEqual(await ids(cities.where('country', '!=', 'FR')), ['bern', 'geneva', 'rome']);
      assert.deepEqual(await ids(cities.where('country', 'in', ['IT', 'CH'])), ['bern', 'geneva', 'rome']);
      assert.deepEqual(await ids(cities.where('country', 'not-in', ['IT', 'CH'])), ['lyon', 'paris']);
      assert.deepEqual(await ids(cities.where('tags', 'array-contains', 'capital')), ['bern', 'paris', 'rome']);
      assert.deepEqual(await ids(cities.where('tags', 'array-contains-any', ['lake', 'old'])), ['bern', 'geneva', 'lyon', 'rome']);
      assert.deepEqual(await ids(cities.where('area.km', '<', 50)), ['geneva', 'lyon']);
      assert.deepEqual(await ids(cities.orderBy('area.km')), ['geneva', 'lyon', 'bern', 'paris']);
      assert.deepEqual(await ids(cities.where(FieldPath.documentId(), '>=', 'lyon')), ['lyon', 'paris', 'rome']);
      const either = Filter.or(Filter.where('people', '<', 150), Filter.and(Filter.where('country', '==', 'FR'), Filter.where('people', '>', 1000)));
      assert.deepEqual(await ids(cities.where(either)), ['bern', 'paris']);
      assert.deepEqual(await ids(cities.orderBy('people').limit(2).offset(1)), ['geneva', 'lyon']);
      assert.deepEqual(await ids(cities.orderBy('people').limitToLast(2)), ['paris', 'rome']);
      const lyon = await cities.doc('lyon').get();
      assert.deepEqual(await ids(cities.orderBy('people').startAfter(lyon)), ['paris', 'rome']);
      assert.deepEqual(await ids(cities.orderBy('people').startAt(204).endBefore(2103)), ['geneva', 'lyon']);
      const projected = await cities.where('country', '==', 'IT').select('people').get();
      assert.deepEqual(projected.docs[0].data(), { people: 2748 });
      await fails(cities.where('people', 'in', Array.from({ length: 31 }, (_, index) => index)).get(), INVALID_ARGUMENT);
    });

    test('a collection group finds collections of one name everywhere', async () => {
      const { db } = client();
      const root = collection();
      const group = `group${count++}`;
      await root.doc('a').collection(group).doc('1').set({ n: 1 });
      await root.doc('b').collection('deep').doc('x').collection(group).doc('2').set({ n: 2 });
      await db.collection(group).doc('3').set({ n: 3 });
      const found = await db.collectionGroup(group).orderBy('n').get();
      assert.deepEqual(found.docs.map((/** @type {any} */ document) => document.get('n')), [1, 2, 3]);
      const listed = await root.doc('a').listCollections();
      assert.deepEqual(listed.map((/** @type {any} */ each) => each.id), [group]);
      // `b` has no document of its own, only descendants.
      const documents = await root.listDocuments();
      assert.deepEqual(documents.map((/** @type {any} */ each) => each.id), ['a', 'b']);
    });

    test('aggregations count, sum and average', async () => {
      const { AggregateField } = client().sdk;
      const numbers = collection();
      for (const n of [1, 2, 3.5]) await numbers.add({ n });
      await numbers.add({ n: 'text does not count' });
      const answer = await numbers
        .aggregate({ all: AggregateField.count(), total: AggregateField.sum('n'), mean: AggregateField.average('n') })
        .get();
      assert.deepEqual({ ...answer.data() }, { all: 4, total: 6.5, mean: 6.5 / 3 });
      assert.equal((await numbers.where('n', '>', 1).count().get()).data().count, 2);
      const empty = await collection().aggregate({ mean: AggregateField.average('n') }).get();
      assert.equal(empty.data().mean, null);
    });

    test('a batch is all or nothing', async () => {
      const { db } = client();
      const documents = collection();
      await documents.doc('there').set({ n: 1 });
      const bad = db.batch();
      bad.set(documents.doc('new'), { n: 2 });
      bad.create(documents.doc('there'), { n: 3 });
      await fails(bad.commit(), ALREADY_EXISTS);
      assert.deepEqual(await ids(documents), ['there']);
      const good = db.batch();
      good.set(documents.doc('new'), { n: 2 });
      good.update(documents.doc('there'), { n: 3 });
      good.delete(documents.doc('gone'));
      const results = await good.commit();
      assert.equal(results.length, 3);
      const all = await db.getAll(documents.doc('new'), documents.doc('there'), documents.doc('gone'));
      assert.deepEqual(all.map((/** @type {any} */ each) => each.data()), [{ n: 2 }, { n: 3 }, undefined]);
      const writer = db.bulkWriter();
      for (let n = 0; n < 50; n++) writer.set(documents.doc(`bulk${n}`), { n });
      await writer.close();
      assert.equal((await documents.count().get()).data().count, 52);
    });

    test('a transaction reads, writes and gives a value back', async () => {
      const { db } = client();
      const accounts = collection();
      await accounts.doc('from').set({ money: 10 });
      await accounts.doc('to').set({ money: 0 });
      const left = await db.runTransaction(async (/** @type {any} */ transaction) => {
        const [from, to] = await transaction.getAll(accounts.doc('from'), accounts.doc('to'));
        transaction.update(from.ref, { money: from.get('money') - 3 });
        transaction.update(to.ref, { money: to.get('money') + 3 });
        return from.get('money') - 3;
      });
      assert.equal(left, 7);
      assert.deepEqual((await accounts.doc('to').get()).data(), { money: 3 });
      const broken = db.runTransaction(async (/** @type {any} */ transaction) => {
        await transaction.get(accounts.doc('from'));
        transaction.update(accounts.doc('from'), { money: 1_000 });
        throw new Error('changed my mind');
      });
      await assert.rejects(broken, /changed my mind/);
      assert.deepEqual((await accounts.doc('from').get()).data(), { money: 7 });
      const total = await db.runTransaction(
        async (/** @type {any} */ transaction) => (await transaction.get(accounts.orderBy('money'))).size,
        { readOnly: true },
      );
      assert.equal(total, 2);
    });

    test('a listener hears what is there and what changes', async () => {
      const documents = collection();
      await documents.doc('a').set({ n: 1 });
      /** @type {string[]} */
      const heard = [];
      /** @type {(() => void)[]} */
      const waiting = [];
      const stop = documents.orderBy('n').onSnapshot((/** @type {any} */ snapshot) => {
        for (const change of snapshot.docChanges()) heard.push(`${change.type} ${change.doc.id} ${change.doc.get('n')}`);
        waiting.splice(0).forEach((wake) => wake());
      });
      const until = async (/** @type {number} */ length) => {
        while (heard.length < length) await new Promise((resolve) => waiting.push(() => resolve(undefined)));
      };
      await until(1);
      await documents.doc('b').set({ n: 2 });
      await until(2);
      await documents.doc('a').update({ n: 3 });
      await until(3);
      await documents.doc('b').delete();
      await until(4);
      stop();
      assert.deepEqual(heard, ['added a 1', 'added b 2', 'modified a 3', 'removed b 2']);
    });

    test('named databases keep apart', async () => {
      client();
      const { Firestore } = require('@google-cloud/firestore');
      const projectId = `demo-named-${name.length}`;
      const [one, two] = ['(default)', 'second'].map((databaseId) => new Firestore({ projectId, databaseId }));
      await one.doc('c/d').set({ from: 'one' });
      assert.equal((await two.doc('c/d').get()).exists, false);
      await two.doc('c/d').set({ from: 'two' });
      assert.deepEqual((await one.doc('c/d').get()).data(), { from: 'one' });
      await Promise.all([one.terminate(), two.terminate()]);
    });
  });
}
