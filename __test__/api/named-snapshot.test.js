'use strict';

/** Snapshots by name: as long as the suite without kept data, for the suites after it with. */

const assert = require('node:assert/strict');
const { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { test } = require('node:test');

const { node, ROOT } = require('../helpers/run.js');
const { rest, suiteFor } = require('../helpers/suite.js');

/** @typedef {import('../../index.js').Suite} Suite */

const at = (/** @type {Suite} */ suite, /** @type {string} */ project) => ({ ...suite, firestore: suite.firestore, project });

/** @param {import('node:test').TestContext} t */
function folder(t) {
  const dir = mkdtempSync(join(tmpdir(), 'firelet-named-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** @param {Suite} suite @param {string} path @param {number} n */
const put = async (suite, path, n) => {
  assert.equal((await rest(suite, 'PATCH', path, { fields: { n: { integerValue: String(n) } } })).status, 200);
};

/** The `n` of some documents. @param {Suite} suite @param {string[]} paths */
const read = (suite, ...paths) =>
  Promise.all(paths.map(async (path) => Number((await rest(suite, 'GET', path)).body.fields?.n?.integerValue)));

test('a name is as good as the snapshot, and means the newest one', async (t) => {
  const suite = await suiteFor(t, { project: 'demo-names' });
  await put(suite, '/books/a', 1);
  const first = await suite.snapshot('after.Signup_1');
  await put(suite, '/books/a', 2);
  await suite.snapshot('other', { project: 'demo-names' });
  assert.deepEqual(await suite.snapshots(), ['after.Signup_1', 'other']);
  for (const [name, expected] of /** @type {const} */ ([['after.Signup_1', 1], ['other', 2], ['after.Signup_1', 1]])) {
    await suite.restore(name);
    assert.deepEqual(await read(suite, '/books/a'), [expected]);
  }
  await put(suite, '/books/a', 3);
  await suite.snapshot('after.Signup_1');
  await put(suite, '/books/a', 4);
  await suite.restore('after.Signup_1');
  assert.deepEqual(await read(suite, '/books/a'), [3]);
  await suite.restore(first);
  assert.deepEqual(await read(suite, '/books/a'), [1]);
});

test('mistakes are told', async (t) => {
  const suite = await suiteFor(t, { project: 'demo-names' });
  for (const name of ['', 'a/b', 'a b', 'é', 'x'.repeat(65)]) {
    await assert.rejects(suite.snapshot(name), { code: 'FIRELET_INVALID_OPTION' });
  }
  await assert.rejects(suite.restore('none'), { code: 'FIRELET_NO_SNAPSHOT', message: /none was taken by a name/ });
  await suite.snapshot('one');
  await assert.rejects(suite.restore('two'), { code: 'FIRELET_NO_SNAPSHOT', message: /there are `one`/ });
  for (let n = 1; n < 100; n += 1) await suite.snapshot(`more-${n}`);
  await assert.rejects(suite.snapshot('too-many'), { code: 'FIRELET_INVALID_OPTION', message: /100 named snapshots/ });
  await suite.snapshot('one');
  await suite.stop();
  for (const late of [suite.snapshot('x'), suite.restore('one'), suite.snapshots()]) {
    await assert.rejects(late, { code: 'FIRELET_STOPPED' });
  }
});

test('the next suite restores what was kept, whatever ended the one before', async (t) => {
  const cwd = folder(t);
  const options = { cwd, project: 'demo-names', data: { keep: true } };
  const script = `
    const { start } = require(${JSON.stringify(ROOT)});
    start(${JSON.stringify({ config: false, ...options })}).then(async (suite) => {
      const put = (path, n) => fetch(suite.firestore.url + '/v1/projects/' + path, {
        method: 'PATCH', body: JSON.stringify({ fields: { n: { integerValue: String(n) } } }),
      });
      const documents = 'demo-names/databases/(default)/documents/books/';
      await put(documents + 'a', 1);
      await put(documents + 'b', 1);
      await put('Demo:Other/databases/second/documents/books/a', 1);
      await suite.snapshot('old');
      await put(documents + 'a', 2);
      await suite.snapshot('after-signup');
      await suite.snapshot('old');
      await put(documents + 'a', 3);
      console.log('taken');
    });`;
  const program = node(['-e', script], { cwd });
  t.after(() => program.child.kill('SIGKILL'));
  await program.printed('taken');
  program.child.kill('SIGKILL');
  await program.ended;

  const other = (/** @type {Suite} */ suite) => fetch(`${suite.firestore.url}/v1/projects/Demo:Other/databases/second/documents/books/a`);
  const suite = await suiteFor(t, options);
  assert.deepEqual(await suite.snapshots(), ['after-signup', 'old']);
  assert.deepEqual(await read(suite, '/books/a'), [3]);
  await suite.clear();
  await put(suite, '/books/c', 1);
  await put(at(suite, 'demo-later'), '/books/a', 1);
  for (let turn = 0; turn < 2; turn += 1) {
    await suite.restore('after-signup');
    assert.deepEqual(await read(suite, '/books/a', '/books/b', '/books/c'), [2, 1, Number.NaN]);
    assert.deepEqual(await read(at(suite, 'demo-later'), '/books/a'), [Number.NaN]);
    assert.equal((await other(suite)).status, 200);
    await put(suite, '/books/a', 10 + turn);
  }
  await suite.restore('old');
  assert.deepEqual(await read(suite, '/books/a'), [2]);
  const found = await rest(suite, 'POST', ':runQuery', {
    structuredQuery: { from: [{ collectionId: 'books' }], where: { fieldFilter: { field: { fieldPath: 'n' }, op: 'EQUAL', value: { integerValue: '2' } } } },
  });
  assert.equal(found.body.length, 1);
  await suite.stop();

  // What was restored is kept like anything else, and so are the snapshots.
  const third = await suiteFor(t, options);
  assert.deepEqual(await read(third, '/books/a'), [2]);
  assert.deepEqual(await third.snapshots(), ['after-signup', 'old']);
});

test('of a snapshot that was never finished nothing counts, and the next one takes its room', async (t) => {
  const cwd = folder(t);
  const options = { cwd, project: 'demo-names', data: { keep: true } };
  const first = await suiteFor(t, options);
  await put(first, '/books/a', 1);
  await first.snapshot('whole');
  await first.snapshot('cut');
  await first.stop();
  const snapshots = join(cwd, '.firelet', 'snapshots');
  assert.deepEqual(readdirSync(snapshots).sort(), ['cut.1', 'whole.1']);
  rmSync(join(snapshots, 'cut.1', 'snapshot.json'));
  const second = await suiteFor(t, options);
  assert.deepEqual(await second.snapshots(), ['whole']);
  await assert.rejects(second.restore('cut'), { code: 'FIRELET_NO_SNAPSHOT' });
  await second.snapshot('cut');
  assert.deepEqual(await second.snapshots(), ['cut', 'whole']);
  assert.equal(existsSync(join(snapshots, 'cut.1')), false);
  writeFileSync(join(snapshots, 'whole.1', 'snapshot.json'), '{}');
  await assert.rejects(second.snapshots(), { code: 'FIRELET_DATA_UNUSABLE', message: /whole\.1/ });
});

test('clients go on while a snapshot is written, and stopping does not wait for all of it', async (t) => {
  const cwd = folder(t);
  const suite = await suiteFor(t, { cwd, project: 'demo-names', data: { keep: true } });
  const text = 'x'.repeat(2_000);
  for (let batch = 0; batch < 20; batch += 1) {
    const writes = Array.from({ length: 500 }, (_, n) => ({
      update: { name: `projects/demo-names/databases/(default)/documents/books/${batch}-${n}`, fields: { text: { stringValue: text } } },
    }));
    assert.equal((await rest(suite, 'POST', ':commit', { writes })).status, 200);
  }
  const taken = suite.snapshot('large');
  // Whether it comes before the snapshot or after is nobody's promise; that it is taken is.
  await put(suite, '/books/meanwhile', 1);
  await taken;
  await put(suite, '/books/later', 1);
  await suite.restore('large');
  assert.deepEqual(await read(suite, '/books/later'), [Number.NaN]);
  const cut = suite.snapshot('cut');
  const stopped = suite.stop();
  // It was done before, or it was stopped: whatever is there afterwards is whole.
  const done = await cut.then(() => true, (error) => { assert.equal(error.code, 'FIRELET_STOPPED'); return false; });
  await stopped;
  const next = await suiteFor(t, { cwd, project: 'demo-names', data: { keep: true } });
  const names = await next.snapshots();
  assert.ok(names.includes('large') && (!done || names.includes('cut')), `${done}: ${names}`);
  for (const name of names) await next.restore(name);
});
