'use strict';

/**
 * The way of `start`'s options to the addon, which holds the table of options and checks names and
 * types against it. Here only what JSON would lose on the way is refused: a function or a NaN must
 * not turn into an option left out.
 */

const { FireletError } = require('./error.js');

/** Objects within objects: `firebase.json` has five or six. */
const DEPTH_MAX = 64;
/** How much of a path is shown where it has no end. */
const PATH_SHOWN_MAX = 100;

/**
 * The options as JSON.
 *
 * @param {unknown} options
 * @returns {string}
 * @throws {FireletError} `FIRELET_INVALID_OPTION`, naming the path of what is no data
 */
function toJson(options) {
  checkData(options ?? {}, '', new Set());
  return JSON.stringify(options ?? {});
}

/**
 * @param {unknown} value
 * @param {string} path
 * @param {Set<object>} around the objects this value lies in
 */
function checkData(value, path, around) {
  if (typeof value === 'string' && !value.isWellFormed()) throw noData(path, 'a string with half of a surrogate pair');
  if (around.size > DEPTH_MAX) throw noData(path.slice(0, PATH_SHOWN_MAX), 'nested so deeply');
  if (value === null || value === undefined || typeof value === 'string' || typeof value === 'boolean') return;
  if (typeof value === 'number' && Number.isFinite(value)) return;
  if (typeof value !== 'object' || !isPlain(value)) throw noData(path, describe(value));
  if (around.has(value)) throw noData(path, 'an object that contains itself');
  around.add(value);
  for (const [key, member] of Object.entries(value)) {
    checkData(member, Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`, around);
  }
  around.delete(value);
}

/**
 * Whether an object is a literal or an array, in this realm or another: test runners have several.
 *
 * @param {object} value
 */
function isPlain(value) {
  const prototype = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === null || Object.getPrototypeOf(prototype) === null;
}

/**
 * @param {string} path
 * @param {string} found
 */
function noData(path, found) {
  const subject = path === '' ? 'the options' : `option \`${path}\``;
  return new FireletError('FIRELET_INVALID_OPTION', `${subject} must be plain data, not ${found}`);
}

/** @param {unknown} value */
function describe(value) {
  if (typeof value === 'number') return `\`${value}\``;
  if (typeof value !== 'object' || value === null) return `a ${typeof value}`;
  return `an instance of \`${value.constructor?.name ?? 'a class'}\``;
}

/**
 * The options of a method, all of which are strings that may be left out. A name that is none of them is
 * refused: `clear` without its project would clear everything.
 *
 * @template {string} K
 * @param {string} method
 * @param {unknown} options
 * @param {K[]} names
 * @returns {{ [name in K]?: string }}
 * @throws {FireletError} `FIRELET_INVALID_OPTION`, `FIRELET_UNKNOWN_OPTION`
 */
function strings(method, options, names) {
  if (options === undefined || options === null) return {};
  const takes = `\`${method}\` takes an object with ${names.map((name) => `\`${name}\``).join(' and ')}`;
  if (typeof options !== 'object' || !isPlain(options) || Array.isArray(options)) {
    throw new FireletError('FIRELET_INVALID_OPTION', `${takes}, not ${describe(options)}`);
  }
  /** @type {{ [name in K]?: string }} */
  const read = {};
  for (const [key, value] of Object.entries(options)) {
    const name = names.find((known) => known === key);
    if (name === undefined) throw new FireletError('FIRELET_UNKNOWN_OPTION', `unknown option \`${key}\`: ${takes}`);
    if (value === undefined || value === null) continue;
    if (typeof value !== 'string' || value === '' || !value.isWellFormed()) {
      throw new FireletError('FIRELET_INVALID_OPTION', `option \`${key}\` must be a string, not ${value === '' ? 'an empty string' : describe(value)}`);
    }
    read[name] = value;
  }
  return read;
}

/**
 * An object given to a method, with members of these names alone. What they hold is checked where it is used.
 *
 * @param {string} method
 * @param {unknown} value
 * @param {string[]} names
 * @returns {{ [name: string]: unknown }}
 * @throws {FireletError} `FIRELET_INVALID_OPTION`, `FIRELET_UNKNOWN_OPTION`
 */
function plain(method, value, names) {
  const takes = `\`${method}\` takes an object with ${names.map((name) => `\`${name}\``).join(', ')}`;
  if (typeof value !== 'object' || value === null || !isPlain(value) || Array.isArray(value)) {
    throw new FireletError('FIRELET_INVALID_OPTION', `${takes}, not ${value === null ? 'null' : describe(value)}`);
  }
  const unknown = Object.keys(value).find((key) => !names.includes(key));
  if (unknown !== undefined) throw new FireletError('FIRELET_UNKNOWN_OPTION', `unknown option \`${unknown}\`: ${takes}`);
  return value;
}

/**
 * A time span given to a method.
 *
 * @param {string} method
 * @param {unknown} value
 * @returns {number}
 * @throws {FireletError} `FIRELET_INVALID_OPTION`
 */
function milliseconds(method, value) {
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value;
  const found = value === null ? 'null' : describe(value);
  throw new FireletError('FIRELET_INVALID_OPTION', `\`${method}\` takes a number of milliseconds, none below zero, not ${found}`);
}

module.exports = { milliseconds, plain, strings, toJson };
