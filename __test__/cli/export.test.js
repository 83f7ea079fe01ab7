'use strict';

/** `--import`, `--export-on-exit` and `emulators:export`, also where the process is killed or the disk is full. */

const assert = require('node:assert/strict');
const { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { test } = require('node:test');

const { start } = require('../../index.js');
const { firebaseProject } = require('../helpers/firebase-project.js');
const { cli, node } = require('../helpers/run.js');
const { rest } = require('../helpers/suite.js');

const PORTS = ['--firestore-port', '0', '--hub-port', '0'];
const KILLS = 50;

/** @param {string} method @param {string} then */
const script = (method, then) => `"${process.execPath}" -e "
  fetch('http://' + process.env.FIRESTORE_EMULATOR_HOST + '/v1/projects/' + process.env.GCLOUD_PROJECT + '/databases/(default)/documents/books/a', { method: '${method}', ${method === 'PATCH' ? "body: '{}'" : ''} })
    .then((answer) => ${then})"`;
const WRITE = script('PATCH', 'process.exit(answer.ok ? 0 : 1)');
const READ = script('GET', "console.log('status ' + answer.status)");

/** @param {import('node:test').TestContext} t */
function project(t) {
  const id = `demo-export-${process.pid}-${Math.random().toString(36).slice(2, 8)}`;
  const cwd = firebaseProject(t, { 'firebase.json': { firestore: {} }, '.firebaserc': { projects: { default: id } } });
  const run = (/** @type {string[]} */ ...parameters) => {
    const program = cli(parameters, { cwd });
    t.after(() => program.child.kill('SIGKILL'));
    return program;
  };
  return { cwd, id, run };
}

/** Writes an export of so many documents. @param {string} dir @param {string} id @param {number} count */
async function seed(dir, id, count) {
  const suite = await start({ config: false, project: id });
  for (let from = 0; from < count; from += 500) {
    const writes = Array.from({ length: Math.min(500, count - from) }, (_, at) => ({
      update: { name: `projects/${id}/databases/(default)/documents/books/${from + at}`, fields: { text: { stringValue: 'x'.repeat(100) } } },
    }));
    assert.equal((await rest(suite, 'POST', ':commit', { writes })).status, 200);
  }
  await suite.export(dir);
  await suite.stop();
}

test('a script goes on from what the one before has left', async (t) => {
  const { cwd, run } = project(t);
  const flags = ['--import', 'seed', '--export-on-exit=seed', ...PORTS];
  const first = await run('emulators:exec', ...flags, `${WRITE}; exit 3`).ended;
  assert.equal(first.code, 3, first.stderr);
  assert.match(first.stdout, /Automatically exporting data using --export-on-exit/);
  assert.ok(existsSync(join(cwd, 'seed', 'firebase-export-metadata.json')));
  const second = await run('emulators:exec', ...flags, READ).ended;
  assert.match(second.stdout, /Imported 1 documents/);
  assert.match(second.stdout, /status 200/);
  assert.deepEqual(readdirSync(cwd).sort(), ['.firebaserc', 'firebase.json', 'seed']);
});

test('mistakes are told as the official command tells them', async (t) => {
  const { cwd, run } = project(t);
  mkdirSync(join(cwd, 'empty'));
  for (const { flags, code, expected } of [
    { flags: ['--import', 'none'], code: 1, expected: /Directory ".*none" does not exist\./ },
    { flags: ['--export-on-exit=.'], code: 1, expected: /must not point to the current directory or parents/ },
    { flags: ['--import', 'empty'], code: 0, expected: /Could not find import\/export metadata file, skipping data import!/ },
  ]) {
    const ended = await run('emulators:exec', ...PORTS, ...flags, 'true').ended;
    assert.match(ended.stderr, expected);
    assert.equal(ended.code, code);
  }
  const ended = await run('emulators:export', 'x').ended;
  assert.equal(ended.code, 1);
  assert.match(ended.stderr, /Did not find any running emulators for project demo-export-/);
});

test('emulators:export has the running suite write', async (t) => {
  const { cwd, id, run } = project(t);
  await seed(join(cwd, 'seed'), id, 10);
  const suite = run('emulators:start', ...PORTS, '--import', 'seed');
  await suite.printed('ready');
  const exported = await run('emulators:export', 'out').ended;
  assert.equal(exported.code, 0, exported.stderr);
  assert.match(exported.stdout, /Export complete/);
  assert.deepEqual(readFileSync(join(cwd, 'out/firestore_export/all_namespaces/all_kinds/output-0')), readFileSync(join(cwd, 'seed/firestore_export/all_namespaces/all_kinds/output-0')));
  mkdirSync(join(cwd, 'foreign'));
  writeFileSync(join(cwd, 'foreign', 'notes.txt'), 'mine');
  const refused = await run('emulators:export', 'foreign').ended;
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /holds other files than an export/);
  assert.deepEqual(readdirSync(join(cwd, 'foreign')), ['notes.txt']);
  assert.equal((await run('emulators:export', '--force', 'foreign').ended).code, 0);
  assert.equal(readFileSync(join(cwd, 'foreign', 'notes.txt'), 'utf8'), 'mine');
  suite.child.kill('SIGINT');
  assert.equal((await suite.ended).code, 0);
});

