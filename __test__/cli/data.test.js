'use strict';

/** `--keep-data`: what one run of the command leaves for the next. */

const assert = require('node:assert/strict');
const { existsSync } = require('node:fs');
const { join } = require('node:path');
const { test } = require('node:test');

const { firebaseProject } = require('../helpers/firebase-project.js');
const { cli } = require('../helpers/run.js');

const PORTS = ['--firestore-port', '0', '--hub-port', '0'];

/** @param {string} request what `fetch` takes beside the address @param {string} then */
const script = (request, then) => `"${process.execPath}" -e "
  fetch('http://' + process.env.FIRESTORE_EMULATOR_HOST + '/v1/projects/demo-keep/databases/(default)/documents/books/a', ${request})
    .then((answer) => ${then})"`;
const WRITE = script("{ method: 'PATCH', body: JSON.stringify({ fields: { n: { integerValue: '1' } } }) }", 'process.exit(answer.ok ? 0 : 1)');
const READ = script('{}', "console.log('status ' + answer.status)");

/** @param {import('node:test').TestContext} t */
function project(t) {
  const cwd = firebaseProject(t, { 'firebase.json': { firestore: {} }, '.firebaserc': { projects: { default: 'demo-keep' } } });
  const exec = async (/** @type {string[]} */ flags, /** @type {string} */ line) => {
    const program = cli(['emulators:exec', ...PORTS, ...flags, line], { cwd });
    t.after(() => program.child.kill('SIGKILL'));
    return await program.ended;
  };
  return { cwd, exec };
}

test('data is kept where it is asked for, and only there', async (t) => {
  const { cwd, exec } = project(t);
  assert.equal((await exec([], WRITE)).code, 0);
  assert.equal(existsSync(join(cwd, '.firelet')), false);
  const kept = await exec(['--keep-data'], WRITE);
  assert.equal(kept.code, 0, kept.stderr);
  assert.match(kept.stdout, /Keeping data in .*\.firelet/);
  assert.match((await exec(['--keep-data=firestore'], READ)).stdout, /status 200/);
  assert.match((await exec([], READ)).stdout, /status 404/);
  assert.match((await exec(['--keep-data', '--data-dir', 'elsewhere'], READ)).stdout, /status 404/);
  assert.ok(existsSync(join(cwd, 'elsewhere', 'firestore')));
});

test('mistakes are told, and nothing is started', async (t) => {
  const { exec } = project(t);
  for (const { flags, expected } of [
    { flags: ['--keep-data=firestor'], expected: /firestor is not a valid emulator name.*did you mean/ },
    { flags: ['--keep-data=auth'], expected: /firelet does not have auth yet, so it cannot keep its data/ },
    { flags: ['--keep-data', 'firestore'], expected: /tip: write `--keep-data=firestore`/ },
    { flags: ['--data-dir', 'x'], expected: /--keep-data/ },
  ]) {
    const { code, stdout, stderr } = await exec(flags, 'echo ran');
    assert.equal(code, 1);
    assert.match(stderr, expected);
    assert.doesNotMatch(stdout, /^ran$/m);
  }
});
