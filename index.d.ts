/**
 * firelet: the local Firebase in your own process.
 *
 * ```js
 * const { start } = require('firelet');
 *
 * const suite = await start({ project: 'demo-shop' });
 * suite.applyEnv(); // Firebase SDKs made from now on talk to the suite
 * // ... your tests ...
 * await suite.stop();
 * ```
 */

/** Where one service shall listen. */
export interface ListenOptions {
  /**
   * The host to listen on.
   *
   * @default the suite's `host`
   */
  host?: string;
  /**
   * The port to listen on, and no other; 0 lets the operating system choose a free one. The ports of
   * `firebase.json` are for the command line and are not used here, so that test runs never collide.
   *
   * @default 0
   */
  port?: number;
}

/** What the Firestore service takes. */
export interface FirestoreOptions extends ListenOptions {
  /**
   * Security rules: the path of a file, or the source itself, which is a string with a brace in it. A file is
   * followed: when it changes, its rules are in force within a second, unless they have errors. Rules with
   * errors reject `start`, and the error lists all of them.
   *
   * @default the file that `firebase.json` names, if any; without one every request is allowed
   */
  rules?: string;
  /**
   * What happens to a query that production would refuse, because it needs a composite index that
   * `firestore.indexes.json` does not declare: `'off'` answers it; `'warn'` too, and emits a
   * `FireletWarning` (see Node's `process.on('warning')`) once per index, with the entry to paste;
   * `'strict'` refuses it as production does, with FAILED_PRECONDITION; `'record'` answers it and adds the
   * entry to the file.
   *
   * @default 'warn'
   */
  indexes?: 'off' | 'warn' | 'strict' | 'record';
  /**
   * Whether production's limits hold: sizes of documents and requests, depth, counts of index entries,
   * transforms, filters, disjunctions and aggregations. `'off'` lifts them, and keeps the bounds that
   * protect the process and the rules of names; see the page on limits of the reference.
   *
   * @default 'production'
   */
  limits?: 'production' | 'off';
  /**
   * Memory for pages of a database that has outgrown memory, in MiB, from 1 to 65536. A database and its forks
   * share it: the second file gets half as much, the third a third.
   *
   * @default 24
   */
  cacheMiB?: number;
}

/** Data that outlives the suite. */
export interface DataOptions {
  /**
   * Which services keep their data for the next suite: all of them, these, or none.
   *
   * @default false
   */
  keep?: boolean | string[];
  /**
   * The folder to keep it in. One suite at a time can use it.
   *
   * @default `.firelet` beside `firebase.json`, or in the current directory
   */
  dir?: string;
  /**
   * What an acknowledged write has survived: `'write-behind'` the end of the process, however it comes
   * (a power cut takes about the last second); `'per-commit'` a power cut as well, for a wait on the
   * disk with every write.
   *
   * @default 'write-behind'
   */
  durability?: 'write-behind' | 'per-commit';
  /**
   * An official export whose documents the suite starts with, in its own project: the path of the folder, or an
   * object with what of it to take. `start` resolves when all of it is there. An export that cannot be read
   * rejects `start` with `FIRELET_IMPORT_FAILED`, and nothing is left of it; kept data that is there already
   * with `FIRELET_DATA_NOT_EMPTY`.
   */
  import?: string | ImportOptions;
}

/** An official export to start with. */
export interface ImportOptions {
  /** The folder: one that the Firebase CLI or firelet has exported to, or a managed export of production. */
  dir: string;
  /**
   * The collections to take, by their ids, as `gcloud firestore export --collection-ids` means them: one id is all
   * collections of that name, and not what is below their documents.
   *
   * @default all
   */
  collections?: string[];
  /**
   * The databases to take, by their ids, such as `'(default)'`.
   *
   * @default all
   */
  databases?: string[];
}

