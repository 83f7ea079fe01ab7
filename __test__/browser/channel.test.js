'use strict';

/** firebase/firestore in a real page: Listen and Write over WebChannel. */

const assert = require('node:assert/strict');
const http = require('node:http');
const { join } = require('node:path');
const { test } = require('node:test');

const { fileBrowser } = require('../helpers/browser.js');
const { fileSuite, rest } = require('../helpers/suite.js');

const file = fileSuite({ project: 'demo-channel' });
const browser = fileBrowser(join(__dirname, 'channel-page.js'));

let projects = 0;

/** Every way the SDK can be told to talk. */
const SETTINGS = [
  { name: 'as it comes', settings: {} },
  { name: 'long polling', settings: { experimentalForceLongPolling: true } },
  { name: 'XMLHttpRequest', settings: { useFetchStreams: false } },
  { name: 'without detection', settings: { experimentalAutoDetectLongPolling: false } },
  { name: 'short polls', settings: { experimentalForceLongPolling: true, experimentalLongPollingOptions: { timeoutSeconds: 5 } } },
];

/**
 * @param {unknown} value
 * @returns {{ [type: string]: unknown }}
 */
const encode = (value) => (typeof value === 'number' ? { integerValue: String(value) } : { stringValue: value });

/** @param {{ [name: string]: unknown }} fields */
const encodeAll = (fields) => Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, encode(value)]));

/**
 * Runs a scenario in a page of its own, in a project of its own.
 *
 * @param {import('node:test').TestContext} t
 * @param {string} scenario
 * @param {{ settings?: object, keeps?: boolean, project?: string, port?: number, parameters?: unknown[] }} [options]
 */
async function run(t, scenario, options = {}) {
  const { settings, keeps, project = `demo-${scenario.toLowerCase()}-${projects++}`, port = file.suite.firestore.port, parameters = [] } = options;
  const { page } = await browser.open();
  t.after(() => page.close());
  const { host } = file.suite.firestore;
  await page.exposeFunction('elsewhere', (/** @type {string} */ id, /** @type {any} */ fields) => write(project, id, fields));
  const place = { host, port, project, settings, keeps };
  return page.evaluate((name, ...rest) => /** @type {any} */ (globalThis).scenarios[name](...rest), scenario, place, ...parameters);
}

/**
 * @param {string} project
 * @param {string} id
 * @param {{ [name: string]: unknown } | null} fields
 */
async function write(project, id, fields) {
  const suite = { ...file.suite, firestore: file.suite.firestore, project };
  const { status } = fields === null
    ? await rest(suite, 'DELETE', `/${id}`)
    : await rest(suite, 'PATCH', `/${id}`, { fields: encodeAll(fields) });
  assert.equal(status, 200);
}

for (const { name, settings } of SETTINGS) {
  test(`reading and writing, ${name}`, async (t) => {
    assert.deepEqual(await run(t, 'basics', { settings }), {
      read: { people: 134, tags: ['old'], deep: { when: { seconds: 1_700_000_000, nanoseconds: 0, type: 'firestore/timestamp/1.0' }, none: null } },
      missing: false,
      updated: [135, true],
      updateMissing: 'not-found',
      query: ['paris', 'lyon'],
      transaction: 523,
      refused: 'invalid-argument',
      deleted: false,
      left: ['lyon', 'paris'],
    });
  });

  test(`listening, ${name}`, async (t) => {
    assert.deepEqual(await run(t, 'listening', { settings }), [
      [],
      ['added a'], ['added a'],
      ['removed a'], ['modified a'],
      ['added b', true],
      ['settled', ['a', 'b']],
      ['removed a'],
    ]);
  });

  test(`offline and online again, ${name}`, async (t) => {
    assert.deepEqual(await run(t, 'offline', { settings }), { cached: ['mine'], online: ['mine', 'theirs'] });
  });
}

test('12,000 documents in one listener', async (t) => {
  const count = 12_000;
  for (const settings of [{}, { experimentalForceLongPolling: true }]) {
    const project = `demo-many-${projects++}`;
    const name = (/** @type {number} */ n) => `projects/${project}/databases/(default)/documents/many/d${n}`;
    for (let from = 0; from < count; from += 500) {
      const writes = Array.from({ length: 500 }, (_, n) => ({
        update: { name: name(from + n), fields: encodeAll({ n: from + n, text: 'x'.repeat(100) }) },
      }));
      const { status } = await rest({ ...file.suite, firestore: file.suite.firestore, project }, 'POST', ':commit', { writes });
      assert.equal(status, 200);
    }
    const seen = await run(t, 'many', { settings, project, parameters: [count] });
    assert.deepEqual(seen, { expected: true, more: ['added more'], size: count + 1, sum: (count * (count - 1)) / 2 - 1 });
  }
});

test('texts of every width, up to the largest document', async (t) => {
  // Widths of one, two, three and four bytes of UTF-8 beside each other, so that pieces are cut in every way.
  const mixed = 'a\u00e9\u20ac\u{1f525}e\u0301\u{1f468}\u200d\u{1f469}\u2028\u0000"\\';
  const texts = [
    mixed,
    ...[1, 2, 3].map((n) => 'a'.repeat(n) + mixed.repeat(3_000)),
    'a'.repeat(1_048_400),
    '\u{1f525}'.repeat(262_000),
  ];
  const all = texts.map(() => true);
  for (const settings of [{}, { experimentalForceLongPolling: true }, { useFetchStreams: false }]) {
    // Comparing happens in the page, which is given the texts whole.
    assert.deepEqual(await run(t, 'texts', { settings, parameters: [texts] }), { read: all, same: all }, JSON.stringify(settings));
  }
});

test('a storm of writes ends in one truth', async (t) => {
  const read = await run(t, 'storm', { parameters: [300] });
  assert.deepEqual(Object.values(read).sort((a, b) => a - b), [293, 294, 295, 296, 297, 298, 299]);
});

test('what is kept in IndexedDB is there for the next page, and brought up to date', async (t) => {
  const project = 'demo-kept';
  assert.deepEqual(await run(t, 'fillCache', { keeps: true, project }), ['a', 'b']);
  await write(project, 'kept/b', null);
  await write(project, 'kept/c', { n: 3 });
  assert.deepEqual(await run(t, 'readCache', { keeps: true, project }), { cached: ['a', 'b'], first: ['a', 'b'], online: ['a', 'c'] });
});

test('two tabs with one cache', async (t) => {
  const project = 'demo-tabs';
  const waiting = run(t, 'waitFor', { keeps: true, project, parameters: ['b'] });
  await run(t, 'put', { keeps: true, project, parameters: ['a'] });
  await write(project, 'tabs/b', { n: 2 });
  assert.deepEqual(await waiting, ['a', 'b']);
});

test('behind a proxy that holds answers back until they end', async (t) => {
  const proxy = http.createServer((request, response) => {
    const { host, port } = file.suite.firestore;
    const { method, url, headers } = request;
    const onward = http.request({ host, port, method, path: url, headers }, async (answer) => {
      /** @type {Buffer[]} */
      const parts = [];
      // The page goes away from answers that do not come.
      try {
        for await (const part of answer) parts.push(part);
      } catch {
        return;
      }
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      response.end(Buffer.concat(parts));
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  });
  await new Promise((resolve) => proxy.listen(0, '127.0.0.1', () => resolve(undefined)));
  t.after(() => { proxy.closeAllConnections(); proxy.close(); });
  const { port } = /** @type {import('node:net').AddressInfo} */ (proxy.address());
  assert.deepEqual(await run(t, 'offline', { port }), { cached: ['mine'], online: ['mine', 'theirs'] });
});
