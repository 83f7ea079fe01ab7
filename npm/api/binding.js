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
 * An object of the addon, which takes threads and descriptors to make.
 *
 * @template T
 * @param {() => T} make
 * @returns {T}
 * @throws {FireletError} `FIRELET_SYSTEM_REFUSED`
 */
function made(make) {
  try {
    return make();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new FireletError('FIRELET_SYSTEM_REFUSED', `the operating system refuses what firelet needs: ${reason}`, { cause });
  }
}

/**
 * Reads an answer of the addon: `{"ok": value}` or `{"error": {"code", "message"}}`.
 *
 * @param {string} answer
 * @returns {any}
 */
function unwrap(answer) {
  const parsed = JSON.parse(answer);
  // Its own members only: a test may have put anything on `Object.prototype`.
  if (Object.hasOwn(parsed, 'error')) {
    const { error } = parsed;
    const cause = !Object.hasOwn(error, 'cause') ? undefined : { cause: new Error(error.cause) };
    throw new FireletError(error.code, error.message, cause);
  }
  return parsed.ok;
}

module.exports = { binding, made, unwrap };
