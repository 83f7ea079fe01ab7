'use strict';

/** Chromium for tests: pages of a site of our own, another origin than the suite's, that run a bundled script. */

const http = require('node:http');
const { mkdtempSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { after, before } = require('node:test');

const esbuild = require('esbuild');
const puppeteer = require('puppeteer-core');

/** A browser that talks to nobody but this machine. */
const FLAGS = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync',
];

/**
 * A browser for the calling test file, closed when it is done.
 *
 * @param {string} entry the script of its pages
 * @returns {{ open(): Promise<{ page: import('puppeteer-core').Page, origin: string }> }}
 */
function fileBrowser(entry) {
  /** @type {import('puppeteer-core').Browser | undefined} */
  let browser;
  /** @type {http.Server | undefined} */
  let site;
  const profile = mkdtempSync(join(tmpdir(), 'firelet-browser-'));

  before(async () => {
    const bundle = await esbuild.build({ entryPoints: [entry], bundle: true, format: 'iife', platform: 'browser', write: false });
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

  return {
    async open() {
      const { port } = /** @type {import('node:net').AddressInfo} */ (site?.address());
      const page = await /** @type {import('puppeteer-core').Browser} */ (browser).newPage();
      const origin = `http://127.0.0.1:${port}`;
      await page.goto(`${origin}/`, { waitUntil: 'load' });
      return { page, origin };
    },
  };
}

module.exports = { fileBrowser };