/** What `start` takes. An unknown member is refused, and the message names the nearest valid one. */
export interface StartOptions {
  /**
   * The suite's own project id, or an alias of `.firebaserc`. Clients may use any other id as well,
   * each with data of its own.
   *
   * @default the default project of `.firebaserc`, else `demo-no-project`
   */
  project?: string;
  /**
   * The services to start, as a list or as one string with commas. The hub always starts.
   *
   * @default every service firelet has that `firebase.json` names; without a `firebase.json`, every one
   */
  only?: string | string[];
  /**
   * The path of a `firebase.json`, or its content as an object with paths relative to the current
   * directory, or `false` for none.
   *
   * @default the nearest `firebase.json` in the current directory or above it, if there is one
   */
  config?: string | { [section: string]: unknown } | false;
  /**
   * The directory that stands for the current one.
   *
   * @default the process's own
   */
  cwd?: string;
  /**
   * The host every service listens on.
   *
   * @default 'localhost': 127.0.0.1, and ::1 where there is one
   */
  host?: string;
  /** Whether data outlives the suite. By default nothing is left on the disk. */
  data?: DataOptions;
  /**
   * Data to start with: the path of a `.json` file of documents, of a module that exports a function, or of the
   * folder of an official export; or the documents or the function themselves. It is loaded once, into the suite's
   * own project, and kept as the snapshot `seed`: `suite.restore('seed')` brings it back.
   */
  seed?: Seed;
  /** Options of the Firestore service. */
  firestore?: FirestoreOptions;
  /** Options of the emulator hub, which `firebase` commands and rules-unit-testing ask for addresses. */
  hub?: ListenOptions;
}

/** What a suite starts with. */
export type Seed = string | SeedDocuments | ((context: SeedContext) => void | Promise<void>);

/**
 * Documents by their paths, such as `{ 'users/alice': { name: 'Alice' } }`, of the database `(default)`. Those of
 * further databases are in `$databases`: `{ $databases: { second: { 'users/alice': {} } } }`.
 */
export interface SeedDocuments {
  [path: string]: { readonly [field: string]: SeedValue | undefined };
}

/**
 * A value of a seed: plain JSON, where an integer is an integer and any other number a double. What JSON has no words
 * for is an object with one of these members alone: `$timestamp`, `$integer`, `$double`, `$bytes` (base64),
 * `$reference` (a document's path), `$geoPoint`, `$vector`, `$map`. What is undefined is left out.
 */
export type SeedValue =
  | null
  | boolean
  | number
  | string
  | Date
  | Uint8Array
  | readonly SeedValue[]
  | { readonly [field: string]: SeedValue | undefined };

/** What the function of a seed gets. While it runs, `env` is set in this process, so Firebase SDKs find the suite. */
export interface SeedContext {
  /** The suite's own project id, which the seed belongs in. */
  readonly project: string;
  /** The environment variables by which Firebase SDKs find the suite. */
  readonly env: { readonly [name: string]: string };
  /** Where Firestore answers gRPC and REST. */
  readonly firestore: FirestoreService;
  /**
   * Writes documents, whatever the rules say.
   *
   * @throws {FireletError} `FIRELET_BAD_SEED`
   */
  write(documents: SeedDocuments): Promise<void>;
}

/** What the tests of a run have to reach of the security rules. */
export interface RulesCoverageOptions {
  /**
   * Percent that the tests have to reach at least, of everything or each: of the lines with allow statements and
   * expressions, of the functions, of the branches (each condition granted, and each did not), of the expressions.
   * A run that misses one fails.
   */
  threshold?: number | { lines?: number; functions?: number; branches?: number; expressions?: number };
  /** A file to write the coverage to in the format of lcov. */
  lcov?: string;
}

/** What the runners' global setups take: the options of `start`, and what the run is held to. */
export interface RunOptions extends StartOptions {
  /** What the tests have to reach of the security rules; with Jest it takes `firelet/jest/teardown`. */
  rulesCoverage?: RulesCoverageOptions;
}

