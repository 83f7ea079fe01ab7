'use strict';

/** A suite from start to stop: what it is, what it sets, what it leaves behind. */

const assert = require('node:assert/strict');
const net = require('node:net');
const { join } = require('node:path');
const { test } = require('node:test');

const firelet = require('../../index.js');
const { rest, suiteFor } = require('../helpers/suite.js');

const { FireletError, start } = firelet;

/** @param {import('../../index.js').ServiceAddress} address */
function answers({ host, port }) {
  return new Promise((resolve) => {
    const socket = net.connect(port, host);
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
}

test('require and import give the same named exports', async () => {
  const imported = await import('../../index.js');
  assert.deepEqual(Object.keys(firelet).sort(), ['FireletError', 'start']);
  assert.equal(imported.start, start);
  assert.equal(imported.FireletError, FireletError);
});

test('a suite says where it is, and answers there', async (t) => {
  const suite = await suiteFor(t, { project: 'demo-address' });
  assert.equal(suite.project, 'demo-address');
  const { host, port, url } = suite.firestore;
  assert.equal(host, '127.0.0.1');
  assert.ok(port > 0);
  assert.equal(url, `http://127.0.0.1:${port}`);
  assert.equal((await fetch(suite.hub.url)).status, 200);
  const root = await fetch(url);
  assert.equal(root.status, 200);
  assert.equal(await root.text(), 'Ok\n');
  await suite.stop();
  assert.equal(await answers({ host, port, url }), false);
});

test('suite.env holds what SDKs look for', async (t) => {
  const suite = await suiteFor(t, { project: 'demo-env' });
  const authority = `127.0.0.1:${suite.firestore.port}`;
  assert.equal(suite.env.FIRESTORE_EMULATOR_HOST, authority);
  assert.equal(suite.env.FIREBASE_FIRESTORE_EMULATOR_ADDRESS, authority);
  assert.equal(suite.env.FIREBASE_EMULATOR_HUB, `127.0.0.1:${suite.hub.port}`);
  assert.equal(suite.env.GCLOUD_PROJECT, 'demo-env');
  assert.equal(JSON.parse(suite.env.FIREBASE_CONFIG).projectId, 'demo-env');
  const hub = await fetch(`${suite.hub.url}/emulators`);
  const emulators = /** @type {any} */ (await hub.json());
  assert.equal(emulators.firestore.port, suite.firestore.port);
});

test('applyEnv sets the variables and stop gives the old values back', async (t) => {
  process.env.GCLOUD_PROJECT = 'before';
  delete process.env.FIRESTORE_EMULATOR_HOST;
  const first = await suiteFor(t, { project: 'demo-first' });
  const second = await suiteFor(t, { project: 'demo-second' });
  assert.equal(first.applyEnv(), first);
  second.applyEnv();
  assert.equal(process.env.GCLOUD_PROJECT, 'demo-second');
  // Stopped out of order: the suite that goes must not take the other's values along.
  await first.stop();
  assert.equal(process.env.GCLOUD_PROJECT, 'demo-second');
  assert.equal(process.env.FIRESTORE_EMULATOR_HOST, second.env.FIRESTORE_EMULATOR_HOST);
  await second.stop();
  assert.equal(process.env.GCLOUD_PROJECT, 'before');
  assert.equal(process.env.FIRESTORE_EMULATOR_HOST, undefined);
  delete process.env.GCLOUD_PROJECT;
});

test('stop leaves a variable alone that somebody else has changed', async (t) => {
  const suite = await suiteFor(t, { project: 'demo-changed' });
  suite.applyEnv();
  process.env.GCLOUD_PROJECT = 'mine';
  await suite.stop();
  assert.equal(process.env.GCLOUD_PROJECT, 'mine');
  delete process.env.GCLOUD_PROJECT;
});

test('clear deletes one project or all of them', async (t) => {
  const suite = await suiteFor(t, { project: 'demo-clear' });
  const other = { ...suite, firestore: suite.firestore, project: 'demo-other' };
  const body = { fields: { n: { integerValue: '1' } } };
  const statuses = async () => [
    (await rest(suite, 'GET', '/c/d')).status,
    (await rest(/** @type {any} */ (other), 'GET', '/c/d')).status,
  ];
  for (const owner of [suite, /** @type {any} */ (other)]) await rest(owner, 'PATCH', '/c/d', body);
  assert.deepEqual(await statuses(), [200, 200]);
  await suite.clear({ project: 'demo-other' });
  assert.deepEqual(await statuses(), [200, 404]);
  await suite.clear();
  assert.deepEqual(await statuses(), [404, 404]);
});

test('stop may be called more than once, and ends what comes after', async (t) => {
  const suite = await suiteFor(t);
  const ends = [suite.stop(), suite.stop(), suite[Symbol.asyncDispose]()];
  await Promise.all(ends);
  await suite.stop();
  /** @param {unknown} error */
  const isStopped = (error) => error instanceof FireletError && error.code === 'FIRELET_STOPPED';
  await assert.rejects(suite.clear(), isStopped);
  assert.throws(() => suite.applyEnv(), isStopped);
});

test('a port that is taken is refused by name', async () => {
  const holder = net.createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => holder.once('listening', resolve));
  const { port } = /** @type {import('node:net').AddressInfo} */ (holder.address());
  await assert.rejects(start({ firestore: { port } }), (error) => {
    assert.ok(error instanceof FireletError);
    assert.equal(error.code, 'FIRELET_PORT_IN_USE');
    assert.match(error.message, new RegExp(String(port)));
    return true;
  });
  holder.close();
});

test('a config file gives the project and the services', async (t) => {
  const config = join(__dirname, '..', '..', 'examples', 'quickstart', 'firebase.json');
  const suite = await suiteFor(t, { config });
  assert.equal(suite.project, 'demo-quickstart');
  assert.equal((await fetch(suite.firestore.url)).status, 200);
});

test('a config file that is missing is an error with a code', async () => {
  await assert.rejects(start({ config: 'no/such/firebase.json' }), (error) => {
    assert.ok(error instanceof FireletError);
    assert.equal(error.code, 'FIRELET_CONFIG_NOT_FOUND');
    assert.match(error.message, /no\/such\/firebase\.json/);
    return true;
  });
});

test('many suites run side by side, each with its own data', async (t) => {
  const suites = await Promise.all(Array.from({ length: 8 }, () => suiteFor(t, { project: 'demo-many' })));
  assert.equal(new Set(suites.map((suite) => suite.firestore.port)).size, suites.length);
  await Promise.all(
    suites.map((suite, index) =>
      rest(suite, 'PATCH', '/c/d', { fields: { n: { integerValue: String(index) } } }),
    ),
  );
  const read = await Promise.all(suites.map(async (suite) => (await rest(suite, 'GET', '/c/d')).body.fields.n.integerValue));
  assert.deepEqual(read, suites.map((_, index) => String(index)));
});
