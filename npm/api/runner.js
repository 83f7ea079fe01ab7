'use strict';

/**
 * What `firelet/jest` and `firelet/vitest` share: one suite for the whole run, started in the
 * runner's main process, and one project id for each worker, so that workers never meet.
 */

const { FireletError } = require('./error.js');
const { request } = require('./http.js');

/** The suite's own project, as the main process tells its workers. */
const BASE_PROJECT = 'FIRELET_PROJECT';

/**
 * Where the suite of the last run is kept: in watch mode a runner calls its global setup again
 * and again in one process, from a module it may have loaded anew.
 */
const RUNNING = Symbol.for('firelet.runner.suite');

/** Beside it, what the run is held to when it ends. */
const DEMANDS = Symbol.for('firelet.runner.demands');

/**
 * @typedef {{ [RUNNING]?: import('../../index.js').Suite, [DEMANDS]?: import('./coverage.js').Demands }} Kept
 */

/**
 * Starts the run's suite and sets the variables that the workers inherit.
 *
 * @param {unknown} runOptions those of `start`, and `rulesCoverage`
 * @param {() => void} [needsEnd] called where the run has to be ended with `endRun`
 */
async function startForRun(runOptions, needsEnd) {
  const kept = /** @type {Kept} */ (globalThis);
  await kept[RUNNING]?.stop();
  // Loaded here and not above, because workers load this file too and need no addon.
  const { start } = require('./suite.js');
  const { splitOptions } = require('./coverage.js');
  const { options, demands } = splitOptions(runOptions);
  if (demands !== undefined) needsEnd?.();
  const suite = await start(/** @type {import('../../index.js').StartOptions} */ (options));
  kept[RUNNING] = suite;
  kept[DEMANDS] = demands;
  suite.applyEnv().unref();
  process.env[BASE_PROJECT] = suite.project;
  return suite;
}

/**
 * Ends the run: holds it to what its options demand, and stops its suite.
 *
 * @throws {FireletError} `FIRELET_COVERAGE_TOO_LOW`
 */
async function endRun() {
  const kept = /** @type {Kept} */ (globalThis);
  const { [RUNNING]: suite, [DEMANDS]: demands } = kept;
  kept[RUNNING] = undefined;
  kept[DEMANDS] = undefined;
  try {
    if (suite !== undefined && demands !== undefined) await require('./coverage.js').holdTo(suite, demands);
  } finally {
    await suite?.stop();
  }
}

/**
 * Gives this worker its own project, if the run has a suite: SDKs that ask the environment use it.
 *
 * @param {string | undefined} worker the runner's number for the worker
 */
function enterWorker(worker) {
  const base = process.env[BASE_PROJECT];
  if (base === undefined || worker === undefined) return;
  const project = `${base}-w${worker}`;
  process.env.GCLOUD_PROJECT = project;
  process.env.GOOGLE_CLOUD_PROJECT = project;
  process.env.FIREBASE_CONFIG = JSON.stringify({
    projectId: project,
    storageBucket: `${project}.appspot.com`,
    databaseURL: `https://${project}.firebaseio.com`,
  });
}

/**
 * The project id of this worker.
 *
 * @param {string} entry the entry point to name in the error, such as `firelet/jest`
 * @param {string | undefined} worker
 */
function projectId(entry, worker) {
  const base = process.env[BASE_PROJECT];
  if (base === undefined || worker === undefined) throw noRun(entry);
  return `${base}-w${worker}`;
}

/**
 * Deletes every document of one database of a project.
 *
 * @param {string} entry
 * @param {string} project
 * @param {string} database
 */
function clear(entry, project, database) {
  return order(entry, 'FIRELET_CLEAR_FAILED', `clearing \`${project}\``, 'DELETE', `${project}/databases/${database}/documents`);
}

/**
 * Makes a worker's project a copy of the run's own, which holds the seed. As quick however much that is.
 *
 * @param {string} entry
 * @param {string} project the worker's
 */
function restore(entry, project) {
  const path = `${project}/fork-of/${process.env[BASE_PROJECT]}`;
  return order(entry, 'FIRELET_RESTORE_FAILED', `restoring \`${project}\``, 'POST', path);
}

/**
 * Has the suite do something with a project.
 *
 * @param {string} entry
 * @param {import('../../index.js').FireletErrorCode} code where it does not
 * @param {string} doing
 * @param {string} method
 * @param {string} path below that of the emulator's projects
 * @returns {Promise<void>}
 */
async function order(entry, code, doing, method, path) {
  const authority = process.env.FIRESTORE_EMULATOR_HOST;
  if (authority === undefined) throw noRun(entry);
  let answer;
  try {
    answer = await request(method, `http://${authority}/emulator/v1/projects/${path}`);
  } catch (cause) {
    throw new FireletError(code, `${doing} failed: the suite at ${authority} does not answer`, { cause });
  }
  if (answer.status !== 200) throw new FireletError(code, `${doing} was answered with status ${answer.status}: ${answer.text}`);
}

/** @param {string} entry */
function noRun(entry) {
  return new FireletError(
    'FIRELET_NO_RUN',
    `there is no suite for this test run: name \`${entry}\` in \`globalSetup\` and in \`setupFiles\``,
  );
}

module.exports = { startForRun, endRun, enterWorker, projectId, clear, restore };
