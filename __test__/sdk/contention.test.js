'use strict';

/** Ten transactions on one document at once: all end soon, and each counts exactly once. */

const assert = require('node:assert/strict');
const { test } = require('node:test');

const { Firestore } = require('@google-cloud/firestore');
const { deleteApp, initializeApp } = require('firebase/app');
const web = require('firebase/firestore');

const { fileSuite } = require('../helpers/suite.js');

const file = fileSuite({ project: 'demo-contention' });

const TRANSACTIONS = 10;
const TOGETHER_MAX_MS = 1_000;

/** @param {(n: number) => Promise<unknown>} increment */
async function together(increment) {
  const begun = performance.now();
  await Promise.all(Array.from({ length: TRANSACTIONS }, (_, n) => increment(n)));
  const took = performance.now() - begun;
  assert.ok(took <= TOGETHER_MAX_MS, `${TRANSACTIONS} transactions took ${took.toFixed(0)} ms`);
}

test('with the server SDK', async () => {
  file.suite.applyEnv();
  const db = new Firestore();
  const document = db.doc('counters/server');
  await document.set({ n: 0, seen: [] });
  await together((n) =>
    db.runTransaction(
      async (transaction) => {
        const now = (await transaction.get(document)).data() ?? {};
        transaction.update(document, { n: now.n + 1, seen: [...now.seen, n] });
      },
      { maxAttempts: 50 },
    ),
  );
  const { n, seen } = /** @type {any} */ ((await document.get()).data());
  assert.equal(n, TRANSACTIONS);
  assert.deepEqual([...seen].sort((a, b) => a - b), Array.from({ length: TRANSACTIONS }, (_, each) => each));
  await db.terminate();
});

test('raw transactions over REST, each retried as a client does', async () => {
  const base = `${file.suite.firestore.url}/v1/projects/${file.suite.project}/databases/(default)/documents`;
  const name = `projects/${file.suite.project}/databases/(default)/documents/counters/rest`;
  const call = async (/** @type {string} */ path, /** @type {unknown} */ body) => {
    const response = await fetch(`${base}${path}`, { method: 'POST', body: JSON.stringify(body) });
    return { status: response.status, body: /** @type {any} */ (await response.json()) };
  };
  const write = (/** @type {number} */ n) => ({ update: { name, fields: { n: { integerValue: String(n) } } } });
  await call(':commit', { writes: [write(0)] });
  await together(async () => {
    /** @type {string | undefined} */
    let retryTransaction;
    for (;;) {
      const begun = await call(':beginTransaction', { options: { readWrite: { retryTransaction } } });
      const { transaction } = begun.body;
      const read = await call(':batchGet', { documents: [name], transaction });
      if (read.status === 200) {
        const n = Number(read.body[0].found.fields.n.integerValue);
        const committed = await call(':commit', { writes: [write(n + 1)], transaction });
        if (committed.status === 200) return;
        assert.equal(committed.body.error.status, 'ABORTED');
      } else {
        assert.equal((read.body[0] ?? read.body).error.status, 'ABORTED');
      }
      retryTransaction = transaction;
    }
  });
  const read = await call(':batchGet', { documents: [name] });
  assert.equal(read.body[0].found.fields.n.integerValue, String(TRANSACTIONS));
});

test('with ten web clients at once, whose retries wait on their own', async () => {
  const { host, port } = file.suite.firestore;
  const apps = Array.from({ length: 3 }, (_, n) => initializeApp({ projectId: file.suite.project }, `contention${n}`));
  const dbs = apps.map((app) => {
    const db = web.getFirestore(app);
    web.connectFirestoreEmulator(db, host, port);
    return db;
  });
  const documentOf = (/** @type {import('firebase/firestore').Firestore} */ db) => web.doc(db, 'counters/web');
  await web.setDoc(documentOf(dbs[0]), { n: 0 });
  // The web SDK waits about a second before each further attempt, so here only the count is asked.
  await Promise.all(
    Array.from({ length: TRANSACTIONS }, (_, n) => {
      const db = dbs[n % dbs.length];
      return web.runTransaction(
        db,
        async (transaction) => {
          const now = (await transaction.get(documentOf(db))).get('n');
          transaction.update(documentOf(db), { n: now + 1 });
        },
        { maxAttempts: 50 },
      );
    }),
  );
  assert.equal((await web.getDoc(documentOf(dbs[0]))).get('n'), TRANSACTIONS);
  await Promise.all(dbs.map((db) => web.terminate(db)));
  await Promise.all(apps.map((app) => deleteApp(app)));
});
