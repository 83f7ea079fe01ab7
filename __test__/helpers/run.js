'use strict';

/** Programs for tests: run one to its end, or watch what it prints. */

const { spawn } = require('node:child_process');
const { join } = require('node:path');

/** The repository. */
const ROOT = join(__dirname, '..', '..');

/** The `firelet` command. */
const CLI = join(ROOT, 'npm', 'cli', 'bin.js');

/** How long a program may take before a test gives up on it. */
const DEADLINE_MS = 60_000;

/**
 * @typedef {{ code: number | null, signal: NodeJS.Signals | null, stdout: string, stderr: string }} Ended
 * @typedef {object} Program
 * @property {import('node:child_process').ChildProcess} child
 * @property {() => string} output standard output and error so far
 * @property {(text: string | RegExp) => Promise<RegExpMatchArray>} printed waits until it printed this
 * @property {Promise<Ended>} ended
 */

/**
 * Starts Node with a script.
 *
 * @param {string[]} parameters
 * @param {import('node:child_process').SpawnOptions} [options]
 * @returns {Program}
 */
function node(parameters, options) {
  const child = spawn(process.execPath, parameters, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
  let stdout = '';
  let stderr = '';
  /** @type {Set<() => void>} */
  const watchers = new Set();
  child.stdout?.on('data', (chunk) => {
    stdout += chunk;
    for (const look of watchers) look();
  });
  child.stderr?.on('data', (chunk) => {
    stderr += chunk;
    for (const look of watchers) look();
  });
  const output = () => stdout + stderr;
  const deadline = setTimeout(() => child.kill('SIGKILL'), DEADLINE_MS);
  /** @type {Promise<Ended>} */
  const ended = new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(deadline);
      resolve({ code, signal, stdout, stderr });
    });
  });
  const printed = (/** @type {string | RegExp} */ text) =>
    new Promise((/** @type {(match: RegExpMatchArray) => void} */ resolve, reject) => {
      const pattern = typeof text === 'string' ? new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')) : text;
      const look = () => {
        const match = output().match(pattern);
        if (match !== null) {
          watchers.delete(look);
          resolve(match);
        }
      };
      watchers.add(look);
      look();
      ended.then(() => reject(new Error(`it ended without printing ${pattern}:\n${output()}`)), reject);
    });
  return { child, output, printed, ended };
}

/**
 * Starts the `firelet` command.
 *
 * @param {string[]} parameters
 * @param {import('node:child_process').SpawnOptions} [options]
 */
function cli(parameters, options) {
  return node([CLI, ...parameters], options);
}

module.exports = { ROOT, CLI, node, cli };
