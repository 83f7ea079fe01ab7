'use strict';

/** `emulators:start`: what it prints, what it serves, how it ends. */

const assert = require('node:assert/strict');
const { existsSync, readFileSync } = require('node:fs');
const net = require('node:net');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { test } = require('node:test');

const { firebaseProject } = require('../helpers/firebase-project.js');
const { cli } = require('../helpers/run.js');

const READY = 'All emulators ready! It is now safe to connect your app.';

/** Ports of their own, so that tests never meet anything else on the machine. */
const PORTS = ['--firestore-port', '0', '--hub-port', '0'];

/**
 * Starts the command in a new project and waits until it is ready.
 *
 * @param {import('node:test').TestContext} t
 * @param {{ config?: object, rc?: object, flags?: string[] }} [options]
 */
async function started(t, { config = { firestore: {} }, rc = {}, flags = [] } = {}) {
  const cwd = firebaseProject(t, { 'firebase.json': config, '.firebaserc': rc });
  const program = cli(['emulators:start', ...PORTS, ...flags], { cwd });
  t.after(() => program.child.kill('SIGKILL'));
  await program.printed(READY);
  const [, firestore] = await program.printed(/Firestore\s+\u2502 127\.0\.0\.1:(\d+)/);
  const [, hub] = await program.printed(/Emulator Hub host: 127\.0\.0\.1 port: (\d+)/);
  return { program, firestore: `http://127.0.0.1:${firestore}`, hub: `http://127.0.0.1:${hub}` };
}

test('it prints a table of services with addresses and time, and serves there', async (t) => {
  const { program, firestore, hub } = await started(t, { rc: { projects: { default: 'demo-table' } } });
  await program.printed(/Project demo-table, ready in \d+ ms\. Ctrl-C stops\./);
  assert.equal(await (await fetch(firestore)).text(), 'Ok\n');
  const emulators = /** @type {any} */ (await (await fetch(`${hub}/emulators`)).json());
  assert.equal(`http://${emulators.firestore.host}:${emulators.firestore.port}`, firestore);
});

test('Ctrl-C once stops it cleanly with code 0', async (t) => {
  const { program, firestore } = await started(t);
  program.child.kill('SIGINT');
  const { code, signal, stdout } = await program.ended;
  assert.deepEqual([code, signal], [0, null]);
  assert.match(stdout, /Received SIGINT \(Ctrl-C\) for the first time\. Starting a clean shutdown\./);
  assert.match(stdout, /Stopping Firestore Emulator/);
  await assert.rejects(fetch(firestore));
});

test('SIGTERM does the same', async (t) => {
  const { program } = await started(t);
  program.child.kill('SIGTERM');
  const { code, signal } = await program.ended;
  assert.deepEqual([code, signal], [0, null]);
});

test('a second Ctrl-C does not wait, and the locator file is gone all the same', async (t) => {
  const project = `demo-locator-${process.pid}`;
  const { program, firestore, hub } = await started(t, { flags: ['--project', project] });
  const locator = join(tmpdir(), `hub-${project}.json`);
  const { origins, pid } = JSON.parse(readFileSync(locator, 'utf8'));
  assert.equal(pid, program.child.pid);
  assert.ok(origins.includes(hub));
  // A request that never ends keeps the first stop waiting for its grace.
  const pending = net.connect(Number(new URL(firestore).port), '127.0.0.1');
  pending.on('error', () => undefined);
  pending.write('POST /v1/projects/p/databases/d/documents:commit HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{');
  program.child.kill('SIGINT');
  await program.printed('for the first time');
  await new Promise((resolve) => setTimeout(resolve, 120));
  program.child.kill('SIGINT');
  const { signal } = await program.ended;
  pending.destroy();
  assert.equal(signal, null);
  assert.equal(existsSync(locator), false);
});

test('what firelet does not have is a warning by name, and the rest starts', async (t) => {
  const config = { firestore: {}, emulators: { auth: { port: 9099 }, storage: {}, ui: { enabled: true } } };
  const { program } = await started(t, { config });
  for (const name of [/auth/i, /storage/i]) assert.match((await program.printed(name))[0], name);
  program.child.kill('SIGINT');
  const { stderr } = await program.ended;
  assert.match(stderr, /auth[^\n]*not[^\n]*yet|not[^\n]*Authentication Emulator yet/i);
  assert.match(stderr, /storage[^\n]*not[^\n]*yet|not[^\n]*Storage Emulator yet/i);
});

