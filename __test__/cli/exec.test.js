'use strict';

/** `emulators:exec`: the script's environment, its exit code, its signals and its streams. */

const assert = require('node:assert/strict');
const { test } = require('node:test');

const { firebaseProject } = require('../helpers/firebase-project.js');
const { cli, node, ROOT } = require('../helpers/run.js');

const PORTS = ['--firestore-port', '0', '--hub-port', '0'];

/** A command line for the shell that runs Node with a script. */
const nodeScript = (/** @type {string} */ source) => `"${process.execPath}" -e "${source.replaceAll('\n', ' ').replaceAll('"', '\\"')}"`;

/**
 * @param {import('node:test').TestContext} t
 * @param {string} script
 * @param {{ flags?: string[], env?: NodeJS.ProcessEnv }} [options]
 */
function exec(t, script, { flags = [], env = {} } = {}) {
  const cwd = firebaseProject(t, { 'firebase.json': { firestore: {} }, '.firebaserc': { projects: { default: 'demo-exec' } } });
  const program = cli(['emulators:exec', ...PORTS, ...flags, script], { cwd, env: { ...process.env, ...env } });
  t.after(() => program.child.kill('SIGKILL'));
  return program;
}

test('the script gets its variables, and the suite answers there', async (t) => {
  const source = `
    const { FIRESTORE_EMULATOR_HOST, FIREBASE_EMULATOR_HUB, GCLOUD_PROJECT, FIREBASE_CONFIG, MINE } = process.env;
    fetch('http://' + FIRESTORE_EMULATOR_HOST).then(async (answer) =>
      console.log('RESULT ' + JSON.stringify({ text: await answer.text(), hub: FIREBASE_EMULATOR_HUB, GCLOUD_PROJECT, FIREBASE_CONFIG, MINE })));`;
  const { code, stdout, stderr } = await exec(t, nodeScript(source), { env: { MINE: 'kept' } }).ended;
  assert.equal(code, 0, stderr);
  const seen = JSON.parse(/^RESULT (.*)$/m.exec(stdout)?.[1] ?? '{}');
  assert.equal(seen.text, 'Ok\n');
  assert.match(seen.hub, /^127\.0\.0\.1:\d+$/);
  assert.equal(seen.GCLOUD_PROJECT, 'demo-exec');
  assert.equal(JSON.parse(seen.FIREBASE_CONFIG).projectId, 'demo-exec');
  assert.equal(seen.MINE, 'kept');
});

test('the exit code is the script\'s', async (t) => {
  for (const expected of [0, 1, 2, 77, 255]) {
    const { code, stdout, stderr } = await exec(t, `exit ${expected}`).ended;
    assert.equal(code, expected);
    if (expected === 0) assert.match(stdout, /Script exited successfully \(code 0\)/);
    else assert.match(stderr, new RegExp(`Script exited unsuccessfully \\(code ${expected}\\)`));
  }
});

test('a script ended by a signal gives code 1 and the name of the signal', async (t) => {
  const { code, stderr } = await exec(t, 'kill -TERM $$').ended;
  assert.equal(code, 1);
  assert.match(stderr, /exited with signal: SIGTERM/);
});

test('output goes through as it is, on both streams, and input reaches the script', async (t) => {
  const cwd = firebaseProject(t, { 'firebase.json': { firestore: {} } });
  const program = cli(['emulators:exec', ...PORTS, '--log-verbosity', 'SILENT', 'cat; printf "b\\001c" >&2'], {
    cwd,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  program.child.stdin?.end('from outside\n');
  const { code, stdout, stderr } = await program.ended;
  assert.deepEqual([code, stdout, stderr], [0, 'from outside\n', 'b\u0001c']);
});

/** A program that says each SIGTERM it gets, and takes its time to end with `code`. */
const slowToEnd = (/** @type {number} */ code) =>
  nodeScript(`let count = 0;
    process.on('SIGTERM', () => { count += 1; console.log('caught ' + count); setTimeout(() => { console.log('ended'); process.exit(${code}); }, 300); });
    setInterval(() => undefined, 1000);
    console.log('program', 'is up');`);

for (const { name, script, expected } of [
  { name: 'a plain command', script: slowToEnd(41), expected: 41 },
  { name: 'a plain command that ends well', script: slowToEnd(0), expected: 0 },
  { name: 'a command in place of the shell', script: `exec ${slowToEnd(41)}`, expected: 41 },
  { name: 'one command of several', script: `${slowToEnd(41)}; echo never`, expected: 41 },
  // The rest of the script did not run, so it did not succeed.
  { name: 'one command of several that ends well', script: `${slowToEnd(0)}; echo never`, expected: 1 },
  { name: 'a command in the background', script: `${slowToEnd(41)} & wait`, expected: 1 },
]) {
  test(`a signal reaches the script once, and the suite waits for its end: ${name}`, async (t) => {
    const program = exec(t, script);
    await program.printed('program is up');
    program.child.kill('SIGTERM');
    const { code, stdout } = await program.ended;
    assert.match(stdout, /caught 1/);
    assert.doesNotMatch(stdout, /caught 2/);
    assert.doesNotMatch(stdout, /^never$/m);
    assert.ok(stdout.indexOf('ended') < stdout.indexOf('Stopping Firestore Emulator'), stdout);
    assert.equal(code, expected);
  });
}

test('a script that ignores the first signal is ended by the second', async (t) => {
  const program = exec(t, nodeScript(`process.on('SIGINT', () => console.log('ignored')); setInterval(() => undefined, 1000); console.log('script', 'is up');`));
  await program.printed('script is up');
  program.child.kill('SIGINT');
  await program.printed('ignored');
  // Signals closer than 100 ms to each other count as one.
  await new Promise((resolve) => setTimeout(resolve, 150));
  program.child.kill('SIGINT');
  const { code, signal } = await program.ended;
  assert.deepEqual([code, signal], [1, null]);
});

test('npm start -- --once runs the quickstart and gives its code', async () => {
  const { code, stdout, stderr } = await node(['npm/scripts/start.js', '--once', ...PORTS], { cwd: ROOT }).ended;
  assert.equal(code, 0, stderr);
  assert.match(stdout, /wrote 4 books to 127\.0\.0\.1:\d+/);
  assert.match(stdout, /1818 {2}Frankenstein, Mary Shelley\n {2}1961 {2}Solaris, Stanislaw Lem/);
  assert.match(stdout, /books by Ursula K\. Le Guin: 2/);
  assert.match(stdout, /Solaris was lent 2 times/);
});
