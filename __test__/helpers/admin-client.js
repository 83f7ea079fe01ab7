'use strict';

/** Google's admin client for a suite. It knows nothing of emulators, so it is told what the others find themselves. */

const { createRequire } = require('node:module');

const { v1 } = require('@google-cloud/firestore');

// The client's own copies: others would not be taken for what they are.
const ofClient = createRequire(require.resolve('@google-cloud/firestore'));
const { credentials } = ofClient('@grpc/grpc-js');
const { PassThroughClient } = ofClient('google-auth-library');

/**
 * @param {import('node:test').TestContext} t
 * @param {import('../../index.js').Suite} suite
 * @param {'grpc' | 'rest'} [transport]
 */
function adminClient(t, suite, transport = 'grpc') {
  const { host, port } = suite.firestore;
  // Neither sends credentials.
  const own = transport === 'grpc' ? { sslCreds: credentials.createInsecure() } : { fallback: true, protocol: 'http', auth: new PassThroughClient() };
  const options = { projectId: suite.project, apiEndpoint: host, port, ...own };
  const client = new v1.FirestoreAdminClient(/** @type {any} */ (options));
  t.after(() => client.close());
  return client;
}

module.exports = { adminClient };
