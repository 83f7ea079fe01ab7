'use strict';

/**
 * Seeds: data that a suite starts with, loaded once and kept as the snapshot `seed`, to which each test goes back.
 * docs/reference/javascript-api.md says what a seed can be.
 */

const { existsSync, readdirSync, readFileSync, statSync } = require('node:fs');
const { extname, join, resolve } = require('node:path');
const { pathToFileURL } = require('node:url');

const { lend, takeBack } = require('./env.js');
const { FireletError } = require('./error.js');
const { request } = require('./http.js');
const { fieldsOf, isDocumentPath, isMap } = require('./seed-values.js');

/** The name of the snapshot. */
const SEED = 'seed';
/** The default database. */
const DEFAULT = '(default)';
/** The key of a seed that holds those of further databases. */
const DATABASES = '$databases';
/** What is read of a file of documents: more of them load faster, and in less memory, from an official export. */
const FILE_BYTES_MAX = 64 * 1024 * 1024;
/** Writes and bytes of one commit: Firestore takes 500 in batches, and 10 MiB. */
const COMMIT_WRITES_MAX = 500;
const COMMIT_BYTES_MAX = 4 * 1024 * 1024;

/**
 * @typedef {import('../../index.js').Suite} Suite
 * @typedef {import('../../index.js').SeedContext} SeedContext
 * @typedef {{ [path: string]: unknown }} Documents
 * @typedef {{ documents: Documents, from: string } | { run: (context: SeedContext) => unknown } | { folder: string }} Source
 */

/**
 * Finds out what a seed is, and reads it if it is a file.
 *
 * @param {unknown} seed
 * @param {string} cwd what paths are relative to
 * @returns {Promise<Source>}
 * @throws {FireletError} `FIRELET_BAD_SEED`
 */
async function read(seed, cwd) {
  if (typeof seed === 'function') return { run: /** @type {(context: SeedContext) => unknown} */ (seed) };
  if (isMap(seed)) return { documents: seed, from: 'the option `seed`' };
  if (typeof seed !== 'string' || seed === '') {
    throw bad('option `seed` must be the path of a file or export, an object of documents, or a function');
  }
  const path = resolve(cwd, seed);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw bad(`there is no ${path}`);
  if (found.isDirectory()) return exported(path);
  switch (extname(path)) {
    case '.json':
      return { documents: parse(path, found.size), from: path };
    case '.js':
    case '.cjs':
    case '.mjs': {
      const loaded = await load(path);
      if (typeof loaded === 'string') throw bad(`${path} must export a function or an object of documents`);
      return read(loaded, cwd);
    }
    default:
      throw bad(`${path} must be a .json file of documents, a module (.js, .cjs, .mjs), or the folder of an official export`);
  }
}

/**
 * @param {string} folder
 * @returns {Source}
 */
function exported(folder) {
  const isExport = existsSync(join(folder, 'firebase-export-metadata.json'))
    || readdirSync(folder).some((name) => name.endsWith('.overall_export_metadata'));
  if (!isExport) throw bad(`the folder ${folder} holds no official export`);
  return { folder };
}

/**
 * @param {string} file
 * @param {number} bytes
 * @returns {Documents}
 */
function parse(file, bytes) {
  if (bytes > FILE_BYTES_MAX) {
    throw bad(`${file} has ${bytes} bytes, and a file of documents has up to ${FILE_BYTES_MAX}: use an official export for more`);
  }
  let documents;
  try {
    documents = JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw bad(`${file} is no JSON: ${messageOf(cause)}`, cause);
  }
  if (!isMap(documents)) throw bad(`${file} must hold an object of documents by their paths`);
  return documents;
}

/**
 * The default export of a module, or what a CommonJS one is.
 *
 * @param {string} file
 * @returns {Promise<unknown>}
 */
async function load(file) {
  try {
    // Test runners that keep a module registry of their own know `require` only.
    const module = extname(file) === '.mjs' ? await import(pathToFileURL(file).href) : require(file);
    return module?.default ?? module;
  } catch (cause) {
    throw bad(`${file} cannot be loaded: ${messageOf(cause)}`, cause);
  }
}

/**
 * Loads a seed into a suite that has just been started, and takes the snapshot of it. Where the snapshot was kept by
 * an earlier suite, that has loaded it, and nothing is done.
 *
 * @param {Suite} suite
 * @param {Source} source
 * @returns {Promise<void>}
 * @throws {FireletError} `FIRELET_BAD_SEED`
 */
async function plant(suite, source) {
  if ((await suite.snapshots()).includes(SEED)) return;
  if ('documents' in source) await write(suite, source.documents, source.from);
  if ('run' in source) await run(suite, source.run);
  await suite.snapshot(SEED);
}

