'use strict';

/**
 * What `firelet/jest` and `firelet/vitest` share: one suite for the whole run, started in the
 * runner's main process, and one project id for each worker, so that workers never meet.
 */

const http = require('node:http');

const { FireletError } = require('./error.js');

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
 * @returns {Promise<void>}
 */
function clear(entry, project, database) {
  const authority = process.env.FIRESTORE_EMULATOR_HOST;
  if (authority === undefined) return Promise.reject(noRun(entry));
  const url = `http://${authority}/emulator/v1/projects/${project}/databases/${database}/documents`;
  return new Promise((resolve, reject) => {
    const fail = (/** @type {string} */ message, /** @type {unknown} */ cause) =>
      reject(new FireletError('FIRELET_CLEAR_FAILED', message, { cause }));
    // Plain HTTP of Node's own: `fetch` is missing where a test environment imitates a browser.
    const request = http.request(url, { method: 'DELETE', agent: false }, (response) => {
      response.resume();
      response.on('error', (error) => fail(`clearing \`${project}\` broke off`, error));
      response.on('end', () => {
        if (response.statusCode === 200) resolve();
        else fail(`clearing \`${project}\` was answered with status ${response.statusCode}`, undefined);
      });
    });
    request.on('error', (error) => fail(`the suite at ${authority} does not answer`, error));
    request.end();
  });
}

/** @param {string} entry */
function noRun(entry) {
  return new FireletError(
    'FIRELET_NO_RUN',
    `there is no suite for this test run: name \`${entry}\` in \`globalSetup\` and in \`setupFiles\``,
  );
}

module.exports = { startForRun, endRun, enterWorker, projectId, clear };