/** Where a running service answers. */
export interface ServiceAddress {
  /** The host to connect to, such as `127.0.0.1`; an IPv6 address comes without brackets. */
  readonly host: string;
  /** The port. */
  readonly port: number;
  /** `http://host:port`, with brackets around an IPv6 address. */
  readonly url: string;
}

/** The Firestore service of a running suite. */
export interface FirestoreService extends ServiceAddress {
  /**
   * Puts security rules in force at once: for every database of every project, whatever was set before, or for
   * one project or one database alone. A request that is under way is decided by the rules it began with.
   *
   * @param source the rules themselves
   * @returns what they are warned of, one line each
   * @throws {FireletError} `FIRELET_BAD_RULES` with every error of the source, and the rules stay as they were;
   * `FIRELET_STOPPED`
   */
  setRules(source: string, options?: { project?: string; database?: string }): Promise<{ warnings: string[] }>;

  /**
   * Decides a request by the rules without sending it, and says why: which allow statements were tried, and
   * which part of each condition decided, with its values.
   *
   * @throws {FireletError} `FIRELET_INVALID_OPTION` for what is no request; `FIRELET_STOPPED`
   */
  explain(request: ExplainedRequest): Promise<Explanation>;

  /**
   * What the security rules came to while they decided: of all that are or were in force in the suite, the last
   * sixteen of those that are no longer; with `project` or `database`, of those of that database since they were
   * set there. Sources are counted once, however many projects have them.
   *
   * @throws {FireletError} `FIRELET_INVALID_OPTION`, `FIRELET_STOPPED`
   */
  coverage(options?: CoveragePlace & { format?: 'summary' }): Promise<CoverageSummary>;
  /** The same in the format of lcov, one record for each source. */
  coverage(options: CoveragePlace & { format: 'lcov' }): Promise<string>;
  /** The same as the official emulator's `ruleCoverage` route answers it, one report for each source. */
  coverage(options: CoveragePlace & { format: 'json' }): Promise<CoverageReport[]>;
}

/** Whose rules `coverage` is about; without a member those of the whole suite. */
export interface CoveragePlace {
  /**
   * The project.
   *
   * @default the suite's own, where `database` is given
   */
  project?: string;
  /**
   * The database.
   *
   * @default '(default)', where `project` is given
   */
  database?: string;
}

/** What `coverage` takes. */
export interface CoverageOptions extends CoveragePlace {
  /** @default 'summary' */
  format?: 'summary' | 'lcov' | 'json';
}

/** How many of what there is the requests have reached. */
export interface CoverageFigure {
  readonly covered: number;
  readonly total: number;
  /** 100 where there is nothing. */
  readonly percent: number;
}

/** The figures of rules. */
export interface CoverageFigures {
  /** Lines with an allow statement or an expression. */
  readonly lines: CoverageFigure;
  readonly functions: CoverageFigure;
  /** Conditions that granted, and conditions that did not. */
  readonly branches: CoverageFigure;
  readonly expressions: CoverageFigure;
}

/** A summary of coverage. */
export interface CoverageSummary {
  readonly total: CoverageFigures;
  /** Each source. */
  readonly rulesets: readonly (CoverageFigures & {
    /** The name of the file. */
    readonly name: string;
    /** The match blocks with allow statements, in the source's order. */
    readonly blocks: readonly {
      /** The whole path of the match block. */
      readonly pattern: string;
      readonly line: number;
      readonly branches: CoverageFigure;
      readonly expressions: CoverageFigure;
      readonly statements: readonly {
        readonly line: number;
        readonly column: number;
        readonly methods: readonly ('get' | 'list' | 'create' | 'update' | 'delete')[];
        /** How often it was tried and granted, was false, and had an error. */
        readonly granted: number;
        readonly refused: number;
        readonly failed: number;
      }[];
    }[];
    /** The functions, in the source's order. */
    readonly functionCalls: readonly { readonly name: string; readonly line: number; readonly calls: number }[];
  })[];
  /** A table of it for people. */
  readonly text: string;
}

