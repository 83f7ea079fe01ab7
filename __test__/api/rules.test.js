'use strict';

/** Security rules through the JavaScript API: where they come from, setting them, following a file, explaining. */

const assert = require('node:assert/strict');
const { writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { test } = require('node:test');

const { start } = require('../../index.js');
const { firebaseProject } = require('../helpers/firebase-project.js');
const { rest, suiteFor } = require('../helpers/suite.js');

/** @param {string} body */
const rules = (body) => `rules_version = '2';
service cloud.firestore {
  match /databases/{database}/documents {
    ${body}
  }
}
`;

const CLOSED = rules('match /{path=**} { allow read, write: if false; }');
const OPEN = rules('match /{path=**} { allow read, write; }');
const OWN = rules(`match /notes/{id} { allow get: if resource.data.owner == request.auth.uid; }
    match /notes/{id} { allow list: if resource.data.owner == request.auth.uid; }
    match /notes/{id} { allow create: if request.resource.data.keys().hasOnly(['owner']); }`);

/**
 * How a read by nobody is answered: 404 where it is allowed, 403 where it is not.
 *
 * @param {import('../../index.js').Suite} suite
 * @param {string} [project]
 * @param {string} [database]
 */
async function read(suite, project = suite.project, database = '(default)') {
  const answer = await fetch(`${suite.firestore.url}/v1/projects/${project}/databases/${database}/documents/a/b`);
  await answer.text();
  return answer.status;
}

/** @param {() => Promise<boolean>} holds */
async function until(holds) {
  while (!(await holds())) await new Promise((resolve) => setImmediate(resolve));
}

test('without rules everything is open', async (t) => {
  const suite = await suiteFor(t, {});
  assert.equal(await read(suite), 404);
});

test('rules come as a source, as a path, or from firebase.json', async (t) => {
  const cwd = firebaseProject(t, {
    'firebase.json': { firestore: { rules: 'closed.rules' } },
    'closed.rules': CLOSED,
    'open.rules': OPEN,
  });
  const table = /** @type {const} */ ([
    [{ firestore: { rules: CLOSED } }, 403],
    [{ cwd, firestore: { rules: 'closed.rules' } }, 403],
    [{ cwd, config: 'firebase.json' }, 403],
    [{ cwd, config: 'firebase.json', firestore: { rules: 'open.rules' } }, 404],
  ]);
  for (const [options, expected] of table) {
    const suite = await suiteFor(t, options);
    assert.equal(await read(suite), expected, JSON.stringify(options));
    assert.equal(await read(suite, 'demo-other'), expected, JSON.stringify(options));
  }
});

test('every database of firebase.json has its own', async (t) => {
  const cwd = firebaseProject(t, {
    'firebase.json': {
      firestore: [
        { database: '(default)', rules: 'open.rules' },
        { database: 'data', rules: 'closed.rules' },
      ],
    },
    'open.rules': OPEN,
    'closed.rules': CLOSED,
  });
  const suite = await suiteFor(t, { cwd, config: 'firebase.json' });
  assert.equal(await read(suite), 404);
  assert.equal(await read(suite, suite.project, 'data'), 403);
});

test('rules that are wrong or missing do not start, and everything is said', async (t) => {
  const cwd = firebaseProject(t, { 'bad.rules': rules('allow read;\n    match /a/{b} { allow read: if duration; }') });
  const wrong = (/** @type {string} */ of) => start({ cwd, config: false, firestore: { rules: of } });
  await assert.rejects(wrong('bad.rules'), (/** @type {any} */ error) => {
    assert.equal(error.code, 'FIRELET_BAD_RULES');
    assert.match(error.message, /\n *bad\.rules:5:\d+ - ERROR duration is a package/);
    return true;
  });
  await assert.rejects(wrong('none.rules'), { code: 'FIRELET_INVALID_OPTION', message: /none\.rules/ });
  await assert.rejects(wrong('service x {'), { code: 'FIRELET_BAD_RULES' });
});

test('rules are set for all, for a project, or for a database', async (t) => {
  const suite = await suiteFor(t, { project: 'demo-a', firestore: { rules: OPEN } });
  const { firestore } = suite;
  assert.deepEqual(await firestore.setRules(CLOSED, { project: 'demo-b' }), { warnings: [] });
  assert.deepEqual([await read(suite), await read(suite, 'demo-b')], [404, 403]);
  await firestore.setRules(CLOSED, { database: 'data' });
  assert.deepEqual([await read(suite), await read(suite, 'demo-a', 'data')], [404, 403]);
  await assert.rejects(firestore.setRules('service cloud.firestore {}'), (/** @type {any} */ error) => {
    assert.equal(error.code, 'FIRELET_BAD_RULES');
    assert.match(error.message, /^Error compiling rules:\nL1:\d+ The 'service' body must contain/);
    return true;
  });
  assert.equal(await read(suite, 'demo-b'), 403);
  // A fork is decided as what it is a copy of.
  await suite.fork({ project: 'demo-c', from: 'demo-b' });
  assert.equal(await read(suite, 'demo-c'), 403);
  await firestore.setRules(OPEN);
  assert.deepEqual([await read(suite, 'demo-b'), await read(suite, 'demo-a', 'data')], [404, 404]);
  const { warnings } = await firestore.setRules(rules('match /a/{b} { allow read: if nobody; }'));
  assert.deepEqual(warnings, ['firestore.rules:4:35 - WARNING Invalid variable name: nobody.']);
  for (const [source, options] of /** @type {any[]} */ ([[7], [CLOSED, { projet: 'x' }]])) {
    await assert.rejects(firestore.setRules(source, options), /FIRELET|setRules/);
  }
  await suite.stop();
  await assert.rejects(firestore.setRules(OPEN), { code: 'FIRELET_STOPPED' });
});

test('a file is followed, and what is wrong in it changes nothing', async (t) => {
  const cwd = firebaseProject(t, { 'my.rules': CLOSED });
  /** @type {string[]} */
  const told = [];
  const listen = (/** @type {Error} */ warning) => told.push(warning.message);
  process.on('warning', listen);
  t.after(() => process.off('warning', listen));
  const suite = await suiteFor(t, { cwd, firestore: { rules: 'my.rules' } });
  assert.equal(await read(suite), 403);
  writeFileSync(join(cwd, 'my.rules'), OPEN);
  await until(async () => (await read(suite)) === 404);
  writeFileSync(join(cwd, 'my.rules'), OPEN.replace('allow', 'alow'));
  await until(async () => told.some((text) => text.includes('my.rules has errors')));
  assert.ok(told.some((text) => /^firestore: my\.rules:4:\d+ - ERROR /.test(text)), told.join('\n'));
  assert.equal(await read(suite), 404);
  writeFileSync(join(cwd, 'my.rules'), CLOSED);
  await until(async () => (await read(suite)) === 403);
});

test('explain says what decided', async (t) => {
  const suite = await suiteFor(t, { firestore: { rules: OWN } });
  await rest(suite, 'PATCH', '/notes/a', { fields: { owner: { stringValue: 'alice' } } });
  const explain = suite.firestore.explain;
  const alice = { uid: 'alice' };
  const allowed = await explain({ method: 'get', path: 'notes/a', auth: alice });
  assert.deepEqual([allowed.allowed, allowed.message, allowed.attempts.length], [true, '', 1]);

  const denied = await explain({ method: 'get', path: '/notes/a', auth: { uid: 'bob', token: { admin: true } } });
  assert.equal(denied.allowed, false);
  assert.equal(denied.message, "\nfalse for 'get' @ L4");
  const [attempt] = denied.attempts;
  assert.deepEqual(
    [attempt?.match, attempt?.wildcards, attempt?.line, attempt?.outcome],
    ['/databases/{database}/documents/notes/{id}', { database: '(default)', id: 'a' }, 4, 'false'],
  );
  assert.equal(attempt?.deciding?.text, 'resource.data.owner == request.auth.uid');
  assert.deepEqual(attempt?.deciding?.operands, [
    { text: 'resource.data.owner', value: "'alice'", error: null },
    { text: 'request.auth.uid', value: "'bob'", error: null },
  ]);
  assert.match(denied.explanation, /^get of \/databases\/\(default\)\/documents\/notes\/a is denied\n {2}firestore\.rules:4:/);

  const table = /** @type {const} */ ([
    [{ method: 'get', path: 'notes/a' }, false],
    [{ method: 'create', path: 'notes/b', auth: alice, data: { owner: 'alice' } }, true],
    [{ method: 'create', path: 'notes/b', auth: alice, data: { owner: 'alice', n: 1 } }, false],
    [{ method: 'delete', path: 'notes/a', auth: alice }, false],
    [{ method: 'list', path: 'notes', auth: alice, where: [['owner', '==', 'alice']] }, true],
    [{ method: 'list', path: 'notes', auth: alice }, false],
  ]);
  for (const [request, expected] of table) {
    const answer = await explain(/** @type {any} */ (request));
    assert.equal(answer.allowed, expected, answer.explanation);
  }
  for (const wrong of /** @type {any[]} */ ([
    {},
    { method: 'read', path: 'notes/a' },
    { method: 'get', path: 'notes' },
    { method: 'get', path: 'notes/a', data: {} },
    { method: 'create', path: 'notes/a' },
    { method: 'get', path: 'notes/a', auth: 'alice' },
  ])) {
    await assert.rejects(explain(wrong), { code: 'FIRELET_INVALID_OPTION' });
  }
  await assert.rejects(explain(/** @type {any} */ ({ metod: 'get' })), { code: 'FIRELET_UNKNOWN_OPTION' });
});
