'use strict';

/** firebase/firestore/lite in a real page: REST across origins, with what a browser asks for first. */

const assert = require('node:assert/strict');
const http = require('node:http');
const { mkdtempSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { after, before, test } = require('node:test');

const esbuild = require('esbuild');
const puppeteer = require('puppeteer-core');

const { fileSuite } = require('../helpers/suite.js');

const file = fileSuite({ project: 'demo-browser' });

/** A browser that talks to nobody but this machine. */
const FLAGS = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync',
];

/** @type {import('puppeteer-core').Browser | undefined} */
let browser;
/** @type {http.Server | undefined} */
let site;
const profile = mkdtempSync(join(tmpdir(), 'firelet-browser-'));

before(async () => {
  const bundle = await esbuild.build({
    entryPoints: [join(__dirname, 'page.js')],
    bundle: true,
    format: 'iife',
    platform: 'browser',
    write: false,
  });
  const script = bundle.outputFiles[0].text;
  const pages = http.createServer((request, response) => {
    const isScript = request.url === '/page.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? script : '<!doctype html><meta charset="utf-8"><script src="/page.js"></script>');
  });
  site = pages;
  await new Promise((resolve) => pages.listen(0, '127.0.0.1', () => resolve(undefined)));
  browser = await puppeteer.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    headless: true,
    userDataDir: profile,
    args: FLAGS,
  });
});

after(async () => {
  await browser?.close();
  site?.close();
  rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
});

/** A page of our own site: another origin than the suite's. */
async function openPage() {
  const { port } = /** @type {import('node:net').AddressInfo} */ (site?.address());
  const page = await /** @type {import('puppeteer-core').Browser} */ (browser).newPage();
  await page.goto(`http://127.0.0.1:${port}/`, { waitUntil: 'load' });
  return { page, origin: `http://127.0.0.1:${port}` };
}

test('the lite SDK does all its work from a page of another origin', async () => {
  const { page, origin } = await openPage();
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
  const { page } = await openPage();
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