/**
 * Starts a suite with an official export. In kept data that an earlier suite has imported it to it is there.
 *
 * @template {Pick<Suite, 'snapshot' | 'snapshots' | 'stop'>} S
 * @param {string} folder
 * @param {{ data?: object }} options
 * @param {(options: object) => Promise<S>} open
 * @returns {Promise<S>}
 */
async function startWithExport(folder, options, open) {
  let suite;
  try {
    suite = await open({ ...options, data: { ...options.data, import: folder } });
  } catch (error) {
    const code = error instanceof FireletError ? error.code : undefined;
    if (code !== 'FIRELET_DATA_NOT_EMPTY') throw error;
    suite = await open(options);
    if ((await suite.snapshots()).includes(SEED)) return suite;
    await suite.stop();
    throw error;
  }
  try {
    await suite.snapshot(SEED);
    return suite;
  } catch (error) {
    await suite.stop();
    throw error;
  }
}

/**
 * Calls a function that writes the seed, with the suite's environment in place.
 *
 * @param {Suite} suite
 * @param {(context: SeedContext) => unknown} seed
 */
async function run(suite, seed) {
  /** @type {SeedContext} */
  const context = Object.freeze({
    project: suite.project,
    env: suite.env,
    firestore: suite.firestore,
    write: (/** @type {Documents} */ documents) => write(suite, documents, 'what was given to `write`'),
  });
  lend(context, suite.env);
  try {
    await seed(context);
  } catch (cause) {
    if (cause instanceof FireletError && cause.code === 'FIRELET_BAD_SEED') throw cause;
    throw bad(`its function failed: ${messageOf(cause)}`, cause);
  } finally {
    takeBack(context);
  }
}

/**
 * Writes documents, whatever the rules say.
 *
 * @param {Suite} suite
 * @param {unknown} documents
 * @param {string} from what they are called in messages
 */
async function write(suite, documents, from) {
  if (!isMap(documents)) throw bad(`${from} must be an object of documents by their paths`);
  const { [DATABASES]: others, ...own } = documents;
  if (others !== undefined && !isMap(others)) throw bad(`${from}: ${DATABASES} must be an object of databases by their ids`);
  if (others !== undefined && Object.hasOwn(others, DEFAULT)) throw bad(`${from}: documents of ${DEFAULT} stand beside ${DATABASES}, not in it`);
  const databases = { [DEFAULT]: own, ...others };
  // All of it is read before any of it is written.
  const batches = Object.entries(databases).flatMap(([id, of]) => batchesOf(suite, id, of, from));
  for (const { root, writes, first } of batches) {
    const { status, text } = await request('POST', `${suite.firestore.url}/v1/${encodeURI(root)}:commit`, { writes });
    if (status !== 200) throw bad(`${from}: the documents from \`${first}\` on were refused: ${refusal(text)}`);
  }
}

/**
 * @param {Suite} suite
 * @param {string} database
 * @param {unknown} documents
 * @param {string} from
 */
function batchesOf(suite, database, documents, from) {
  if (!isMap(documents)) throw bad(`${from}: ${DATABASES}.${database} must be an object of documents by their paths`);
  const root = `projects/${suite.project}/databases/${database}/documents`;
  /** @type {{ root: string, first: string, bytes: number, writes: unknown[] }[]} */
  const batches = [];
  for (const [path, fields] of Object.entries(documents)) {
    if (!isDocumentPath(path)) throw bad(`${from}: \`${path}\` must be the path of a document, such as \`users/alice\``);
    if (!isMap(fields)) throw bad(`${from}: \`${path}\` must be an object: the fields of the document`);
    const update = { name: `${root}/${path}`, fields: fieldsOf(fields, `\`${path}\` of ${from}`, { root }) };
    const bytes = JSON.stringify(update).length;
    let batch = batches.at(-1);
    if (batch === undefined || batch.writes.length === COMMIT_WRITES_MAX || batch.bytes + bytes > COMMIT_BYTES_MAX) {
      batch = { root, first: path, bytes: 0, writes: [] };
      batches.push(batch);
    }
    batch.writes.push({ update });
    batch.bytes += bytes;
  }
  return batches;
}

/** The message of an error of the REST protocol. @param {string} text */
function refusal(text) {
  try {
    const answer = JSON.parse(text);
    return (Array.isArray(answer) ? answer[0] : answer).error.message;
  } catch {
    return text.slice(0, 1000);
  }
}

/** @param {unknown} error */
function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/**
 * @param {string} message
 * @param {unknown} [cause]
 */
function bad(message, cause) {
  return new FireletError('FIRELET_BAD_SEED', `the seed cannot be used: ${message}`, cause === undefined ? undefined : { cause });
}

module.exports = { read, plant, startWithExport };
