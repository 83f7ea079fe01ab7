'use strict';

/** Every test finds the library of seed.json, whatever the one before has lent. */

const { deleteApp, initializeApp } = require('firebase-admin/app');
const { getFirestore } = require('firebase-admin/firestore');
const { restore } = require('firelet/jest');

const { lend } = require('../library.js');

const app = initializeApp();
const db = getFirestore(app);

beforeEach(() => restore());

afterAll(async () => {
  await db.terminate();
  await deleteApp(app);
});

test('a loan takes a copy', async () => {
  await lend(db, 'alice', 'earthsea');
  expect((await db.doc('books/earthsea').get()).get('copies')).toBe(1);
  expect((await db.collection('members/alice/loans').get()).size).toBe(1);
});

test('what is not there is not lent', async () => {
  await lend(db, 'alice', 'solaris');
  await expect(lend(db, 'bob', 'solaris')).rejects.toThrow('no copy of solaris is left');
});

test('the seed has words for every type', async () => {
  const alice = await db.doc('members/alice').get();
  expect(alice.get('favourite').path).toBe('books/solaris');
  const newest = await db.collection('books').orderBy('added', 'desc').limit(1).get();
  expect(newest.docs[0].get('title')).toBe('Solaris');
});
