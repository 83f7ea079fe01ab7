'use strict';

/**
 * The way of `start`'s options to the addon, which holds the table of options and checks names and
 * types against it. Here only what JSON would lose on the way is refused: a function or a NaN must
 * not turn into an option left out.
 */

const { FireletError } = require('./error.js');

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

module.exports = { toJson };
