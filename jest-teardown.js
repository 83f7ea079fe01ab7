'use strict';

/** `firelet/jest/teardown`: named as `globalTeardown` it holds the run to its `rulesCoverage` and stops the suite. */

const { endRun } = require('./npm/api/runner.js');

module.exports = async function globalTeardown() {
  await endRun();
};
