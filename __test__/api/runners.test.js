'use strict';

/**
 * The examples, run by the real runners against an installed firelet: those of Jest and Vitest with three workers,
 * twice in a row.
 */

const assert = require('node:assert/strict');
const { cpSync, readFileSync, writeFileSync } = require('node:fs');
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

test('the example of seeds', async (t) => {
  const cwd = example(t, 'seeds', ['jest']);
  const jest = join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js');
  const { code, stderr } = await node([jest], { cwd, env: cleanEnv() }).ended;
  assert.equal(code, 0, stderr);
  assert.match(stderr, /Tests: +3 passed, 3 total/);
});

for (const { name, tests } of [{ name: 'kept-data', tests: 2 }, { name: 'snapshots', tests: 3 }]) {
  test(`the example of ${name}`, async (t) => {
    const cwd = example(t, name, []);
    const { code, stdout } = await node(['--test', '--test-reporter=tap'], { cwd, env: cleanEnv() }).ended;
    assert.equal(code, 0, stdout);
    assert.match(stdout, new RegExp(`^# pass ${tests}$`, 'm'));
  });
}

/** What restores may cost 200 tests, all of them together. */
const RESTORES_MS_MAX = 1_000;

for (const runner of /** @type {const} */ (['jest', 'vitest'])) {
  test(`200 tests of ${runner} go back to a seed of 2,000 documents before each, in less than a second in all`, async (t) => {
    const cwd = installed(t, ['firebase-admin', runner]);
    const config = { project: 'demo-many', seed: 'seed.cjs' };
    const globals = runner === 'jest' ? '' : "import { afterAll, beforeEach, expect, test } from 'vitest';\nimport { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);\n";
    const files = {
      'seed.cjs': "module.exports = Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`books/${n}`, { n }]));",
      'jest.config.cjs': `module.exports = { testEnvironment: 'node', globalSetup: 'firelet/jest', setupFiles: ['firelet/jest'], globals: { firelet: ${JSON.stringify(config)} }, transform: {} };`,
      'vitest.config.mjs': `export default { test: { globalSetup: ['firelet/vitest'], setupFiles: ['firelet/vitest'], provide: { firelet: ${JSON.stringify(config)} } } };`,
      [runner === 'jest' ? 'many.test.js' : 'many.test.mjs']: `${globals}
        const { writeFileSync } = require('node:fs');
        const { getFirestore } = require('firebase-admin/firestore');
        const { initializeApp } = require('firebase-admin/app');
        const { restore } = require('firelet/${runner}');
        const db = getFirestore(initializeApp());
        const spent = [];
        beforeEach(async () => {
          const began = process.hrtime.bigint();
          await restore();
          spent.push(Number(process.hrtime.bigint() - began) / 1e6);
        });
        afterAll(async () => {
          await db.terminate();
          writeFileSync('spent.json', JSON.stringify(spent));
        });
        test.each(Array.from({ length: 200 }, (_, n) => n))('finds the seed, round %i', async (n) => {
          expect((await db.collection('books').count().get()).data().count).toBe(2_000);
          await Promise.all([db.doc('books/' + n).delete(), db.doc('more/' + n).set({ n })]);
          expect((await db.collection('books').count().get()).data().count).toBe(1_999);
        });`,
    };
    for (const [file, text] of Object.entries(files)) writeFileSync(join(cwd, file), text);
    const bin = runner === 'jest' ? ['jest', 'bin', 'jest.js'] : ['vitest', 'vitest.mjs'];
    const command = [join(ROOT, 'node_modules', ...bin), ...(runner === 'jest' ? [] : ['run'])];
    const { code, stdout, stderr } = await node(command, { cwd, env: cleanEnv() }).ended;
    assert.equal(code, 0, stdout + stderr);
    assert.match(stdout + stderr, /200 passed/);
    /** @type {number[]} */
    const spent = JSON.parse(readFileSync(join(cwd, 'spent.json'), 'utf8'));
    const total = spent.reduce((sum, one) => sum + one);
    // The median, because what else the machine does at a moment is not the restore's.
    const usual = ([...spent].sort((a, b) => a - b)[100] ?? Infinity) * spent.length;
    t.diagnostic(`${runner}: ${total.toFixed(0)} ms for 200 restores, ${usual.toFixed(0)} ms by their median`);
    assert.ok(usual < RESTORES_MS_MAX, `${usual} ms`);
  });
}

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