test('a process killed at any moment of an export leaves a whole one', async (t) => {
  const { cwd, id } = project(t);
  const dir = join(cwd, 'out');
  await seed(join(cwd, 'seed'), id, 2_000);
  await seed(dir, id, 1);
  const source = `
    const { start } = require(${JSON.stringify(join(__dirname, '../../index.js'))});
    start({ config: false, project: '${id}', data: { import: 'seed' } }).then(async (suite) => {
      console.log('begin');
      for (;;) await suite.export('out');
    });`;
  for (let kill = 0; kill < KILLS; kill += 1) {
    const program = node(['-e', source], { cwd });
    await program.printed('begin');
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 60));
    program.child.kill('SIGKILL');
    await program.ended;
    const suite = await start({ config: false, project: id, data: { import: dir } });
    const { documents } = await suite.export(join(cwd, 'copy'));
    await suite.stop();
    assert.ok(documents === 1 || documents === 2_000, `${documents} documents after kill ${kill}`);
  }
  assert.deepEqual(readdirSync(cwd).filter((name) => name.endsWith('.firelet-export')), []);
});

test('a disk that takes no more leaves the old export', async (t) => {
  const { cwd, id } = project(t);
  await seed(join(cwd, 'seed'), id, 2_000);
  await seed(join(cwd, 'out'), id, 1);
  const source = `
    const { start } = require(${JSON.stringify(join(__dirname, '../../index.js'))});
    start({ config: false, project: '${id}', data: { import: 'seed' } }).then(async (suite) => {
      await suite.export('out').catch((error) => console.log(error.code + ' ' + error.message));
      await suite.stop();
    });`;
  // No file may grow beyond 64 KiB.
  const shell = node(['-e', `require('node:child_process').spawnSync('sh', ['-c', 'trap "" XFSZ; ulimit -f 128; exec "$0" -e "$1"', process.execPath, ${JSON.stringify(source)}], { stdio: 'inherit' })`], { cwd });
  const { stdout } = await shell.ended;
  assert.match(stdout, /FIRELET_EXPORT_FAILED could not write .*output-0/);
  const suite = await start({ config: false, project: id, data: { import: join(cwd, 'out') } });
  assert.deepEqual(await suite.export(join(cwd, 'copy')), { documents: 1 });
  await suite.stop();
  assert.deepEqual(readdirSync(cwd).filter((name) => name.endsWith('.firelet-export')), []);
});

test('a signal does not shorten an export', async (t) => {
  const { cwd, id, run } = project(t);
  await seed(join(cwd, 'seed'), id, 20_000);
  const suite = run('emulators:start', ...PORTS, '--import', 'seed', '--export-on-exit=out');
  await suite.printed('ready');
  suite.child.kill('SIGINT');
  await suite.printed('Automatically exporting');
  suite.child.kill('SIGTERM');
  const { code, stdout, stderr } = await suite.ended;
  assert.equal(code, 0, stderr);
  assert.match(stdout, /Export complete/);
  assert.ok(existsSync(join(cwd, 'out', 'firebase-export-metadata.json')));
});
