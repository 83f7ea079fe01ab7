'use strict';

/** The feed of decisions that the Emulator UI shows, over a WebSocket. */

const assert = require('node:assert/strict');
const http = require('node:http');
const { test } = require('node:test');

const { rest, suiteFor } = require('../helpers/suite.js');

const RULES = `rules_version = '2';
service cloud.firestore {
  match /databases/{database}/documents {
    match /notes/{id} {
      allow get: if id == 'x';
      allow get: if resource.data.n == 1;
      allow list: if request.query.limit < 4;
    }
  }
}
`;

/**
 * Follows the feed: frames as they come, in order.
 *
 * @param {import('node:test').TestContext} t
 * @param {import('../../index.js').Suite} suite
 * @param {{ [name: string]: string }} [headers]
 * @returns {Promise<{ status: number, next: () => Promise<any>, ended: Promise<unknown> }>}
 */
function follow(t, suite, headers) {
  const { host, port } = suite.firestore;
  const upgrade = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': Buffer.from('0123456789abcdef').toString('base64'),
    ...headers,
  };
  return new Promise((resolve, reject) => {
    const request = http.request({ host, port, path: '/requests', headers: upgrade, agent: false });
    request.on('error', reject);
    request.on('response', (response) => {
      response.resume();
      resolve({ status: response.statusCode ?? 0, next: () => assert.fail('no feed'), ended: Promise.resolve() });
    });
    request.on('upgrade', (response, socket, head) => {
      t.after(() => socket.destroy());
      let buffer = head;
      /** @type {unknown[]} */
      const frames = [];
      /** @type {((frame: unknown) => void)[]} */
      const waiting = [];
      const take = () => {
        for (;;) {
          if (buffer.length < 2) return;
          const short = buffer[1] & 0x7f;
          const head = short === 127 ? 10 : short === 126 ? 4 : 2;
          if (buffer.length < head) return;
          const length = short === 127 ? Number(buffer.readBigUInt64BE(2)) : short === 126 ? buffer.readUInt16BE(2) : short;
          if (buffer.length < head + length) return;
          // Text frames are told, whatever else there is (pings, the end) is not.
          if ((buffer[0] & 0x0f) === 1) {
            const frame = JSON.parse(buffer.subarray(head, head + length).toString());
            const waits = waiting.shift();
            if (waits === undefined) frames.push(frame);
            else waits(frame);
          }
          buffer = buffer.subarray(head + length);
        }
      };
      socket.on('data', (chunk) => {
        buffer = Buffer.concat([buffer, chunk]);
        take();
      });
      take();
      const ended = new Promise((done) => socket.on('close', done));
      const next = () => (frames.length > 0 ? Promise.resolve(frames.shift()) : new Promise((told) => waiting.push(told)));
      resolve({ status: response.statusCode ?? 0, next, ended });
    });
    request.end();
  });
}

test('every decision is told to whoever follows', async (t) => {
  const suite = await suiteFor(t, { project: 'demo-feed', firestore: { rules: RULES } });
  const feed = await follow(t, suite);
  assert.equal(feed.status, 101);
  assert.deepEqual(await feed.next(), []);
  // An owner is asked nothing.
  await rest(suite, 'PATCH', '/notes/a', { fields: { n: { integerValue: '1' } } });
  const url = `${suite.firestore.url}/v1/projects/demo-feed/databases/(default)/documents`;
  for (const [path, status] of /** @type {const} */ ([['notes/a', 200], ['notes/b', 403], ['notes?pageSize=4', 403], ['other/a', 403]])) {
    assert.equal((await fetch(`${url}/${path}`)).status, status, path);
  }
  const read = await feed.next();
  assert.equal(read.rules, RULES);
  assert.match(read.rulesReleaseKey, /^projects\/demo-feed\/releases\/cloud\.firestore/);
  assert.deepEqual([read.outcome, read.granularAllowOutcomes], ['allow', [{ line: 5, outcome: false }, { line: 6, outcome: true }]]);
  const { path, method, request, resource } = read.rulesContext;
  assert.deepEqual([path, method], ['/databases/(default)/documents/notes/a', 'get']);
  assert.deepEqual(request.mapValue.fields.auth, { nullValue: null });
  assert.deepEqual(request.mapValue.fields.method, { stringValue: 'get' });
  assert.deepEqual(resource.mapValue.fields.data, { mapValue: { fields: { n: { intValue: '1' } } } });
  const missing = await feed.next();
  assert.deepEqual([missing.outcome, missing.rulesContext.resource], ['error', { nullValue: null }]);
  const list = await feed.next();
  assert.deepEqual([list.outcome, list.rulesContext.path], ['deny', '/databases/(default)/documents/notes/*']);
  const none = await feed.next();
  assert.deepEqual([none.outcome, none.granularAllowOutcomes], ['deny', []]);
  assert.equal(new Set([read, missing, list, none].map(({ requestId }) => requestId)).size, 4);

  // Who comes later is told what was before.
  const later = await follow(t, suite);
  assert.equal((await later.next()).length, 4);

  // The hub tells the UI where it is.
  const { firestore } = /** @type {any} */ (await (await fetch(`${suite.hub.url}/emulators`)).json());
  assert.deepEqual([firestore.webSocketHost, firestore.webSocketPort], [suite.firestore.host, suite.firestore.port]);
  await suite.stop();
  await Promise.all([feed.ended, later.ended]);
});

test('pages of strangers do not see requests', async (t) => {
  const suite = await suiteFor(t, { project: 'demo-feed-page' });
  assert.equal((await follow(t, suite, { origin: 'https://stranger.example' })).status, 403);
  assert.equal((await follow(t, suite, { origin: 'http://localhost:4000' })).status, 101);
  assert.equal((await fetch(`${suite.firestore.url}/requests`)).status, 400);
});