test('a port that is taken ends it with code 1 and the name of the service', async (t) => {
  const { firestore } = await started(t);
  const port = new URL(firestore).port;
  const cwd = firebaseProject(t, { 'firebase.json': { emulators: { firestore: { port: Number(port) }, hub: { port: 0 } } } });
  const { code, stderr } = await cli(['emulators:start'], { cwd }).ended;
  assert.equal(code, 1);
  assert.match(stderr, new RegExp(`Port ${port} is not open on localhost`));
  assert.match(stderr, /Could not start Firestore Emulator, port taken\./);
});

test('it is ready within 400 ms from cold', async (t) => {
  const times = [];
  for (let run = 0; run < 7; run++) {
    const { program } = await started(t);
    times.push(Number((await program.printed(/ready in (\d+) ms/))[1]));
    program.child.kill('SIGINT');
    await program.ended;
  }
  const median = times.sort((a, b) => a - b)[3];
  assert.ok(median <= 400, `median ${median} of ${times}`);
});

test('mistakes on the command line and in files are one clear line, with code 1', async (t) => {
  const project = { 'firebase.json': { firestore: {} } };
  /** @type {[string[], { [name: string]: string | object }, RegExp][]} */
  const cases = [
    [['emulators:start'], {}, /Not in a Firebase app directory/],
    [['emulators:strat'], project, /emulators:start/],
    [['emulators:start', '--only', 'firestor,auth'], project, /firestor/],
    [['emulators:start', '--only', 'auth'], project, /firelet does not have auth yet/],
    [['emulators:start'], { 'firebase.json': {} }, /No emulators to start: .*firebase\.json` names none; add/],
    [['emulators:start'], { 'firebase.json': { emulators: { firestor: {} } } }, /did you mean `firestore`\?/],
    [['emulators:start', '--onec'], project, /unexpected argument '--onec' found\n\nUsage/],
    [['emulators:start', ...PORTS], { ...project, '.firebaserc': '{' }, /JSON error trying to load .*\.firebaserc: .* on line 1/],
    [['emulators:start'], { 'firebase.json': { emulators: { auth: {} } } }, /firelet does not have auth yet/],
    [['emulators:start', '--config', 'no.json'], project, /Could not load config file/],
    [['emulators:start', '--project', 'Upper'], project, /Invalid project id: Upper/],
    [['emulators:start', '--firestore-port', 'x'], project, /firestore-port/],
    [['emulators:start', '--import', 'dir'], project, /--import/],
    [['emulators:export', 'dir'], project, /emulators:export/],
    [['emulators:start'], { 'firebase.json': '{ "firestore": ' }, /firebase\.json/],
    [['emulators:exec', ...PORTS], project, /script/i],
  ];
  for (const [flags, files, expected] of cases) {
    const cwd = firebaseProject(t, files);
    const { code, stderr } = await cli(flags, { cwd }).ended;
    assert.equal(code, 1, `${flags}: ${stderr}`);
    assert.match(stderr, expected, String(flags));
    assert.ok(!/panicked|at Object|\.js:\d/.test(stderr), stderr);
  }
});

test('--json prints one object and nothing else', async (t) => {
  const cwd = firebaseProject(t, { 'firebase.json': { firestore: {} } });
  const good = await cli(['emulators:exec', ...PORTS, '--json', 'true'], { cwd }).ended;
  assert.equal(good.code, 0);
  assert.equal(JSON.parse(good.stdout).status, 'success');
  const bad = await cli(['emulators:start', '--json', '--config', 'no.json'], { cwd }).ended;
  assert.equal(bad.code, 1);
  assert.equal(JSON.parse(bad.stdout).status, 'error');
});

test('--help and --version', async () => {
  const help = await cli(['--help']).ended;
  assert.equal(help.code, 0);
  for (const verb of ['emulators:start', 'emulators:exec', 'emulators:export']) assert.ok(help.stdout.includes(verb));
  const version = await cli(['--version']).ended;
  assert.equal(version.code, 0);
  assert.match(version.stdout, new RegExp(require('../../package.json').version.replaceAll('.', '\\.')));
});
