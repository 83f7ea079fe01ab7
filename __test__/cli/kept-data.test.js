'use strict';

/** `firelet data`: what is kept is listed, removed, made small and copied, and never behind a running suite's back. */

const assert = require('node:assert/strict');
const { existsSync, readdirSync } = require('node:fs');
const { join } = require('node:path');
const { test } = require('node:test');

const { firebaseProject } = require('../helpers/firebase-project.js');
const { cli } = require('../helpers/run.js');
const { rest, suiteFor } = require('../helpers/suite.js');

/** @param {import('node:test').TestContext} t */
function project(t) {
  const cwd = firebaseProject(t, { 'firebase.json': { firestore: {} }, '.firebaserc': { projects: { default: 'demo-kept' } } });
  const data = async (/** @type {string[]} */ ...flags) => {
    const program = cli(['data', ...flags], { cwd });
    t.after(() => program.child.kill('SIGKILL'));
    return await program.ended;
  };
  const json = async (/** @type {string[]} */ ...flags) => {
    const { code, stdout, stderr } = await data(...flags, '--json');
    const { status, ...rest } = JSON.parse(stdout);
    assert.equal(status, code === 0 ? 'success' : 'error', stderr);
    return rest;
  };
  const suite = (/** @type {object} */ more = {}) => suiteFor(t, { cwd, project: 'demo-kept', data: { keep: true, ...more } });
  return { cwd, data, json, suite };
}

/**
 * @param {import('../../index.js').Suite} suite
 * @param {number} from
 * @param {number} count
 * @param {number} [round] with another one they are other documents
 */
async function write(suite, from, count, round = 0) {
  const root = `projects/${suite.project}/databases/(default)/documents`;
  const text = 'x'.repeat(1_000);
  for (let n = from; n < from + count; n += 500) {
    /** @type {unknown[]} */
    const writes = Array.from({ length: 500 }, (_, k) => ({ update: { name: `${root}/books/${n + k}`, fields: { text: { stringValue: text }, round: { integerValue: String(round) } } } }));
    assert.equal((await rest(suite, 'POST', ':commit', { writes })).status, 200);
  }
}

const at = (/** @type {import('../../index.js').Suite} */ suite, /** @type {string} */ id) => ({ ...suite, firestore: suite.firestore, project: id });

test('without kept data it says so, and makes nothing', async (t) => {
  const { cwd, data } = project(t);
  for (const flags of [['list'], ['drop', '--force'], ['compact'], ['copy', 'to'], ['snapshots'], ['snapshots', 'drop', 'x', '--force']]) {
    const { code, stderr } = await data(...flags);
    assert.equal(code, 1, flags.join(' '));
    assert.match(stderr, /there is no kept data in .*\.firelet: `--keep-data` keeps some/);
  }
  assert.deepEqual(readdirSync(cwd).sort(), ['.firebaserc', 'firebase.json']);
});

