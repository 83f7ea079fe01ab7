'use strict';

/** Documents whose time has come by the suite's clock, as a real client sees them go. */

const assert = require('node:assert/strict');
const { EventEmitter, once } = require('node:events');
const { after, test } = require('node:test');

const { Firestore, Timestamp } = require('@google-cloud/firestore');

const { adminClient } = require('../helpers/admin-client.js');
const { firebaseProject } = require('../helpers/firebase-project.js');
const { suiteFor } = require('../helpers/suite.js');

const HOUR = 3_600_000;

/** @type {import('@google-cloud/firestore').Firestore[]} */
const clients = [];
after(() => Promise.all(clients.map((client) => client.terminate())));

/**
 * @param {import('../../index.js').Suite} suite
 * @param {string} [databaseId]
 */
function client(suite, databaseId) {
  const { host, port } = suite.firestore;
  const made = new Firestore({ projectId: suite.project, host, port, ssl: false, databaseId });
  clients.push(made);
  return made;
}

/**
 * A suite whose collection group `sessions` ends by the field `until`.
 *
 * @param {import('node:test').TestContext} t
 */
function expiring(t) {
  const cwd = firebaseProject(t, {
    'firebase.json': { firestore: { indexes: 'firestore.indexes.json' }, emulators: { firestore: {} } },
    'firestore.indexes.json': { fieldOverrides: [{ collectionGroup: 'sessions', fieldPath: 'until', ttl: true, indexes: [] }] },
  });
  return suiteFor(t, { project: 'demo-ttl', config: 'firebase.json', cwd });
}

test('documents go when the clock passes their time, and listeners see it', async (t) => {
  const suite = await expiring(t);
  const db = client(suite);
  const sessions = db.collection('sessions');
  const at = (/** @type {number} */ ms) => Timestamp.fromMillis(suite.clock.now() + ms);
  await sessions.doc('soon').set({ until: at(HOUR) });
  await sessions.doc('later').set({ until: at(3 * HOUR) });
  await sessions.doc('text').set({ until: '2001-01-01' });
  await sessions.doc('list').set({ until: [Timestamp.fromMillis(0)] });
  await sessions.doc('null').set({ until: null });
  await sessions.doc('none').set({ other: at(-HOUR) });
  await db.doc('users/a/sessions/nested').set({ until: at(HOUR) });
  await db.doc('others/soon').set({ until: at(HOUR) });

  const heard = new EventEmitter();
  const stop = sessions.onSnapshot((now) => heard.emit('state', now.docs.map((one) => one.id), now.docChanges().map((one) => `${one.type} ${one.doc.id}`)));
  await once(heard, 'state');
  const next = once(heard, 'state');
  await suite.clock.advance(HOUR + 1);
  assert.equal((await sessions.doc('soon').get()).exists, false);
  assert.equal((await db.doc('users/a/sessions/nested').get()).exists, false);
  assert.equal((await db.doc('others/soon').get()).exists, true);
  assert.deepEqual(await next, [['later', 'list', 'none', 'null', 'text'], ['removed soon']]);

  const last = once(heard, 'state');
  await suite.clock.advance(2 * HOUR);
  assert.deepEqual((await last)[1], ['removed later']);
  stop();
});

test('a document that is put off in time stays', async (t) => {
  const suite = await expiring(t);
  const doc = client(suite).doc('sessions/a');
  await doc.set({ until: Timestamp.fromMillis(suite.clock.now() + HOUR) });
  await doc.update({ until: Timestamp.fromMillis(suite.clock.now() + 3 * HOUR) });
  await suite.clock.advance(2 * HOUR);
  assert.equal((await doc.get()).exists, true);
});

test('without anybody moving the clock they go soon after their time, in every database', async (t) => {
  const suite = await suiteFor(t, { project: 'demo-ttl-set' });
  const db = client(suite, 'second');
  const admin = adminClient(t, suite);
  await db.doc('c/past').set({ until: Timestamp.fromMillis(0) });
  const gone = new Promise((resolve) => {
    const stop = db.collection('c').onSnapshot((now) => {
      if (!now.empty) return;
      stop();
      resolve(undefined);
    });
  });
  const group = `projects/${suite.project}/databases/second/collectionGroups/c`;
  const [operation] = await admin.updateField({ field: { name: `${group}/fields/until`, ttlConfig: {} }, updateMask: { paths: ['ttl_config'] } });
  await operation.promise();
  await gone;
  const again = new Promise((resolve) => {
    const stop = db.doc('c/present').onSnapshot((doc) => {
      if (!doc.exists) return;
      const wait = db.doc('c/present').onSnapshot((now) => {
        if (now.exists) return;
        wait();
        stop();
        resolve(undefined);
      });
    });
  });
  await db.doc('c/present').set({ until: Timestamp.fromMillis(suite.clock.now() + 50) });
  await again;
  await assert.rejects(
    admin.updateField({ field: { name: `${group}/fields/other`, ttlConfig: {} }, updateMask: { paths: ['ttl_config'] } }),
    /has a TTL policy for the field `until` already/,
  );
});

test('the clock moves server times and ends transactions', async (t) => {
  const suite = await suiteFor(t, { project: 'demo-clock' });
  const db = client(suite);
  const doc = db.doc('c/a');
  const before = suite.clock.now();
  assert.ok(Math.abs(before - Date.now()) < 60_000);
  await doc.set({ n: 1 });
  let attempts = 0;
  await db.runTransaction(async (transaction) => {
    attempts += 1;
    await transaction.get(doc);
    if (attempts === 1) await suite.clock.advance(24 * HOUR);
    transaction.update(doc, { n: 2 });
  });
  assert.equal(attempts, 2, 'the first attempt has expired');
  const written = (await doc.get()).updateTime?.toMillis() ?? 0;
  assert.ok(written >= before + 24 * HOUR, String(written));
  assert.ok(suite.clock.now() >= before + 24 * HOUR);
  for (const wrong of [-1, Number.NaN, Number.POSITIVE_INFINITY, '5', undefined, null]) {
    await assert.rejects(suite.clock.advance(/** @type {number} */ (wrong)), { code: 'FIRELET_INVALID_OPTION' });
  }
  await assert.rejects(suite.clock.advance(1e18), { code: 'FIRELET_INVALID_OPTION', message: /year 9999/ });
  await suite.stop();
  assert.throws(() => suite.clock.now(), { code: 'FIRELET_STOPPED' });
  await assert.rejects(suite.clock.advance(1), { code: 'FIRELET_STOPPED' });
});
