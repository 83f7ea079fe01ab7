'use strict';

/**
 * `firelet/jest`: named as `globalSetup` it starts the run's suite, named in `setupFiles` it gives
 * each worker its own project, and required by a test it offers `projectId`, `clear` and `restore`.
 */

const { startForRun, enterWorker, projectId, clear, restore } = require('./npm/api/runner.js');

/**
 * @param {unknown} [globalConfig] missing where Jest calls this as one of `setupFiles`: loading was all then
 * @param {{ globals?: { firelet?: unknown } }} [projectConfig]
 */
module.exports = async function globalSetup(globalConfig, projectConfig) {
  if (globalConfig !== undefined) await startForRun(projectConfig?.globals?.firelet);
};

module.exports.projectId = () => projectId('firelet/jest', process.env.JEST_WORKER_ID);

module.exports.clear = (database = '(default)') =>
  clear('firelet/jest', module.exports.projectId(), database);

module.exports.restore = async () => restore('firelet/jest', module.exports.projectId());

enterWorker(process.env.JEST_WORKER_ID);
