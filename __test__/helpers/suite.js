'use strict';

/** Suites for tests: one for a test, or one for a test file, stopped when it is done. */

const { after, before } = require('node:test');

const { start } = require('../../index.js');

/**
 * A suite for one test, stopped after it even if it fails: a suite left running holds the process.
 *
 * @param {import('node:test').TestContext} t
 * @param {import('../../index.js').StartOptions} [options]
 */
async function suiteFor(t, options) {
  const suite = await start({ config: false, ...options });
  t.after(() => suite.stop());
  return suite;
}

/**
 * A suite for the calling test file. Its members may be used inside tests only, once it is started.
 *
 * @param {import('../../index.js').StartOptions} options
 * @returns {{ readonly suite: import('../../index.js').Suite }}
 */
function fileSuite(options) {
  /** @type {import('../../index.js').Suite | undefined} */
  let suite;
  before(async () => {
    suite = await start({ config: false, ...options });
  });
  after(() => suite?.stop());
  return {
    get suite() {
      if (suite === undefined) throw new Error('the suite of this file is not started yet');
      return suite;
    },
  };
}

/**
 * A request to Firestore's REST interface, answered as status and parsed body.
 *
 * @param {import('../../index.js').Suite} suite
 * @param {string} method
 * @param {string} path below `/v1/projects/{project}/databases/(default)/documents`, with its slash or colon
 * @param {unknown} [body]
 * @returns {Promise<{ status: number, body: any }>}
 */
async function rest(suite, method, path, body) {
  const url = `${suite.firestore.url}/v1/projects/${suite.project}/databases/(default)/documents${path}`;
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json', authorization: 'Bearer owner' },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}

module.exports = { suiteFor, fileSuite, rest };
