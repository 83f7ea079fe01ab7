'use strict';

/** One suite for the run, one project for each worker. */

module.exports = {
  testEnvironment: 'node',
  globalSetup: 'firelet/jest',
  setupFiles: ['firelet/jest'],
  // Options of `start`, all optional. Jest hands them to globalSetup.
  globals: { firelet: { project: 'demo-jest-example' } },
  maxWorkers: 3,
  transform: {},
};
