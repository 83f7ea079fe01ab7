/**
 * What ends a run of firelet with Jest, for a configuration that asks for coverage of security rules:
 *
 * ```js
 * module.exports = {
 *   globalSetup: 'firelet/jest',
 *   setupFiles: ['firelet/jest'],
 *   globalTeardown: 'firelet/jest/teardown', // holds the run to its threshold
 *   globals: { firelet: { rulesCoverage: { threshold: 90 } } },
 * };
 * ```
 */

/**
 * Holds the run to its `rulesCoverage` and stops its suite. Jest calls it; tests do not.
 *
 * @throws {import('firelet').FireletError} `FIRELET_COVERAGE_TOO_LOW`, which makes the run fail
 */
declare function globalTeardown(): Promise<void>;

export = globalTeardown;