/** A report of coverage as the official emulator answers it. */
export interface CoverageReport {
  readonly rules: { readonly files: readonly { readonly name: string; readonly content: string }[] };
  /** The expressions of functions and then those of conditions; missing where there is none. */
  readonly report?: readonly CoverageNode[];
}

/** An expression of a report. */
export interface CoverageNode {
  /** Line and column count from 1, offsets from 0 in characters; the last character belongs to it. */
  readonly sourcePosition: {
    readonly line: number;
    readonly column: number;
    readonly currentOffset: number;
    readonly endOffset: number;
  };
  /** The values it came to, and how often; an empty one where it was passed over. Missing before the first. */
  readonly values?: readonly { readonly value: { readonly [type: string]: unknown }; readonly count: number }[];
  readonly children?: readonly CoverageNode[];
}

/** A request for `explain`. */
export interface ExplainedRequest {
  /** What it does; `list` is a query or a listener on one. */
  method: 'get' | 'list' | 'create' | 'update' | 'delete';
  /** The path of the document, such as `notes/a`; for `list` that of the collection. */
  path: string;
  /**
   * Who asks: nobody, or a user with further claims.
   *
   * @default null
   */
  auth?: { uid: string; token?: { [claim: string]: unknown } } | null;
  /** For `create` and `update`: the whole document as it would be afterwards. */
  data?: { [field: string]: unknown };
  /** For `list`: filters such as `['owner', '==', 'alice']`, all of which hold. */
  where?: [field: string, op: string, value: unknown][];
  /** For `list`: the limit of the query. */
  limit?: number;
  /**
   * The project.
   *
   * @default the suite's own
   */
  project?: string;
  /**
   * The database.
   *
   * @default '(default)'
   */
  database?: string;
}

/** What rules say to a request. */
export interface Explanation {
  /** Whether it is allowed. */
  readonly allowed: boolean;
  /** What a client is told where it is not. */
  readonly message: string;
  /** The name of the rules' file; null where there are no rules, so that everything is allowed. */
  readonly rules: string | null;
  /** The whole explanation as text. */
  readonly explanation: string;
  /** The allow statements that were tried, in order. */
  readonly attempts: readonly {
    /** The whole path of the match block. */
    readonly match: string;
    /** The wildcards of that path with their values. */
    readonly wildcards: { readonly [name: string]: string };
    /** Where the allow statement stands, counted from 1. */
    readonly line: number;
    readonly column: number;
    readonly outcome: 'granted' | 'false' | 'error';
    /** What went wrong, for an error. */
    readonly error: string | null;
    /** The part of the condition that decided, where it did not grant. */
    readonly deciding: {
      readonly text: string;
      readonly line: number;
      readonly column: number;
      readonly value: string | null;
      readonly error: string | null;
      readonly operands: readonly { readonly text: string; readonly value: string | null; readonly error: string | null }[];
    } | null;
  }[];
  /** What `debug()` was called with. */
  readonly debug: readonly { readonly line: number; readonly column: number; readonly value: string }[];
}

/**
 * A running suite. It keeps the process alive until `stop` or `unref`.
 */
export interface Suite {
  /** The suite's own project id. */
  readonly project: string;
  /** Where Firestore answers gRPC and REST, and its rules. */
  readonly firestore: FirestoreService;
  /** Where the emulator hub answers. */
  readonly hub: ServiceAddress;
  /** The clock that everything in the suite reads. */
  readonly clock: Clock;
  /**
   * The environment variables by which Firebase SDKs find this suite, such as
   * `FIRESTORE_EMULATOR_HOST` and `GCLOUD_PROJECT`. Pass them to a child process, or call `applyEnv`.
   */
  readonly env: { readonly [name: string]: string };

