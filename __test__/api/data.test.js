'use strict';

/** Kept data: found again by the next suite, whatever ended the one before, and nothing left without it. */

const assert = require('node:assert/strict');
const { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { test } = require('node:test');

const { start } = require('../../index.js');
const { node, ROOT } = require('../helpers/run.js');
const { rest, suiteFor } = require('../helpers/suite.js');

/** @param {import('node:test').TestContext} t */
function folder(t) {
  const dir = mkdtempSync(join(tmpdir(), 'firelet-data-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

const book = (/** @type {number} */ n) => ({ fields: { n: { integerValue: String(n) } } });

test('the next suite finds what was kept, with its times', async (t) => {
  const cwd = folder(t);
  const first = await suiteFor(t, { cwd, project: 'demo-kept', data: { keep: true } });
  const other = { ...first, firestore: first.firestore, project: 'Demo:Other' };
  const written = (await rest(first, 'PATCH', '/books/a', book(1))).body;
  await rest(other, 'PATCH', '/books/b', book(2));
  await first.stop();
  assert.ok(existsSync(join(cwd, '.firelet', 'firestore')));
  assert.equal(readFileSync(join(cwd, '.firelet', '.gitignore'), 'utf8'), '*\n');

  const second = await suiteFor(t, { cwd, project: 'demo-kept', data: { keep: ['firestore'] } });
  assert.deepEqual((await rest(second, 'GET', '/books/a')).body, written);
  assert.deepEqual((await rest({ ...other, firestore: second.firestore }, 'GET', '/books/b')).body.fields, book(2).fields);
  const found = await rest(second, 'POST', ':runQuery', {
    structuredQuery: { from: [{ collectionId: 'books' }], where: { fieldFilter: { field: { fieldPath: 'n' }, op: 'EQUAL', value: { integerValue: '1' } } } },
  });
  assert.equal(found.body[0].document.name, written.name);
  const again = (await rest(second, 'PATCH', '/books/a', book(3))).body;
  assert.ok(again.updateTime > written.updateTime);
  assert.equal(again.createTime, written.createTime);

  await second.clear();
  await second.stop();
  const third = await suiteFor(t, { cwd, project: 'demo-kept', data: { keep: true } });
  assert.equal((await rest(third, 'GET', '/books/a')).status, 404);
});

test('of a project that was only looked at nothing is kept', async (t) => {
  const cwd = folder(t);
  const suite = await suiteFor(t, { cwd, project: 'demo-kept', data: { keep: true } });
  await rest(suite, 'PATCH', '/books/a', book(1));
  const looked = { ...suite, firestore: suite.firestore, project: 'demo-looked-at' };
  assert.equal((await rest(looked, 'GET', '/books/a')).status, 404);
  await suite.stop();
  assert.deepEqual(readdirSync(join(cwd, '.firelet', 'firestore')), ['demo-kept']);
});

test('without kept data nothing is left on the disk', async (t) => {
  const cwd = folder(t);
  for (const data of [undefined, { keep: false }, { keep: [] }]) {
    const suite = await suiteFor(t, { cwd, ...(data && { data }) });
    await rest(suite, 'PATCH', '/books/a', book(1));
    await suite.stop();
    assert.deepEqual(readdirSync(cwd), []);
  }
});

for (const durability of /** @type {const} */ (['write-behind', 'per-commit'])) {
  test(`a killed process loses nothing that was acknowledged: ${durability}`, async (t) => {
    const cwd = folder(t);
    const script = `
      const { start } = require(${JSON.stringify(ROOT)});
      start({ cwd: ${JSON.stringify(cwd)}, config: false, project: 'demo-killed', data: { keep: true, durability: '${durability}' } }).then(async (suite) => {
        for (let n = 0; ; n += 1) {
          const url = suite.firestore.url + '/v1/projects/demo-killed/databases/(default)/documents/books/' + n;
          const answer = await fetch(url, { method: 'PATCH', body: JSON.stringify(${JSON.stringify(book(7))}) });
          if (answer.ok) console.log('acknowledged ' + n);
        }
      });`;
    const program = node(['-e', script], { cwd });
    t.after(() => program.child.kill('SIGKILL'));
    await program.printed('acknowledged 200');
    program.child.kill('SIGKILL');
    const { stdout } = await program.ended;
    const acknowledged = [...stdout.matchAll(/^acknowledged (\d+)$/gm)].map((match) => match[1]);
    const suite = await suiteFor(t, { cwd, project: 'demo-killed', data: { keep: true } });
    const names = acknowledged.map((n) => `projects/demo-killed/databases/(default)/documents/books/${n}`);
    const { body } = await rest(suite, 'POST', ':batchGet', { documents: names });
    assert.deepEqual(body.map((/** @type {any} */ one) => one.found?.name), names);
  });
}

test('one suite at a time uses a folder', async (t) => {
  const dir = join(folder(t), 'data');
  const first = await suiteFor(t, { data: { keep: true, dir } });
  await assert.rejects(start({ config: false, data: { keep: true, dir } }), { code: 'FIRELET_DATA_IN_USE', message: new RegExp(`the data in .*data is in use by another suite`) });
  await first.stop();
  const second = await suiteFor(t, { data: { keep: true, dir } });
  assert.equal((await rest(second, 'GET', '/books/a')).status, 404);
});

test('a folder with something else in it, or from the future, is left alone', async (t) => {
  for (const { file, text, code } of [
    { file: 'notes.txt', text: 'mine', code: 'FIRELET_DATA_UNUSABLE' },
    { file: 'format', text: 'firelet 999\n', code: 'FIRELET_DATA_TOO_NEW' },
  ]) {
    const dir = folder(t);
    writeFileSync(join(dir, file), text);
    await assert.rejects(start({ config: false, data: { keep: true, dir } }), { code });
    assert.equal(readFileSync(join(dir, file), 'utf8'), text);
    assert.equal(existsSync(join(dir, 'firestore')), false);
  }
});
