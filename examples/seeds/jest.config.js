'use strict';

/** The seed is loaded once for the run; each test goes back to it. */

module.exports = {
  testEnvironment: 'node',
  globalSetup: 'firelet/jest',
  setupFiles: ['firelet/jest'],
  globals: { firelet: { project: 'demo-seeds-example', seed: 'seed.json' } },
  maxWorkers: 2,
  transform: {},
};
