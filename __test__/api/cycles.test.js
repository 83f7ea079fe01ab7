'use strict';

/** A thousand suites in one process, one after the other: nothing may be left of any of them. */

const assert = require('node:assert/strict');
const http = require('node:http');
const { test } = require('node:test');
const v8 = require('node:v8');
const { runInNewContext } = require('node:vm');

const { start } = require('../../index.js');
const { descriptors, listeningPorts, residentMiB, threads } = require('../helpers/resources.js');

const CYCLES = 1_000;

/** Cycles after which the allocator and V8 have what they keep. */
const WARM_UP = 200;

const GROWTH_MAX_MIB = 10;

// Resident memory says nothing while garbage waits to be collected.
v8.setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc');

/**
 * One request on a connection of its own: `fetch` keeps a pool for every address it ever saw, which
 * would be counted as growth.
 *
 * @param {import('../../index.js').Suite} suite
 * @param {string} method
 * @param {string} [body]
 * @returns {Promise<string>}
 */
function ask(suite, method, body) {
  const url = `${suite.firestore.url}/v1/projects/demo-cycle/databases/(default)/documents/c/d`;
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method, agent: false }, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += chunk)).on('end', () => resolve(`${response.statusCode} ${text}`));
    });
    request.on('error', reject).end(body);
  });
}

/** One suite that stores and finds a document. */
async function cycle() {
  const suite = await start({ project: 'demo-cycle', config: false });
  try {
    assert.match(await ask(suite, 'PATCH', '{"fields":{"n":{"integerValue":"1"}}}'), /^200 /);
    assert.match(await ask(suite, 'GET'), /^200 [^]*"integerValue": ?"1"/);
  } finally {
    await suite.stop();
  }
}

function held() {
  return { threads: threads().length, descriptors: descriptors().length, ports: listeningPorts().length };
}

test(`${CYCLES} starts and stops leave nothing behind`, async () => {
  for (let count = 0; count < WARM_UP; count++) await cycle();
  gc();
  const before = held();
  const residentBefore = residentMiB();
  for (let count = WARM_UP; count < CYCLES; count++) await cycle();
  gc();
  const after = held();
  const growth = residentMiB() - residentBefore;
  assert.ok(after.threads <= before.threads, `threads: ${before.threads} before, ${after.threads} after`);
  assert.equal(after.ports, before.ports);
  assert.ok(after.descriptors <= before.descriptors, `descriptors: ${before.descriptors}, ${after.descriptors}`);
  assert.ok(growth <= GROWTH_MAX_MIB, `resident memory grew by ${growth.toFixed(1)} MiB`);
});
