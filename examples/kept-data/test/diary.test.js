'use strict';

/** What one suite has kept, the next one finds: its data, and its snapshots by their names. */

const assert = require('node:assert/strict');
const { mkdtempSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { after, test } = require('node:test');

const { deleteApp, initializeApp } = require('firebase-admin/app');
const { getFirestore } = require('firebase-admin/firestore');
const { start } = require('firelet');

const { add } = require('../diary.js');

// A project of your own keeps its data in `.firelet` beside firebase.json, which is what `dir` is without this.
const dir = mkdtempSync(join(tmpdir(), 'diary-'));
after(() => rmSync(dir, { recursive: true, force: true }));

/** Runs some work on a suite of its own, as another start of the program would. */
async function run(work) {
  const suite = (await start({ project: 'demo-kept-data-example', data: { keep: true, dir: join(dir, 'data') } })).applyEnv();
  const app = initializeApp();
  const db = getFirestore(app);
  try {
    await work(db, suite);
  } finally {
    await db.terminate();
    await deleteApp(app);
    await suite.stop();
  }
}

test('the numbers go on after a restart', async () => {
  await run(async (db, suite) => {
    assert.equal(await add(db, 'Monday'), 1);
    await suite.snapshot('monday');
    assert.equal(await add(db, 'Tuesday'), 2);
  });
  await run(async (db) => {
    assert.equal(await add(db, 'Wednesday'), 3);
    assert.equal((await db.collection('diary/entries/all').get()).size, 3);
  });
});

test('and a snapshot brings an earlier day back', async () => {
  await run(async (db, suite) => {
    await suite.restore('monday');
    assert.equal(await add(db, 'another Tuesday'), 2);
  });
});
