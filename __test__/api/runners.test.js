'use strict';

/**
 * The Jest and Vitest examples, run by the real runners with three workers against an installed
 * firelet, twice in a row.
 */

const assert = require('node:assert/strict');
const { cpSync } = require('node:fs');
const { basename, join } = require('node:path');
const { test } = require('node:test');

const { installed } = require('../helpers/installed.js');
const { node, ROOT } = require('../helpers/run.js');

/** The tests of one example: three files with the same 23 each. */
const TESTS = 69;

/** What this process has of the suites and runners around it must not reach the examples. */
function cleanEnv() {
  const { NODE_OPTIONS, NODE_TEST_CONTEXT, FIRESTORE_EMULATOR_HOST, GCLOUD_PROJECT, ...env } = process.env;
  return { ...env, CI: 'true', NO_COLOR: '1' };
}

/**
 * @param {import('node:test').TestContext} t
 * @param {string} name
 * @param {string[]} others
 */
function example(t, name, others) {
  const folder = installed(t, ['firebase-admin', ...others]);
  // Without what `npm install` may have put into the example: it leads to this repository.
  cpSync(join(ROOT, 'examples', name), folder, { recursive: true, filter: (source) => basename(source) !== 'node_modules' });
  return folder;
}

test('the Jest example', async (t) => {
  const cwd = example(t, 'jest', ['jest']);
  const jest = join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js');
  for (const run of ['first', 'second']) {
    const { code, stderr } = await node([jest, '--detectOpenHandles=false'], { cwd, env: cleanEnv() }).ended;
    assert.equal(code, 0, `${run} run:\n${stderr}`);
    assert.match(stderr, new RegExp(`Tests: +${TESTS} passed, ${TESTS} total`));
    assert.doesNotMatch(stderr, /did not exit|open handle|force exited/i);
  }
  const inBand = await node([jest, '--runInBand'], { cwd, env: cleanEnv() }).ended;
  assert.equal(inBand.code, 0, inBand.stderr);
});

test('the Vitest example, in processes and in threads', async (t) => {
  const cwd = example(t, 'vitest', ['vitest']);
  const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
  for (const pool of ['forks', 'forks', 'threads']) {
    const { code, stdout, stderr } = await node([vitest, 'run', '--pool', pool], { cwd, env: cleanEnv() }).ended;
    assert.equal(code, 0, `${pool}:\n${stdout}${stderr}`);
    assert.match(stdout, new RegExp(`Tests +${TESTS} passed \\(${TESTS}\\)`));
    assert.doesNotMatch(stdout + stderr, /close timed out|hanging/i);
  }
});

test('without globalSetup the helpers say what is missing', async (t) => {
  const cwd = installed(t);
  for (const entry of ['firelet/jest', 'firelet/vitest']) {
    const source = `require('${entry}').clear().catch((error) => console.log(error.code, error.message));`;
    const { stdout } = await node(['-e', `try { ${source} } catch (error) { console.log(error.code, error.message); }`], {
      cwd,
      env: cleanEnv(),
    }).ended;
    assert.match(stdout, /^FIRELET_NO_RUN there is no suite for this test run/);
    assert.ok(stdout.includes(`\`${entry}\``));
  }
});
