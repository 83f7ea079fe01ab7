'use strict';

/** `suite.idle`: what was written before it has been sent to every listener when it resolves. */

const assert = require('node:assert/strict');
const { once } = require('node:events');
const http2 = require('node:http2');
const { test } = require('node:test');

const { deleteApp, initializeApp } = require('firebase/app');
const { collection, connectFirestoreEmulator, getFirestore, onSnapshot } = require('firebase/firestore');

const { rest, suiteFor } = require('../helpers/suite.js');

/** @param {import('../../index.js').Suite} suite @param {number} n */
async function write(suite, n) {
  const { status } = await rest(suite, 'PATCH', `/books/${n}`, { fields: { n: { integerValue: String(n) } } });
  assert.equal(status, 200);
}

/** How many documents a listener has, and what becomes ready when they are as many as wanted. */
function counter() {
  let size = -1;
  let wanted = Infinity;
  /** @type {() => void} */
  let reached = () => {};
  return {
    /** @param {{ size: number }} snapshot */
    see(snapshot) {
      size = snapshot.size;
      if (size === wanted) reached();
    },
    /** @param {number} count @returns {Promise<void>} */
    reach(count) {
      return new Promise((resolve) => {
        [wanted, reached] = [count, resolve];
        if (size === wanted) resolve();
      });
    },
  };
}

test('idle resolves when listeners have been sent what was written', async (t) => {
  const suite = await suiteFor(t, { project: 'demo-idle' });
  await suite.idle();
  const apps = ['one', 'two'].map((name) => initializeApp({ projectId: suite.project }, name));
  t.after(() => Promise.all(apps.map((app) => deleteApp(app))));
  const counters = apps.map((app) => {
    const firestore = getFirestore(app);
    connectFirestoreEmulator(firestore, suite.firestore.host, suite.firestore.port);
    const count = counter();
    onSnapshot(collection(firestore, 'books'), count.see);
    return count;
  });
  await Promise.all(counters.map((count) => count.reach(0)));
  for (let n = 1; n <= 50; n += 1) {
    await write(suite, n);
    if (n % 10 === 0) {
      await suite.idle();
      await Promise.all(counters.map((count) => count.reach(n)));
    }
  }
});

/**
 * A field of a protobuf message whose value has a length, of less than 128 bytes.
 *
 * @param {number} number
 * @param {string | Buffer} value
 */
function field(number, value) {
  const bytes = Buffer.from(value);
  assert.ok(bytes.length < 128);
  return Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes]);
}

test('idle waits for a listener that does not read, and not for one that is gone', async (t) => {
  const suite = await suiteFor(t, { project: 'demo-slow' });
  // A client that lets in what comes before the documents, and no more.
  const session = http2.connect(suite.firestore.url, { settings: { initialWindowSize: 400 } });
  const stream = session.request({
    ':method': 'POST',
    ':path': '/google.firestore.v1.Firestore/Listen',
    'content-type': 'application/grpc',
    te: 'trailers',
    authorization: 'Bearer owner',
  });
  stream.on('error', () => {});
  const root = `projects/${suite.project}/databases/(default)`;
  // A ListenRequest in protobuf's wire format: the SDKs let nobody read as slowly as this test has to.
  const query = [field(1, `${root}/documents`), field(2, field(2, field(2, 'books')))];
  const target = [field(2, Buffer.concat(query)), Buffer.from([5 << 3, 1])];
  const message = Buffer.concat([field(1, root), field(2, Buffer.concat(target))]);
  const frame = Buffer.alloc(5 + message.length);
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, 5);
  stream.write(frame);
  await once(stream, 'response');
  for (let n = 1; n <= 300; n += 1) await write(suite, n);
  let resolved = false;
  const idle = suite.idle().then(() => {
    resolved = true;
  });
  await write(suite, 0);
  assert.equal(resolved, false);
  session.destroy();
  await idle;
});

test('a stopped suite is not waited for', async (t) => {
  const suite = await suiteFor(t, { project: 'demo-stopped' });
  await suite.stop();
  await assert.rejects(suite.idle(), { code: 'FIRELET_STOPPED' });
});