test('what is kept is listed with its size, and removed only by force', async (t) => {
  const { cwd, data, json, suite: start } = project(t);
  const suite = await start();
  await write(suite, 0, 500);
  await write(at(suite, 'demo-other'), 0, 500);
  await suite.snapshot('after-signup');
  await suite.snapshot('only-one', { project: 'demo-kept' });

  const running = await json('list');
  assert.equal(running.result.inUse, true);
  for (const flags of [['drop', '--force'], ['compact'], ['copy', 'to'], ['snapshots', 'drop', 'only-one', '--force']]) {
    assert.equal((await json(...flags)).code, 'FIRELET_DATA_IN_USE', flags.join(' '));
  }
  await suite.stop();

  const { result } = await json('list');
  assert.equal(result.inUse, false);
  assert.deepEqual(result.databases.map((/** @type {any} */ one) => [one.service, one.project, one.database, one.format]), [
    ['firestore', 'demo-kept', '(default)', 3],
    ['firestore', 'demo-other', '(default)', 3],
  ]);
  for (const one of result.databases) {
    assert.ok(one.bytes > 500_000 && one.bytes < 5_000_000, `${one.bytes}`);
    assert.ok(Math.abs(one.lastUsedMs - Date.now()) < 600_000);
  }
  assert.deepEqual(result.snapshots, ['after-signup', 'only-one']);
  const text = (await data('list')).stdout;
  assert.match(text, /\.firelet: \d+\.\d MiB\n/);
  assert.match(text, /^demo-other +\(default\) +\S+ [KM]iB +3 +just now$/m);
  assert.match(text, /Snapshots: 2, .*`firelet data snapshots` lists them/);

  const asked = await data('drop', 'demo-other');
  assert.equal(asked.code, 1);
  assert.match(asked.stderr, /this would remove demo-other\/\(default\) \(.*\) for good: add `--force`/);
  assert.match((await data('drop', 'demo-othr', '--force')).stderr, /nothing is kept of `demo-othr`.*demo-kept\/\(default\), demo-other/);
  assert.equal((await json('list')).result.databases.length, 2);
  assert.deepEqual((await json('drop', 'demo-other/(default)', '--force')).result.removed, ['demo-other/(default)']);
  assert.deepEqual(readdirSync(join(cwd, '.firelet', 'firestore')), ['demo-kept']);
  assert.match((await data('drop', '--force')).stdout, /Removed demo-kept.*Snapshots stay: after-signup, only-one/);

  const listed = (await json('snapshots')).result.snapshots;
  assert.deepEqual(listed.map((/** @type {any} */ one) => [one.name, one.project]), [['after-signup', null], ['only-one', 'demo-kept']]);
  assert.match((await data('snapshots', 'list')).stdout, /^only-one +demo-kept +\S+ [KM]iB +just now$/m);
  assert.match((await data('snapshots', 'drop', 'only-one')).stderr, /add `--force`/);
  assert.match((await data('snapshots', 'drop', 'none', '--force')).stderr, /there is no snapshot `none`/);
  assert.deepEqual((await json('snapshots', 'drop', 'only-one', '--force')).result.removed, ['only-one']);
  const next = await start();
  assert.deepEqual(await next.snapshots(), ['after-signup']);
  await next.restore('after-signup');
  assert.equal((await rest(at(next, 'demo-other'), 'GET', '/books/7')).status, 200);
});

test('compact files hold the same in less room, and a copy can be used beside the first', async (t) => {
  const { cwd, data, json, suite: start } = project(t);
  let suite = await start();
  await write(suite, 0, 500);
  await suite.stop();
  const small = (await json('compact')).result;
  // The opening itself leaves a block or two.
  assert.ok(small.bytes <= small.bytesBefore + 16_384, `${small.bytes} of ${small.bytesBefore}: what is small stays as it is`);
  suite = await start();
  for (let round = 1; round < 8; round += 1) await write(suite, 0, 3_000, round);
  await rest(suite, 'PATCH', '/books/last', { fields: { n: { integerValue: '7' } } });
  await suite.stop();
  const { bytes, bytesBefore } = (await json('compact')).result;
  assert.ok(bytes < bytesBefore, `${bytes} of ${bytesBefore}`);
  const copied = await data('copy', 'elsewhere');
  assert.equal(copied.code, 0, copied.stderr);
  assert.match(copied.stdout, /Copied .* to .*elsewhere; `--keep-data --data-dir/);
  assert.equal(existsSync(join(cwd, 'elsewhere', 'lock')), false);
  assert.equal((await json('copy', 'elsewhere')).code, 'FIRELET_DATA_UNUSABLE');

  const [first, second] = [await start(), await start({ dir: join(cwd, 'elsewhere') })];
  for (const one of [first, second]) {
    assert.equal((await rest(one, 'GET', '/books/last')).body.fields.n.integerValue, '7');
    assert.equal((await rest(one, 'GET', '/books/2999')).status, 200);
  }
  await rest(second, 'DELETE', '/books/last');
  assert.equal((await rest(first, 'GET', '/books/last')).status, 200);
  assert.equal((await json('list', '--data-dir', 'elsewhere')).result.inUse, true);
});
