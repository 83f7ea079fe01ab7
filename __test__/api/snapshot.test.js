'use strict';

/** snapshot, restore and fork: the same data again and again, without writing it again. */

const assert = require('node:assert/strict');
const { test } = require('node:test');

const { rest, suiteFor } = require('../helpers/suite.js');

/** @typedef {import('../../index.js').Suite} Suite */

const at = (/** @type {Suite} */ suite, /** @type {string} */ project) => ({ ...suite, firestore: suite.firestore, project });

/** @param {Suite} suite @param {string} path @param {number} n */
const put = async (suite, path, n) => {
  const { status, body } = await rest(suite, 'PATCH', path, { fields: { n: { integerValue: String(n) } } });
  assert.equal(status, 200);
  return body;
};

/** The `n` of some documents. @param {Suite} suite @param {string[]} paths */
const read = (suite, ...paths) =>
  Promise.all(paths.map(async (path) => Number((await rest(suite, 'GET', path)).body.fields?.n?.integerValue)));

test('restore brings back what a snapshot has seen, any number of times', async (t) => {
  const suite = await suiteFor(t, { project: 'demo-restore' });
  await put(suite, '/books/a', 1);
  await put(suite, '/books/b', 2);
  const snapshot = await suite.snapshot();
  for (let turn = 0; turn < 3; turn += 1) {
    const written = await put(suite, '/books/a', 10 + turn);
    await rest(suite, 'DELETE', '/books/b');
    await put(suite, '/books/c', 3);
    await put(at(suite, 'demo-later'), '/books/a', 1);
    await suite.restore(snapshot);
    assert.deepEqual(await read(suite, '/books/a', '/books/b', '/books/c'), [1, 2, Number.NaN]);
    assert.deepEqual(await read(at(suite, 'demo-later'), '/books/a'), [Number.NaN]);
    // No client sees a time go back.
    assert.ok((await rest(suite, 'GET', '/books/a')).body.updateTime > written.updateTime);
  }
  await suite.clear();
  await suite.restore(snapshot);
  assert.deepEqual(await read(suite, '/books/a', '/books/b'), [1, 2]);
});

test('a snapshot of one project leaves the others alone', async (t) => {
  const suite = await suiteFor(t, { project: 'demo-one' });
  const other = at(suite, 'demo-two');
  await put(suite, '/books/a', 1);
  await put(other, '/books/a', 1);
  const snapshot = await suite.snapshot({ project: 'demo-one' });
  await put(suite, '/books/a', 2);
  await put(other, '/books/a', 2);
  await suite.restore(snapshot);
  assert.deepEqual([await read(suite, '/books/a'), await read(other, '/books/a')], [[1], [2]]);
});

test('a fork starts as a copy and goes its own way', async (t) => {
  const suite = await suiteFor(t, { project: 'demo-base' });
  const named = '/books/a';
  await put(suite, named, 1);
  await suite.fork({ project: 'test_1' });
  await suite.fork({ project: 'test_2', from: 'test_1' });
  const [first, second] = [at(suite, 'test_1'), at(suite, 'test_2')];
  await put(suite, named, 2);
  await put(first, named, 3);
  await put(first, '/books/b', 3);
  assert.deepEqual(await read(suite, named, '/books/b'), [2, Number.NaN]);
  assert.deepEqual(await read(first, named, '/books/b'), [3, 3]);
  assert.deepEqual(await read(second, named, '/books/b'), [1, Number.NaN]);
  const found = await rest(second, 'POST', ':runQuery', { structuredQuery: { from: [{ collectionId: 'books' }] } });
  assert.equal(found.body[0].document.name, 'projects/test_2/databases/(default)/documents/books/a');

  // Forking again throws away what the fork has become.
  await suite.fork({ project: 'test_1' });
  assert.deepEqual(await read(first, named, '/books/b'), [2, Number.NaN]);
});

test('in kept data too, and forks are not kept', async (t) => {
  const { mkdtempSync, rmSync } = require('node:fs');
  const { join } = require('node:path');
  const dir = mkdtempSync(join(require('node:os').tmpdir(), 'firelet-data-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const options = { project: 'demo-kept', data: { keep: true, dir: join(dir, 'data') } };
  const suite = await suiteFor(t, options);
  await put(suite, '/books/a', 1);
  const snapshot = await suite.snapshot({ project: 'demo-kept' });
  await suite.fork({ project: 'demo-fork' });
  await put(suite, '/books/a', 2);
  await put(suite, '/books/b', 2);
  await suite.restore(snapshot);
  assert.deepEqual(await read(at(suite, 'demo-fork'), '/books/a'), [1]);
  await suite.stop();
  const next = await suiteFor(t, options);
  assert.deepEqual(await read(next, '/books/a', '/books/b'), [1, Number.NaN]);
  assert.deepEqual(await read(at(next, 'demo-fork'), '/books/a'), [Number.NaN]);
});

test('mistakes are told', async (t) => {
  const suite = await suiteFor(t, { project: 'demo-mistakes' });
  const other = await suiteFor(t, {});
  const snapshot = await suite.snapshot();
  await assert.rejects(other.restore(snapshot), { code: 'FIRELET_FOREIGN_SNAPSHOT' });
  await assert.rejects(suite.restore(/** @type {any} */ ({})), { code: 'FIRELET_INVALID_OPTION' });
  await assert.rejects(suite.restore(/** @type {any} */ (undefined)), { code: 'FIRELET_INVALID_OPTION' });
  await assert.rejects(suite.fork({ project: 'demo-mistakes' }), { code: 'FIRELET_INVALID_OPTION' });
  await assert.rejects(suite.fork(/** @type {any} */ ({})), { code: 'FIRELET_INVALID_OPTION' });
  await assert.rejects(suite.fork({ project: 'a/b' }), { code: 'FIRELET_INVALID_PROJECT' });
  await suite.stop();
  for (const late of [suite.snapshot(), suite.restore(snapshot), suite.fork({ project: 'x' })]) {
    await assert.rejects(late, { code: 'FIRELET_STOPPED' });
  }
});
