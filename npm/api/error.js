'use strict';

/**
 * The one error class of firelet: `code` is stable and listed in docs/reference/errors.md, `message`
 * is for people and may change, `cause` is what lies below, where something does.
 */

class FireletError extends Error {
  /**
   * @param {import('../../index.js').FireletErrorCode} code
   * @param {string} message
   * @param {{ cause?: unknown }} [options]
   */
  constructor(code, message, options) {
    super(message, options);
    /** @type {import('../../index.js').FireletErrorCode} */
    this.code = code;
  }

  get name() {
    return 'FireletError';
  }
}

module.exports = { FireletError };