  /**
   * Sets `env` in this process, for the SDK instances made afterwards. `stop` gives each variable
   * its earlier value back, unless somebody else has changed it in the meantime.
   *
   * @returns the suite itself
   * @throws {FireletError} `FIRELET_STOPPED`
   */
  applyEnv(): this;

  /**
   * Deletes all data, of one project or of all projects. Listeners hear of it like of any other
   * deletion; clients stay connected.
   *
   * @throws {FireletError} `FIRELET_STOPPED`; `FIRELET_UNKNOWN_OPTION` and `FIRELET_INVALID_OPTION`, so
   * that a misspelt `project` never means every project
   */
  clear(options?: { project?: string }): Promise<void>;

  /**
   * Remembers all data as it is now, of one project or of all projects. Takes the same fraction of a
   * millisecond however much data there is. The snapshot costs memory only for what changes after it,
   * until it is collected or the suite stops.
   *
   * By a name it can be restored by that name for as long as the suite runs; a second one of a name takes the
   * place of the first. In a suite that keeps its data, the suites after it find it too: what is kept of it is on
   * the disk when the promise resolves, which takes as long as there is much, and clients do not wait for it.
   *
   * @throws {FireletError} `FIRELET_STOPPED`; `FIRELET_INVALID_OPTION` for a name of other characters than letters,
   * digits, `-`, `_` and `.`, or for more than 100 names
   */
  snapshot(options?: { project?: string }): Promise<Snapshot>;
  snapshot(name: string, options?: { project?: string }): Promise<Snapshot>;

  /**
   * The names of the snapshots that `restore` takes, in order.
   *
   * @throws {FireletError} `FIRELET_STOPPED`
   */
  snapshots(): Promise<string[]>;

  /**
   * Makes the data what it was when `snapshot` was taken, of the projects it was taken of, those that
   * came later included. A snapshot can be restored any number of times. Listeners hear of the
   * difference; update times go on, and no client sees one go back.
   *
   * Takes a fraction of a millisecond in memory; in kept data as long as writing what has changed.
   *
   * @param snapshot the snapshot, or its name
   * @throws {FireletError} `FIRELET_STOPPED`; `FIRELET_FOREIGN_SNAPSHOT` for one of another suite;
   * `FIRELET_NO_SNAPSHOT` for a name that none has
   */
  restore(snapshot: Snapshot | string): Promise<void>;

  /**
   * Makes the project `project` a copy of `from`, in place of what it held. The copy costs nothing
   * until one of the two is written to, so every test can have a project of its own with the same data
   * in it. A fork lives in memory, also in a suite that keeps its data.
   *
   * Reference values keep the project they were written with.
   *
   * @param options `from` is the suite's own project by default
   * @throws {FireletError} `FIRELET_STOPPED`, `FIRELET_INVALID_PROJECT`, `FIRELET_INVALID_OPTION`
   */
  fork(options: { project: string; from?: string }): Promise<void>;

  /**
   * Writes the data of the suite's own project as an official export, which `import` of `data`, `--import` and the
   * Firebase CLI read: as it is at the call, while clients go on. The folder is replaced as a whole once
   * everything is on the disk. What lies in it beside an earlier export stays. `stop` waits for it.
   *
   * @param dir the folder; a relative path starts at `cwd`
   * @param options `force` allows a folder that holds other files and no export
   * @returns how many documents there are
   * @throws {FireletError} `FIRELET_EXPORT_REFUSED`, `FIRELET_EXPORT_FAILED`, `FIRELET_STOPPED`, and what was
   * in the folder is there still
   */
  export(dir: string, options?: { force?: boolean }): Promise<{ documents: number }>;

  /**
   * Resolves when every listener has been sent what was written before the call, over gRPC and to browsers. An SDK's
   * callback runs when its client has read that: in this process a turn of the event loop later, or a few.
   *
   * Waits for as long as the slowest listener takes to read.
   *
   * @throws {FireletError} `FIRELET_STOPPED`
   */
  idle(): Promise<void>;

