'use strict';

/**
 * Starts and stops suites one after the other in a process of its own, and prints as JSON what the
 * process held after the warm-up and at the end. Node's test runner is left out on purpose: it tracks
 * every promise, and the memory for that would be counted as ours.
 *
 * node --expose-gc cycles.js <cycles> <warm-up>
 */

const assert = require('node:assert/strict');
const http = require('node:http');

const { start } = require('../../index.js');
const { descriptors, listeningPorts, residentMiB, threads } = require('./resources.js');

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

/**
 * V8 lets garbage of Node's HTTP client pile up for as long as nothing else needs the room, and gives
 * the pages back late. Collected often, what is left is what somebody holds.
 *
 * @param {number} count
 */
async function collectingCycle(count) {
  await cycle();
  if (count % 50 === 0) globalThis.gc?.();
}

/** Memory comes first: what it takes to count the rest is not ours. */
function held() {
  return { residentMiB: residentMiB(), threads: threads().length, descriptors: descriptors().length };
}

async function main() {
  const [cycles, warmUp] = process.argv.slice(2).map(Number);
  for (let count = 0; count < warmUp; count++) await collectingCycle(count);
  const before = held();
  for (let count = warmUp; count < cycles; count++) await collectingCycle(count);
  const after = held();
  // Counted once, at the end: the kernel lists thousands of closed connections among the open ones.
  const ports = listeningPorts().length;
  process.stdout.write(JSON.stringify({ before, after, ports }));
}

main();
