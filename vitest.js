'use strict';

/**
 * `firelet/vitest`: named as `globalSetup` it starts the run's suite, named in `setupFiles` it gives
 * each worker its own project, and imported by a test it offers `projectId`, `clear` and `restore`.
 */

const { startForRun, endRun, enterWorker, projectId, clear, restore } = require('./npm/api/runner.js');

/** @param {{ config: { provide?: { firelet?: unknown } } }} [project] */
module.exports = async function setup(project) {
  await startForRun(project?.config.provide?.firelet);
  return endRun;
};

module.exports.projectId = () => projectId('firelet/vitest', process.env.VITEST_POOL_ID);

module.exports.clear = (database = '(default)') =>
  clear('firelet/vitest', module.exports.projectId(), database);

module.exports.restore = async () => restore('firelet/vitest', module.exports.projectId());

enterWorker(process.env.VITEST_POOL_ID);
