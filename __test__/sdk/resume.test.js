'use strict';

/**
 * Listeners across a restart of a suite that keeps its data. A resume token is good for its own suite: the next one
 * has no history to continue it with, so it sends the whole result anew, and nothing that happened meanwhile is missed.
 */

const { EventEmitter, once } = require('node:events');
const { mkdtempSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { test } = require('node:test');

const { Firestore } = require('@google-cloud/firestore');

const { rest, suiteFor } = require('../helpers/suite.js');

test('a listener that outlives its suite hears all that it has missed', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'firelet-resume-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const options = { project: 'demo-resume', data: { keep: true, dir: join(dir, 'data') } };
  const first = await suiteFor(t, options);
  const { host, port } = first.firestore;
  const write = (/** @type {import('../../index.js').Suite} */ suite, /** @type {string} */ id, /** @type {number} */ n) =>
    rest(suite, 'PATCH', `/books/${id}`, { fields: { n: { integerValue: String(n) } } });
  for (const [id, n] of /** @type {const} */ ([['stays', 1], ['changes', 1], ['goes', 1]])) await write(first, id, n);

  const db = new Firestore({ projectId: 'demo-resume', host, port, ssl: false });
  const heard = new EventEmitter();
  /** @type {string[]} */
  let state = [];
  const stop = db.collection('books').onSnapshot((now) => {
    state = now.docs.map((one) => `${one.id} ${one.get('n')}`);
    heard.emit('state');
  }, (error) => heard.emit('error', error));
  t.after(async () => {
    stop();
    await db.terminate();
  });
  const until = async (/** @type {string[]} */ expected) => {
    while (state.join() !== expected.join()) await once(heard, 'state');
  };
  await until(['changes 1', 'goes 1', 'stays 1']);
  await first.stop();

  // Somewhere else, so that the listener sees neither the suite nor its changes.
  const between = await suiteFor(t, options);
  await write(between, 'changes', 2);
  await rest(between, 'DELETE', '/books/goes');
  await write(between, 'comes', 2);
  await between.stop();

  const second = await suiteFor(t, { ...options, firestore: { port } });
  await until(['changes 2', 'comes 2', 'stays 1']);
  await write(second, 'stays', 3);
  await until(['changes 2', 'comes 2', 'stays 3']);
});
