'use strict';

/** Signing up is done once; each test begins right after it. */

const assert = require('node:assert/strict');
const { after, before, beforeEach, test } = require('node:test');

const { deleteApp, initializeApp } = require('firebase-admin/app');
const { getFirestore } = require('firebase-admin/firestore');
const { start } = require('firelet');

const { signUp, upgrade } = require('../signup.js');

let suite;
let app;
let db;

before(async () => {
  suite = (await start({ project: 'demo-snapshots-example' })).applyEnv();
  app = initializeApp();
  db = getFirestore(app);
  await signUp(db, 'alice');
  await suite.snapshot('after-signup');
});

beforeEach(() => suite.restore('after-signup'));

after(async () => {
  await db.terminate();
  await deleteApp(app);
  await suite.stop();
});

test('a member can upgrade', async () => {
  await upgrade(db, 'alice');
  assert.equal((await db.doc('members/alice').get()).get('plan'), 'paid');
});

test('a new member is on the free plan, whatever another test has done', async () => {
  assert.equal((await db.doc('members/alice').get()).get('plan'), 'free');
  assert.equal((await db.collection('members/alice/inbox').get()).size, 1);
});

test('nobody signs up twice', async () => {
  await assert.rejects(signUp(db, 'alice'), /ALREADY_EXISTS/);
});
