'use strict';

/**
 * The door to the native addon: loads it once, on first use, and turns its JSON answers into values
 * and errors. Nothing else in npm/ touches npm/binding.
 */

const { FireletError } = require('./error.js');

/**
 * @typedef {typeof import('../binding/binding.js')} Binding
 */

/** @type {Binding | undefined} */
let loaded;

/**
 * The native addon.
 *
 * @returns {Binding}
 * @throws {FireletError} `FIRELET_BINDING_MISSING` where no binary fits this platform.
 */
function binding() {
  if (loaded === undefined) {
    try {
      loaded = require('../binding/binding.js');
    } catch (cause) {
      throw new FireletError('FIRELET_BINDING_MISSING', missing(), { cause });
    }
  }
  return /** @type {Binding} */ (loaded);
}

function missing() {
  const platform = `${process.platform}-${process.arch}`;
  return (
    `firelet has no native addon for ${platform} here: reinstall without \`--omit=optional\`, ` +
    'or, in a checkout of firelet, run `npm run build`'
  );
}

/**
 * Reads an answer of the addon: `{"ok": value}` or `{"error": {"code", "message"}}`.
 *
 * @param {string} answer
 * @returns {any}
 */
function unwrap(answer) {
  const { ok, error } = JSON.parse(answer);
  if (error !== undefined) {
    const cause = error.cause === undefined ? undefined : { cause: new Error(error.cause) };
    throw new FireletError(error.code, error.message, cause);
  }
  return ok;
}

module.exports = { binding, unwrap };
