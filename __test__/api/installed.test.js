'use strict';

/** An installed firelet: it loads and runs without Rust, without a script, from require and import. */

const assert = require('node:assert/strict');
const { existsSync, readFileSync, readdirSync, rmSync } = require('node:fs');
const { join } = require('node:path');
const { test } = require('node:test');

const { installed } = require('../helpers/installed.js');
const { node } = require('../helpers/run.js');

/** An environment in which nothing but Node can be found. */
const BARE = { PATH: join(process.execPath, '..'), HOME: '/nonexistent' };

test('require and import find it, and the suite runs', async (t) => {
  const cwd = installed(t);
  const use = `start().then(async (suite) => {
    const answer = await fetch(suite.firestore.url);
    console.log(answer.status, FireletError.name);
    await suite.stop();
  });`;
  const required = await node(['-e', `const { start, FireletError } = require('firelet'); ${use}`], { cwd, env: BARE }).ended;
  assert.deepEqual([required.code, required.stdout], [0, '200 FireletError\n'], required.stderr);
  const imported = await node(['--input-type=module', '-e', `import { start, FireletError } from 'firelet'; ${use}`], { cwd, env: BARE }).ended;
  assert.deepEqual([imported.code, imported.stdout], [0, '200 FireletError\n'], imported.stderr);
  const named = await node(
    ['--input-type=module', '-e', "import { clear, projectId } from 'firelet/jest'; import { clear as other } from 'firelet/vitest'; console.log(typeof clear, typeof projectId, typeof other)"],
    { cwd, env: BARE },
  ).ended;
  assert.equal(named.stdout, 'function function function\n', named.stderr);
});

test('the command works', async (t) => {
  const cwd = installed(t);
  const { bin } = JSON.parse(readFileSync(join(cwd, 'node_modules/firelet/package.json'), 'utf8'));
  const program = node([join(cwd, 'node_modules/firelet', bin.firelet), '--version'], { cwd, env: BARE });
  const { code, stdout, stderr } = await program.ended;
  assert.equal(code, 0, stderr);
  assert.match(stdout, /\d+\.\d+\.\d+/);
});

test('the main package holds no binary, no source and no install script', (t) => {
  const folder = join(installed(t), 'node_modules', 'firelet');
  const { scripts = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  for (const name of ['preinstall', 'install', 'postinstall']) assert.equal(scripts[name], undefined);
  const files = /** @type {string[]} */ (readdirSync(folder, { recursive: true })).map(String);
  assert.deepEqual(files.filter((name) => /\.(node|rs|toml|test\.js)$/.test(name)), []);
  for (const name of ['index.js', 'index.d.ts', 'jest.js', 'jest.d.ts', 'vitest.js', 'vitest.d.ts', 'vitest-options.d.mts', 'LICENSE', 'README.md']) {
    assert.ok(existsSync(join(folder, name)), name);
  }
});

test('without the platform package the error says what to do', async (t) => {
  const cwd = installed(t);
  for (const name of readdirSync(join(cwd, 'node_modules')).filter((each) => each.startsWith('firelet-'))) {
    rmSync(join(cwd, 'node_modules', name), { recursive: true });
  }
  const source = "require('firelet').start().catch((error) => console.log(error.name, error.code, error.message));";
  const { stdout } = await node(['-e', source], { cwd, env: BARE }).ended;
  assert.match(stdout, /^FireletError FIRELET_BINDING_MISSING firelet has no native addon for \S+ here: reinstall/);
});
