'use strict';

/** How a suite and its process share their lives: who keeps whom, in threads and at the end. */

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { Worker } = require('node:worker_threads');

const { node, ROOT } = require('../helpers/run.js');
const { listeningPorts, threads } = require('../helpers/resources.js');
const { suiteFor } = require('../helpers/suite.js');

/**
 * Runs a script in a Node of its own, with `start` in scope.
 *
 * @param {string} body
 */
function script(body) {
  const source = `const { start } = require('./index.js');
    (async () => { ${body} })().catch((error) => { console.error(error); process.exitCode = 9; });`;
  return node(['-e', source], { cwd: ROOT });
}

test('a started suite keeps its process alive until stop', async () => {
  const program = script(`
    const suite = await start();
    console.log('port', suite.firestore.port);
    process.on('SIGTERM', async () => { await suite.stop(); console.log('stopped'); });`);
  const [, port] = await program.printed(/port (\d+)/);
  assert.equal((await fetch(`http://127.0.0.1:${port}`)).status, 200);
  // The signal handler itself holds nothing, so what has kept the process is the suite.
  program.child.kill('SIGTERM');
  const { code, stdout } = await program.ended;
  assert.match(stdout, /stopped/);
  assert.equal(code, 0);
});

test('unref lets the process end, with code 0', async () => {
  const { code, stderr } = await script('(await start()).unref();').ended;
  assert.equal(code, 0, stderr);
});

test('process.exit with a running suite ends at once with the given code', async () => {
  const { code, signal } = await script('await start(); process.exit(7);').ended;
  assert.deepEqual([code, signal], [7, null]);
});

test('an exception with a running suite ends like any other', async () => {
  const { code, signal, stderr } = await script(`
    await start();
    setImmediate(() => { throw new Error('boom'); });`).ended;
  assert.deepEqual([code, signal], [1, null]);
  assert.match(stderr, /boom/);
});

/** What runs in the worker threads of the next tests. */
const WORKER = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { start } = require(workerData.entry);
  start({ project: 'demo-worker' }).then(async (suite) => {
    parentPort.postMessage(suite.firestore.port);
    if (workerData.end === 'stop') await suite.stop();
    if (workerData.end === 'unref') suite.unref();
    if (workerData.end === 'exit') process.exit(0);
  });`;

/**
 * @param {'stop' | 'unref' | 'exit' | 'hold'} end
 */
function worker(end) {
  return new Worker(WORKER, { eval: true, workerData: { entry: require.resolve('../../index.js'), end } });
}

/** @param {Worker} thread */
async function ended(thread) {
  await new Promise((resolve) => thread.once('exit', resolve));
}

/** Waits for the operating system to have seen the last threads go. */
async function settled(/** @type {() => boolean} */ holds) {
  const deadline = Date.now() + 5_000;
  while (!holds() && Date.now() < deadline) await new Promise((resolve) => setImmediate(resolve));
}

const suiteThreads = () => threads().filter((name) => name.startsWith('firelet')).length;

test('a suite works in a worker thread and ends with it', async () => {
  const before = { threads: suiteThreads(), ports: listeningPorts().length };
  for (const end of /** @type {const} */ (['stop', 'unref', 'exit'])) {
    const thread = worker(end);
    const port = await new Promise((resolve) => thread.once('message', resolve));
    assert.ok(port > 0);
    await ended(thread);
    await settled(() => suiteThreads() === before.threads);
    assert.deepEqual({ threads: suiteThreads(), ports: listeningPorts().length }, before, end);
  }
});

test('a worker thread that is terminated takes its suite along', async (t) => {
  const before = { threads: suiteThreads(), ports: listeningPorts().length };
  const main = await suiteFor(t);
  const workers = Array.from({ length: 6 }, () => worker('hold'));
  await Promise.all(
    workers.map(async (thread) => {
      const port = await new Promise((resolve) => thread.once('message', resolve));
      assert.equal((await fetch(`http://127.0.0.1:${port}`)).status, 200);
      await thread.terminate();
    }),
  );
  assert.equal((await fetch(main.firestore.url)).status, 200);
  await main.stop();
  await settled(() => suiteThreads() === before.threads);
  assert.deepEqual({ threads: suiteThreads(), ports: listeningPorts().length }, before);
});

test('a worker thread may be terminated in the middle of a start', async () => {
  const before = suiteThreads();
  for (let round = 0; round < 10; round++) {
    const source = `require(${JSON.stringify(require.resolve('../../index.js'))}).start();
      require('node:worker_threads').parentPort.postMessage('starting');`;
    const thread = new Worker(source, { eval: true });
    await new Promise((resolve) => thread.once('message', resolve));
    await thread.terminate();
  }
  await settled(() => suiteThreads() === before);
  assert.equal(suiteThreads(), before);
});
