/**
 * firelet for Jest. Name it twice in the configuration:
 *
 * ```js
 * module.exports = {
 *   globalSetup: 'firelet/jest', // starts one suite for the run
 *   setupFiles: ['firelet/jest'], // gives each worker its own project
 *   globals: { firelet: { project: 'demo-shop' } }, // options of `start`, all optional
 * };
 * ```
 *
 * The options may have `rulesCoverage` as well: see `RunOptions` of `firelet`, and `firelet/jest/teardown`.
 */

/** Starts the suite of a run. Jest calls it; tests do not. */
declare function globalSetup(globalConfig?: unknown, projectConfig?: unknown): Promise<void>;

declare namespace globalSetup {
  /**
   * The project id of this worker: the run's project and the worker's number. `GCLOUD_PROJECT` and
   * `FIREBASE_CONFIG` hold it too, so an SDK started without a project uses it.
   *
   * @throws {import('firelet').FireletError} `FIRELET_NO_RUN` where `firelet/jest` is no globalSetup of this run
   */
  function projectId(): string;

  /**
   * Deletes every document of this worker's project, in one database; documents of its other databases
   * stay. `suite.clear()` of a suite that you have started yourself deletes those of all.
   *
   * @param database the database's id
   * @default '(default)'
   */
  function clear(database?: string): Promise<void>;

  /**
   * Makes this worker's project a copy of the run's own project, which holds the `seed` of the options: every
   * database, rules and indexes included, in place of what the tests before have left. Takes the same fraction
   * of a millisecond however much there is, so call it before each test.
   *
   * ```js
   * beforeEach(() => restore());
   * ```
   *
   * @throws {import('firelet').FireletError} `FIRELET_NO_RUN`; `FIRELET_RESTORE_FAILED` where the suite does not answer
   */
  function restore(): Promise<void>;
}

export = globalSetup;
