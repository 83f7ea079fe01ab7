'use strict';

/** Official exports: what a suite starts with, and what it writes, with Google's client on both ends. */

const assert = require('node:assert/strict');
const { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join, relative } = require('node:path');
const { test } = require('node:test');

const { Firestore, FieldValue, GeoPoint, Timestamp } = require('@google-cloud/firestore');

const { start } = require('../../index.js');
const { rest, suiteFor } = require('../helpers/suite.js');

const OUTPUT = 'firestore_export/all_namespaces/all_kinds/output-0';

/** @param {import('node:test').TestContext} t */
function folder(t) {
  const dir = mkdtempSync(join(tmpdir(), 'firelet-export-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/**
 * @param {import('node:test').TestContext} t
 * @param {import('../../index.js').Suite} suite
 * @param {string} [databaseId]
 */
function client(t, suite, databaseId = '(default)') {
  const { host, port } = suite.firestore;
  const firestore = new Firestore({ projectId: suite.project, databaseId, host: `${host}:${port}`, ssl: false, customHeaders: { authorization: 'Bearer owner' } });
  t.after(() => firestore.terminate());
  return firestore;
}

/** Every file below a folder with its bytes, by its path. @param {string} dir */
function files(dir) {
  const found = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(found.map((entry) => [relative(dir, join(entry.parentPath, entry.name)), readFileSync(join(entry.parentPath, entry.name), 'hex')]).sort());
}

/** @param {import('@google-cloud/firestore').Firestore} db */
const values = (db) => ({
  none: null,
  yes: true,
  int: 7,
  double: 0.5,
  nan: NaN,
  text: 'caf\u00e9',
  time: new Timestamp(1_700_000_000, 123_456_000),
  bytes: Buffer.from([0, 1, 255]),
  point: new GeoPoint(1.5, -2.5),
  reference: db.doc('books/other'),
  map: { deep: { list: [1, 'two', { three: 3 }], empty: [], nothing: {} } },
  vector: FieldValue.vector([1, 2.5]),
});

test('what is exported is imported again, type by type, and gives the same bytes', async (t) => {
  const dir = join(folder(t), 'seed');
  const first = await suiteFor(t, { project: 'demo-one' });
  const db = client(t, first);
  await db.doc('books/a').set(values(db));
  await db.doc('books/a/pages/__id7__').set({ n: 7 });
  await db.doc('shelves/empty').set({});
  await client(t, first, 'db2').doc('books/a').set({ named: true });
  await first.clear({ project: 'demo-other' });
  assert.deepEqual(await first.export(dir), { documents: 4 });
  assert.deepEqual(Object.keys(JSON.parse(readFileSync(join(dir, 'firebase-export-metadata.json'), 'utf8'))), ['version', 'firestore']);

  const second = await suiteFor(t, { project: 'demo-one', data: { import: dir } });
  for (const path of ['books/a', 'books/a/pages/__id7__', 'shelves/empty']) {
    const before = (await rest(first, 'GET', `/${path}`)).body.fields;
    assert.deepEqual((await rest(second, 'GET', `/${path}`)).body.fields, before, path);
  }
  assert.equal((await client(t, second, 'db2').doc('books/a').get()).get('named'), true);
  const found = await client(t, second).collectionGroup('pages').where('n', '==', 7).get();
  assert.deepEqual(found.docs.map((document) => document.ref.path), ['books/a/pages/__id7__']);

  const again = join(folder(t), 'again');
  await second.export(again);
  assert.deepEqual(files(again), files(dir));
});

test('documents come into the project of the suite, and only those that are wanted', async (t) => {
  const dir = folder(t);
  const first = await suiteFor(t, { project: 'demo-one' });
  const batch = client(t, first).batch();
  for (const path of ['books/a', 'books/a/pages/1', 'shelves/s']) batch.set(client(t, first).doc(path), { path });
  await batch.commit();
  await client(t, first, 'db2').doc('books/b').set({ n: 1 });
  await first.export(dir);
  for (const { wanted, paths, named } of [
    { wanted: { dir }, paths: ['books/a', 'books/a/pages/1', 'shelves/s'], named: true },
    { wanted: { dir, collections: ['books'] }, paths: ['books/a'], named: true },
    { wanted: { dir, collections: ['pages', 'shelves'] }, paths: ['books/a/pages/1', 'shelves/s'], named: false },
    { wanted: { dir, databases: ['db2'] }, paths: [], named: true },
  ]) {
    const suite = await suiteFor(t, { project: 'demo-two', data: { import: wanted } });
    for (const path of ['books/a', 'books/a/pages/1', 'shelves/s']) {
      assert.equal((await rest(suite, 'GET', `/${path}`)).status, paths.includes(path) ? 200 : 404, `${JSON.stringify(wanted)} ${path}`);
    }
    assert.equal((await client(t, suite, 'db2').doc('books/b').get()).exists, named);
  }
});

test('a damaged export is refused with its place, and kept data stays as it was', async (t) => {
  const dir = folder(t);
  const first = await suiteFor(t, {});
  await rest(first, 'PATCH', '/books/a', { fields: { n: { integerValue: '1' } } });
  await first.export(dir);
  const kept = join(folder(t), 'kept');
  for (const { damage, message } of [
    { damage: (/** @type {Buffer} */ bytes) => bytes.writeUInt8(bytes[20] ^ 1, 20), message: /output-0` cannot be read at byte 0.*the checksum does not match/ },
    { damage: (/** @type {Buffer} */ bytes) => bytes.subarray(0, 10), message: /have 10 bytes and should have/ },
  ]) {
    const broken = folder(t);
    cpSync(dir, broken, { recursive: true });
    const bytes = readFileSync(join(broken, OUTPUT));
    const damaged = damage(bytes);
    writeFileSync(join(broken, OUTPUT), Buffer.isBuffer(damaged) ? damaged : bytes);
    await assert.rejects(start({ config: false, data: { keep: true, dir: kept, import: broken } }), { code: 'FIRELET_IMPORT_FAILED', message });
    assert.equal(existsSync(join(kept, 'firestore')), false);
    assert.equal(existsSync(join(kept, 'importing')), false);
  }
  const good = await start({ config: false, data: { keep: true, dir: kept, import: dir } });
  await good.stop();
  await assert.rejects(start({ config: false, data: { keep: true, dir: kept, import: dir } }), { code: 'FIRELET_DATA_NOT_EMPTY' });
  const found = await suiteFor(t, { data: { keep: true, dir: kept } });
  assert.equal((await rest(found, 'GET', '/books/a')).status, 200);
});

test('what is no export is told', async (t) => {
  const dir = folder(t);
  await assert.rejects(start({ config: false, data: { import: join(dir, 'none') } }), { code: 'FIRELET_IMPORT_FAILED', message: /Directory ".*none" does not exist\./ });
  await assert.rejects(start({ config: false, data: { import: dir } }), { code: 'FIRELET_IMPORT_FAILED', message: /holds no export/ });
  writeFileSync(join(dir, 'firebase-export-metadata.json'), '{"firestore":{"metadata_file":"../../etc/passwd"}}');
  await assert.rejects(start({ config: false, data: { import: dir } }), { code: 'FIRELET_IMPORT_FAILED', message: /is no file of the export/ });
  // @ts-expect-error An option of an import that there is not.
  await assert.rejects(start({ data: { import: { dir, colections: [] } } }), { code: 'FIRELET_UNKNOWN_OPTION', message: /did you mean `data.import.collections`/ });
});

test('what others have put into the folder stays', async (t) => {
  const dir = folder(t);
  writeFileSync(join(dir, 'notes.txt'), 'mine');
  const suite = await suiteFor(t, {});
  await rest(suite, 'PATCH', '/books/a', { fields: {} });
  await assert.rejects(suite.export(dir), { code: 'FIRELET_EXPORT_REFUSED' });
  assert.deepEqual(readdirSync(dir), ['notes.txt']);
  await suite.export(dir, { force: true });
  mkdirSync(join(dir, 'auth_export'));
  writeFileSync(join(dir, 'auth_export', 'accounts.json'), '{}');
  const file = join(dir, 'firebase-export-metadata.json');
  const auth = { version: '15.0.0', path: 'auth_export' };
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), auth }));
  await rest(suite, 'DELETE', '/books/a');
  assert.deepEqual(await suite.export(dir), { documents: 0 });
  assert.deepEqual(readdirSync(dir).sort(), ['auth_export', 'firebase-export-metadata.json', 'firestore_export', 'notes.txt']);
  assert.deepEqual(readdirSync(join(dir, 'firestore_export')), ['firestore_export.overall_export_metadata']);
  assert.equal(readFileSync(join(dir, 'auth_export', 'accounts.json'), 'utf8'), '{}');
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')).auth, auth);
});

test('an export is a moment, however much is written meanwhile', async (t) => {
  const dir = folder(t);
  const suite = await suiteFor(t, {});
  const db = client(t, suite);
  let writing = true;
  const writer = (async () => {
    for (let n = 0; writing; n += 1) {
      const batch = db.batch();
      for (let at = 0; at < 20; at += 1) batch.set(db.doc(`${at % 2 ? 'left' : 'right'}/${at}`), { n });
      await batch.commit();
    }
  })();
  while ((await db.collection('left').get()).empty);
  for (let round = 0; round < 5; round += 1) {
    await suite.export(dir);
    const copy = await suiteFor(t, { data: { import: dir } });
    const read = client(t, copy);
    const all = [...(await read.collection('left').get()).docs, ...(await read.collection('right').get()).docs];
    assert.equal(all.length, 20);
    assert.equal(new Set(all.map((document) => document.get('n'))).size, 1);
  }
  writing = false;
  await writer;
});
