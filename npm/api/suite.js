'use strict';

/** A running suite, and `start`, which makes one. */

const { resolve } = require('node:path');
// Taken at load time: a test that installs fake timers must not take the suite's hold on the process.
const { clearInterval, setInterval } = require('node:timers');

const { binding, made, unwrap } = require('./binding.js');
const { lend, takeBack } = require('./env.js');
const { FireletError } = require('./error.js');
const { milliseconds, plain, strings, toJson } = require('./options.js');
const seeds = require('./seed.js');

/** What a request that is to be explained consists of. */
const EXPLAINED = ['method', 'path', 'auth', 'data', 'where', 'limit', 'project', 'database'];

/** The longest delay that Node's timers take, about 25 days. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

/**
 * @typedef {import('../../index.js').ServiceAddress} ServiceAddress
 * @typedef {{ project: string, env: { [name: string]: string }, services: { [name: string]: ServiceAddress } }} Info
 */

class Suite {
  /** @type {import('../binding/binding.js').BindingSuite} */
  #native;
  /** @type {ReturnType<typeof setInterval>} */
  #hold;
  /** @type {Promise<void> | undefined} */
  #stopping;

  /**
   * @param {import('../binding/binding.js').BindingSuite} native
   * @param {Info} info
   */
  constructor(native, info) {
    this.#native = native;
    this.project = info.project;
    this.env = Object.freeze({ ...info.env });
    this.firestore = Object.freeze({
      ...info.services.firestore,
      setRules: (/** @type {string} */ source, /** @type {{ project?: string, database?: string }} */ options) =>
        this.#setRules(source, options),
      coverage: (/** @type {import('../../index.js').CoverageOptions} */ options) => this.#coverage(options),
      explain: (/** @type {import('../../index.js').ExplainedRequest} */ request) => this.#explain(request),
    });
    this.hub = Object.freeze(info.services.hub);
    this.clock = Object.freeze({
      now: () => this.#now(),
      advance: (/** @type {number} */ ms) => this.#advance(ms),
    });
    // Sockets served by Rust are unknown to Node's event loop, so a timer stands in for them. Its
    // callback also keeps `native` reachable: a forgotten suite runs on, it is not collected.
    this.#hold = setInterval(() => void native, LONGEST_DELAY_MS);
  }

