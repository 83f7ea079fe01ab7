'use strict';

/** Real clients across snapshot, restore and fork: listeners hear of it, transactions do not slip through. */

const assert = require('node:assert/strict');
const { EventEmitter, once } = require('node:events');
const { after, test } = require('node:test');

const { Firestore } = require('@google-cloud/firestore');

const { fileSuite } = require('../helpers/suite.js');

const file = fileSuite({ project: 'demo-restore-sdk' });

/** @type {import('@google-cloud/firestore').Firestore[]} */
const clients = [];
after(() => Promise.all(clients.map((client) => client.terminate())));

/** @param {string} [projectId] */
function client(projectId = file.suite.project) {
  const { host, port } = file.suite.firestore;
  const made = new Firestore({ projectId, host, port, ssl: false });
  clients.push(made);
  return made;
}

test('a listener sees a restore as one change', async () => {
  const db = client();
  const books = db.collection('heard');
  await books.doc('a').set({ n: 1 });
  await books.doc('b').set({ n: 2 });
  const snapshot = await file.suite.snapshot();
  await books.doc('a').set({ n: 10 });
  await books.doc('b').delete();
  await books.doc('c').set({ n: 3 });

  const heard = new EventEmitter();
  const stop = books.onSnapshot((now) => heard.emit('state', now.docs.map((one) => `${one.id}${one.get('n')}`)));
  assert.deepEqual(await once(heard, 'state'), [['a10', 'c3']]);
  const next = once(heard, 'state');
  await file.suite.restore(snapshot);
  assert.deepEqual(await next, [['a1', 'b2']]);
  const last = once(heard, 'state');
  await books.doc('a').update({ n: 4 });
  assert.deepEqual(await last, [['a4', 'b2']]);
  stop();
});

test('a transaction that read before a restore does not commit after it', async () => {
  const db = client();
  const doc = db.doc('counted/a');
  await doc.set({ n: 1 });
  const snapshot = await file.suite.snapshot();
  await doc.set({ n: 5 });
  let attempts = 0;
  await db.runTransaction(async (transaction) => {
    attempts += 1;
    const n = (await transaction.get(doc)).get('n');
    if (attempts === 1) await file.suite.restore(snapshot);
    transaction.set(doc, { n: n + 1 });
  });
  assert.deepEqual([attempts, (await doc.get()).get('n')], [2, 2]);
});

test('a fork is a database like any other', async () => {
  await client().doc('forked/a').set({ n: 1, tags: ['x'] });
  await file.suite.fork({ project: 'demo-fork-sdk' });
  const fork = client('demo-fork-sdk');
  const found = await fork.collection('forked').where('tags', 'array-contains', 'x').get();
  assert.deepEqual(found.docs.map((one) => one.ref.path), ['forked/a']);
  await fork.doc('forked/a').update({ n: 2 });
  assert.equal((await client().doc('forked/a').get()).get('n'), 1);
  assert.equal((await fork.collection('forked').count().get()).data().count, 1);
});
