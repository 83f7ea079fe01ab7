'use strict';

/** Options of `start`: what is refused, and what the refusal says. */

const assert = require('node:assert/strict');
const { test } = require('node:test');

const { FireletError, start } = require('../../index.js');
const { suiteFor } = require('../helpers/suite.js');

/**
 * @param {unknown} options
 * @param {import('../../index.js').FireletErrorCode} code
 * @param {string} message
 */
async function check(options, code, message) {
  await assert.rejects(start(/** @type {any} */ (options)), (error) => {
    assert.ok(error instanceof FireletError);
    assert.deepEqual([error.name, error.code, error.message], ['FireletError', code, message]);
    return true;
  });
}

test('an unknown option names the nearest valid one', async () => {
  const code = 'FIRELET_UNKNOWN_OPTION';
  await check({ projct: 'x' }, code, 'unknown option `projct`, did you mean `project`?');
  await check({ fireStore: {} }, code, 'unknown option `fireStore`, did you mean `firestore`?');
  await check({ firestore: { prot: 1 } }, code, 'unknown option `firestore.prot`, did you mean `firestore.port`?');
  await check({ port: 8080 }, code, 'unknown option `port`, did you mean `firestore.port`?');
  await check({ emulators: {} }, code, 'unknown option `emulators`, did you mean `config`?');
  await check({ telemetry: true }, code, 'unknown option `telemetry`');
  await check({ toString: 1 }, code, 'unknown option `toString`');
});

test('a value of the wrong type names its path', async () => {
  const code = 'FIRELET_INVALID_OPTION';
  await check([], code, 'option `options` must be an object, not an array');
  await check({ project: 7 }, code, 'option `project` must be a string, not `7`');
  await check({ project: '' }, code, 'option `project` must not be empty');
  await check({ firestore: 8080 }, code, 'option `firestore` must be an object, not `8080`');
  const aPort = 'must be an integer from 0 to 65535';
  await check({ firestore: { port: '8080' } }, code, `option \`firestore.port\` ${aPort}, not a string`);
  await check({ firestore: { port: 65536 } }, code, `option \`firestore.port\` ${aPort}, not \`65536\``);
  await check({ firestore: { port: 1.5 } }, code, `option \`firestore.port\` ${aPort}, not \`1.5\``);
  await check({ hub: { port: -1 } }, code, `option \`hub.port\` ${aPort}, not \`-1\``);
  await check({ only: [1] }, code, 'option `only[0]` must be a string, not `1`');
});

test('a value that is none of those there are is shown', async () => {
  const code = 'FIRELET_INVALID_OPTION';
  await check({ data: { durability: 'fast' } }, code, 'option `data.durability` must be `write-behind` or `per-commit`, not `fast`');
  await check({ data: { keep: ['firestor'] } }, code, 'option `data.keep[0]` must be the name of a service, not `firestor`, did you mean `firestore`?');
  await check({ cwd: 'package.json' }, code, 'option `cwd` must be a folder that exists, not `package.json`');
});

test('what firelet does not have yet is refused by name', async () => {
  const code = 'FIRELET_NOT_YET';
  await check({ data: { keep: ['auth'] } }, code, 'option `data.keep[0]`: firelet does not have the Authentication Emulator yet');
  await check({ import: './seed' }, code, 'option `import`: firelet does not have the import of exports yet');
});

test('several problems are reported at once', async () => {
  await check(
    { projct: 'x', hub: { port: 'y' } },
    'FIRELET_UNKNOWN_OPTION',
    'unknown option `projct`, did you mean `project`?; option `hub.port` must be an integer from 0 to 65535, not a string',
  );
});

test('what JSON would lose is refused, not left out', async () => {
  const code = 'FIRELET_INVALID_OPTION';
  const cyclic = { firestore: {} };
  cyclic.firestore = cyclic;
  class Config {}
  await check({ config: () => '' }, code, 'option `config` must be plain data, not a function');
  await check({ firestore: { port: NaN } }, code, 'option `firestore.port` must be plain data, not `NaN`');
  await check({ firestore: { port: 8080n } }, code, 'option `firestore.port` must be plain data, not a bigint');
  await check({ only: [Symbol('x')] }, code, 'option `only[0]` must be plain data, not a symbol');
  await check({ config: new Config() }, code, 'option `config` must be plain data, not an instance of `Config`');
  await check(cyclic, code, 'option `firestore` must be plain data, not an object that contains itself');
});

test('a member that is undefined counts as left out', async () => {
  const suite = await start({ project: undefined, config: false, firestore: { port: undefined } });
  assert.equal(suite.project, 'demo-no-project');
  await suite.stop();
});

test('methods refuse what they do not know: a project left out by mistake is not all projects', async (t) => {
  const suite = await suiteFor(t, { project: 'demo-methods' });
  /** @type {any} */
  const untyped = suite;
  for (const { call, code, message } of [
    { call: () => untyped.clear('demo-x'), code: 'FIRELET_INVALID_OPTION', message: /`clear` takes an object with `project`, not a string/ },
    { call: () => untyped.clear({ projct: 'demo-x' }), code: 'FIRELET_UNKNOWN_OPTION', message: /unknown option `projct`/ },
    { call: () => untyped.clear({ project: 5 }), code: 'FIRELET_INVALID_OPTION', message: /option `project` must be a string/ },
    { call: () => untyped.clear({ project: '' }), code: 'FIRELET_INVALID_OPTION', message: /not an empty string/ },
    { call: () => untyped.snapshot({ x: 5 }), code: 'FIRELET_UNKNOWN_OPTION', message: /unknown option `x`/ },
    { call: () => untyped.fork({ project: 'a', form: 'b' }), code: 'FIRELET_UNKNOWN_OPTION', message: /`project` and `from`/ },
    { call: () => start({ project: '\ud800' }), code: 'FIRELET_INVALID_OPTION', message: /surrogate/ },
    { call: () => start(/** @type {any} */ (JSON.parse('{"config":'.repeat(5_000) + '1' + '}'.repeat(5_000)))), code: 'FIRELET_INVALID_OPTION', message: /nested so deeply/ },
  ]) {
    await assert.rejects(call, (/** @type {any} */ error) => {
      assert.deepEqual([error.name, error.code], ['FireletError', code]);
      assert.match(error.message, message);
      return true;
    });
  }
  for (const fine of [undefined, null, {}, { project: undefined }]) await untyped.clear(fine);
});

test('what a test puts on Object.prototype is not taken for an answer', async (t) => {
  const suite = await suiteFor(t, {});
  Object.defineProperty(Object.prototype, 'error', { value: 'polluted', configurable: true });
  try {
    await suite.clear();
  } finally {
    Reflect.deleteProperty(Object.prototype, 'error');
  }
});
