'use strict';

/**
 * Environment variables that suites lend to a process: set by `applyEnv`, given back by `stop`.
 *
 * Suites may overlap and stop in any order, so each variable keeps the stack of suites that set it:
 * the newest one still running wins, and with the last one gone the value from before returns.
 */

/**
 * @typedef {{ original: string | undefined, layers: { owner: object, value: string }[] }} Lent
 */

/** @type {Map<string, Lent>} */
const lent = new Map();

/**
 * Sets `variables` in this process on behalf of `owner`.
 *
 * @param {object} owner
 * @param {{ readonly [name: string]: string }} variables
 */
function lend(owner, variables) {
  for (const [name, value] of Object.entries(variables)) {
    const entry = lent.get(name) ?? { original: process.env[name], layers: [] };
    entry.layers = entry.layers.filter((layer) => layer.owner !== owner);
    entry.layers.push({ owner, value });
    lent.set(name, entry);
    process.env[name] = value;
  }
}

/**
 * Takes back what `owner` lent. A variable that somebody else has changed in between is left as it is.
 *
 * @param {object} owner
 */
function takeBack(owner) {
  for (const [name, entry] of lent) {
    const shown = entry.layers.at(-1)?.value;
    const left = entry.layers.filter((layer) => layer.owner !== owner);
    if (left.length === entry.layers.length) continue;
    entry.layers = left;
    const newest = left.at(-1);
    if (process.env[name] === shown) restore(name, newest === undefined ? entry.original : newest.value);
    if (newest === undefined) lent.delete(name);
  }
}

/**
 * @param {string} name
 * @param {string | undefined} value
 */
function restore(name, value) {
  if (value === undefined) delete process.env[name];
  else process.env[name] = value;
}

module.exports = { lend, takeBack };
