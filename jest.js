'use strict';

/**
 * `firelet/jest`: named as `globalSetup` it starts the run's suite, named in `setupFiles` it gives
 * each worker its own project, and required by a test it offers `projectId`, `clear` and `restore`.
 */

const { FireletError } = require('./npm/api/error.js');
const { startForRun, enterWorker, projectId, clear, restore } = require('./npm/api/runner.js');

/**
 * @param {{ globalTeardown?: unknown }} [globalConfig] missing where Jest calls this as one of `setupFiles`:
 * loading was all then
 * @param {{ globals?: { firelet?: unknown }, globalTeardown?: unknown }} [projectConfig]
 */
module.exports = async function globalSetup(globalConfig, projectConfig) {
  if (globalConfig === undefined) return;
  await startForRun(projectConfig?.globals?.firelet, () => {
    if (globalConfig.globalTeardown ?? projectConfig?.globalTeardown) return;
    const message = '`rulesCoverage` is checked when the run ends: name `firelet/jest/teardown` in `globalTeardown`';
    throw new FireletError('FIRELET_INVALID_OPTION', message);
  });
};

module.exports.projectId = () => projectId('firelet/jest', process.env.JEST_WORKER_ID);

module.exports.clear = (database = '(default)') =>
  clear('firelet/jest', module.exports.projectId(), database);

module.exports.restore = async () => restore('firelet/jest', module.exports.projectId());

enterWorker(process.env.JEST_WORKER_ID);
