'use strict';

/** firebase/firestore/lite in a real page: REST across origins, with what a browser asks for first. */

const assert = require('node:assert/strict');
const { join } = require('node:path');
const { test } = require('node:test');

const { fileBrowser } = require('../helpers/browser.js');
const { fileSuite } = require('../helpers/suite.js');

const file = fileSuite({ project: 'demo-browser' });
const browser = fileBrowser(join(__dirname, 'page.js'));

test('the lite SDK does all its work from a page of another origin', async () => {
  const { page, origin } = await browser.open();
  const { host, port } = file.suite.firestore;
  const seen = await page.evaluate((...parameters) => /** @type {any} */ (globalThis).run(...parameters), host, port);
  assert.deepEqual(seen, {
    origin,
    read: { people: 134, tags: ['old'], when: 1_700_000_000_000 },
    missing: false,
    updated: [135, true],
    updateMissing: 'not-found',
    query: ['paris', 'lyon'],
    aggregate: { all: 3, total: 135 + 522 + 2103, mean: (135 + 522 + 2103) / 3 },
    transaction: 523,
    // The lite SDK goes by the HTTP status, and 400 is this one to it; the answer says INVALID_ARGUMENT.
    refused: 'failed-precondition',
    deleted: false,
  });
});

test('a page may ask with its own method, headers and credentials', async () => {
  const { page } = await browser.open();
  const url = `${file.suite.firestore.url}/v1/projects/demo-browser/databases/(default)/documents/cors/d`;
  const answers = await page.evaluate(async (target) => {
    const headers = { 'content-type': 'application/json', 'x-anything': 'x', authorization: 'Bearer owner' };
    const body = JSON.stringify({ fields: { n: { integerValue: '1' } } });
    const written = await fetch(target, { method: 'PATCH', headers, body, credentials: 'include' });
    const read = await fetch(target, { headers, credentials: 'include' });
    // An error must be readable too, or a page sees nothing but "failed to fetch".
    const missing = await fetch(`${target}x`, { headers });
    return [written.status, read.status, missing.status, (await missing.json()).error.status];
  }, url);
  assert.deepEqual(answers, [200, 200, 404, 'NOT_FOUND']);
});