  /**
   * Closes every port, connection and thread of the suite, writes kept data to the disk, and undoes
   * `applyEnv`. May be called more than once; every call waits for the same end.
   *
   * @throws {FireletError} `FIRELET_SERVICE_FAILED` if kept data could not be written to the end
   */
  stop(): Promise<void>;

  /**
   * Lets the process end although the suite runs. It ends with the process then.
   *
   * @returns the suite itself
   */
  unref(): this;

  /** Calls `stop`: `await using suite = await start()` stops it at the end of the block. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** The suite's clock: the machine's, until it is moved ahead. */
export interface Clock {
  /**
   * The time on the clock, in milliseconds since 1970, as `Date.now()` counts them.
   *
   * @throws {FireletError} `FIRELET_STOPPED`
   */
  now(): number;

  /**
   * Moves the clock forward by so many milliseconds; it goes on from there, and nothing moves it back.
   * Server timestamps, the times of documents and reads, the time limits of transactions and TTL policies
   * follow it. Resolves when documents that have expired by then are deleted.
   *
   * @throws {FireletError} `FIRELET_STOPPED`; `FIRELET_INVALID_OPTION` for what is no time span, or leads past
   * the year 9999
   */
  advance(ms: number): Promise<void>;
}

/** A moment of a suite's data, made by `suite.snapshot` for `suite.restore`. */
export interface Snapshot {
  /** Only the suite can read it. */
  readonly [Symbol.toStringTag]: 'Snapshot';
}

/**
 * Starts a suite in this process: no child process, no download, and free ports by default, so that
 * any number of suites run side by side.
 *
 * @throws {FireletError} `FIRELET_INVALID_OPTION` and the other codes of docs/reference/errors.md
 */
export function start(options?: StartOptions): Promise<Suite>;

/** The `code` of a `FireletError`. docs/reference/errors.md says what each means and what to do. */
export type FireletErrorCode =
  | 'FIRELET_BAD_CONFIG'
  | 'FIRELET_BAD_RULES'
  | 'FIRELET_BAD_SEED'
  | 'FIRELET_BINDING_MISSING'
  | 'FIRELET_CLEAR_FAILED'
  | 'FIRELET_CONFIG_NOT_FOUND'
  | 'FIRELET_COVERAGE_TOO_LOW'
  | 'FIRELET_DATA_IN_USE'
  | 'FIRELET_DATA_NOT_EMPTY'
  | 'FIRELET_DATA_TOO_NEW'
  | 'FIRELET_DATA_UNUSABLE'
  | 'FIRELET_EXPORT_FAILED'
  | 'FIRELET_EXPORT_REFUSED'
  | 'FIRELET_FOREIGN_SNAPSHOT'
  | 'FIRELET_IMPORT_FAILED'
  | 'FIRELET_INTERNAL'
  | 'FIRELET_INVALID_OPTION'
  | 'FIRELET_INVALID_PROJECT'
  | 'FIRELET_LISTEN_FAILED'
  | 'FIRELET_NO_RUN'
  | 'FIRELET_NO_SNAPSHOT'
  | 'FIRELET_NOT_YET'
  | 'FIRELET_NOTHING_TO_START'
  | 'FIRELET_PORT_IN_USE'
  | 'FIRELET_RESTORE_FAILED'
  | 'FIRELET_SERVICE_FAILED'
  | 'FIRELET_STOPPED'
  | 'FIRELET_SYSTEM_REFUSED'
  | 'FIRELET_UNKNOWN_OPTION'
  | 'FIRELET_UNKNOWN_SERVICE';

/** The one error class of firelet. */
export class FireletError extends Error {
  /** Always `FireletError`. */
  readonly name: 'FireletError';
  /** What went wrong; stable, unlike the message. */
  readonly code: FireletErrorCode;
  /** The error below this one, where there is one. */
  readonly cause?: unknown;

  constructor(code: FireletErrorCode, message: string, options?: { cause?: unknown });
}