  applyEnv() {
    if (this.#stopping !== undefined) throw stopped();
    lend(this, this.env);
    return this;
  }

  /** @param {{ project?: string }} [options] */
  async clear(options) {
    if (this.#stopping !== undefined) throw stopped();
    const { project } = strings('clear', options, ['project']);
    unwrap(await this.#native.clear(project ?? null));
  }

  /**
   * @param {string | { project?: string }} [nameOrOptions]
   * @param {{ project?: string }} [optionsOfNamed]
   */
  async snapshot(nameOrOptions, optionsOfNamed) {
    if (this.#stopping !== undefined) throw stopped();
    const [name, options] = typeof nameOrOptions === 'string' ? [nameOrOptions, optionsOfNamed] : [null, nameOrOptions];
    const { project } = strings('snapshot', options, ['project']);
    const native = new (binding().BindingSnapshot)(this.#native);
    unwrap(await native.take(project ?? null, name));
    return new Snapshot(native);
  }

  async snapshots() {
    if (this.#stopping !== undefined) throw stopped();
    return unwrap(await this.#native.snapshotNames());
  }

  /** @param {Snapshot | string} snapshot */
  async restore(snapshot) {
    if (this.#stopping !== undefined) throw stopped();
    if (typeof snapshot === 'string') unwrap(await this.#native.restoreNamed(snapshot));
    else unwrap(await nativeOf(snapshot).restoreIn(this.#native));
  }

  /** @param {{ project: string, from?: string }} options */
  async fork(options) {
    if (this.#stopping !== undefined) throw stopped();
    const { project, from } = strings('fork', options, ['project', 'from']);
    if (project === undefined) {
      throw new FireletError('FIRELET_INVALID_OPTION', 'option `project` must be a string: the id of the new project');
    }
    unwrap(await this.#native.fork(project, from ?? null));
  }

  /**
   * @param {string} dir
   * @param {{ force?: boolean }} [options]
   */
  async export(dir, options) {
    if (this.#stopping !== undefined) throw stopped();
    if (typeof dir !== 'string' || dir === '' || !dir.isWellFormed()) {
      throw new FireletError('FIRELET_INVALID_OPTION', '`export` takes the path of a folder, a string');
    }
    const { force = false } = plain('export', options ?? {}, ['force']);
    if (typeof force !== 'boolean') {
      throw new FireletError('FIRELET_INVALID_OPTION', `option \`force\` must be a boolean, not a ${typeof force}`);
    }
    return unwrap(await this.#native.exportData(dir, force));
  }

  async idle() {
    if (this.#stopping !== undefined) throw stopped();
    unwrap(await this.#native.idle());
  }

  /**
   * @param {string} source
   * @param {{ project?: string, database?: string }} [options]
   */
  async #setRules(source, options) {
    if (typeof source !== 'string' || !source.isWellFormed()) {
      throw new FireletError('FIRELET_INVALID_OPTION', '`setRules` takes the source of rules, a string');
    }
    const { project, database } = strings('setRules', options, ['project', 'database']);
    return this.#control('setRules', { source, project, database });
  }

  /** @param {import('../../index.js').ExplainedRequest} request */
  async #explain(request) {
    return this.#control('explain', plain('explain', request, EXPLAINED));
  }

  /** @param {import('../../index.js').CoverageOptions} [options] */
  async #coverage(options) {
    return this.#control('coverage', strings('coverage', options, ['format', 'project', 'database']));
  }

  /**
   * @param {string} name
   * @param {object} argument
   */
  async #control(name, argument) {
    if (this.#stopping !== undefined) throw stopped();
    return unwrap(await this.#native.control('firestore', name, toJson(argument)));
  }

  #now() {
    const now = this.#stopping === undefined ? this.#native.now() : null;
    if (now === null) throw stopped();
    return now;
  }

  /** @param {number} ms */
  async #advance(ms) {
    if (this.#stopping !== undefined) throw stopped();
    unwrap(await this.#native.advance(milliseconds('advance', ms)));
  }

  stop() {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop() {
    takeBack(this);
    try {
      unwrap(await this.#native.stop());
    } finally {
      clearInterval(this.#hold);
    }
  }

  unref() {
    this.#hold.unref();
    return this;
  }

  [Symbol.asyncDispose]() {
    return this.stop();
  }
}

/**
 * The addon's side of a snapshot.
 *
 * @type {(snapshot: Snapshot) => import('../binding/binding.js').BindingSnapshot}
 */
let nativeOf;

/** A moment of a suite's data. What it holds is the addon's. */
class Snapshot {
  /** @type {import('../binding/binding.js').BindingSnapshot} */
  #native;

  /** @param {import('../binding/binding.js').BindingSnapshot} native */
  constructor(native) {
    this.#native = native;
  }

  /** @returns {'Snapshot'} */
  get [Symbol.toStringTag]() {
    return 'Snapshot';
  }

  static {
    nativeOf = (snapshot) => {
      if (typeof snapshot === 'object' && snapshot !== null && #native in snapshot) return snapshot.#native;
      throw new FireletError('FIRELET_INVALID_OPTION', '`restore` takes what `snapshot` has returned, or its name');
    };
  }
}

/** Tells what the running suite has to tell, the way Node's own modules do. @param {string} text */
function warn(text) {
  process.emitWarning(text, { type: 'FireletWarning' });
}

function stopped() {
  return new FireletError('FIRELET_STOPPED', 'this suite is stopped: call `start` for another one');
}

/**
 * @param {import('../../index.js').StartOptions} [options]
 * @returns {Promise<Suite>}
 */
async function start(options) {
  const { seed, ...others } = options ?? {};
  if (seed === undefined || seed === null) return open(options);
  // What is wrong with it is told before anything is started.
  const source = await seeds.read(seed, resolve(typeof others.cwd === 'string' ? others.cwd : '.'));
  if ('folder' in source) return seeds.startWithExport(source.folder, others, open);
  const suite = await open(others);
  try {
    await seeds.plant(suite, source);
    return suite;
  } catch (error) {
    await suite.stop();
    throw error;
  }
}

/** @param {unknown} options */
async function open(options) {
  const json = toJson(options);
  const { BindingSuite } = binding();
  const native = made(() => new BindingSuite(json, warn));
  try {
    return new Suite(native, unwrap(await native.start()));
  } catch (error) {
    await native.stop();
    throw error;
  }
}

module.exports = { start, Suite };
