'use strict';

/** The routes that only emulators have: clearing, for programs and for pages, and security rules. */

const assert = require('node:assert/strict');
const { test } = require('node:test');

const { rest, suiteFor } = require('../helpers/suite.js');

const BOOK = { fields: { n: { integerValue: '1' } } };

test('programs and pages of this machine may clear, pages of strangers may not', async (t) => {
  const suite = await suiteFor(t, { project: 'demo-clear-route' });
  const route = `${suite.firestore.url}/emulator/v1/projects/demo-clear-route/databases/(default)/documents`;
  for (const { origin, cleared } of [
    { origin: undefined, cleared: true },
    { origin: 'http://localhost:5173', cleared: true },
    { origin: 'http://[::1]:5173', cleared: true },
    { origin: 'https://stranger.example', cleared: false },
    { origin: 'null', cleared: false },
  ]) {
    await rest(suite, 'PATCH', '/books/a', BOOK);
    const headers = new Headers();
    if (origin !== undefined) headers.set('origin', origin);
    const answer = await fetch(route, { method: 'DELETE', headers });
    assert.equal(answer.status, cleared ? 200 : 403, origin ?? 'no page');
    assert.equal((await rest(suite, 'GET', '/books/a')).status, cleared ? 404 : 200, origin ?? 'no page');
  }
});

test('rules are set and read by their routes', async (t) => {
  const suite = await suiteFor(t, { project: 'demo-rules-route' });
  const route = `${suite.firestore.url}/emulator/v1/projects/demo-rules-route`;
  /** @param {string} body below `documents` */
  const source = (body) => `rules_version = '2';\nservice cloud.firestore { match /databases/{d}/documents {\n${body}\n} }`;
  const [open, closed] = [source('match /{x=**} { allow read; }'), source('match /{x=**} { allow read: if false; }')];
  /**
   * @param {string} of
   * @param {unknown} body
   */
  const put = async (of, body) => {
    const answer = await fetch(`${route}${of}:securityRules`, { method: 'PUT', body: JSON.stringify(body) });
    return { status: answer.status, body: await answer.json() };
  };
  const files = (/** @type {string} */ content) => ({ rules: { files: [{ name: 'my.rules', content }] } });
  const current = async () => (await (await fetch(`${route}:securityRules`)).json()).rules.files[0];
  const read = async (/** @type {string} */ database) => {
    const path = `${suite.firestore.url}/v1/projects/demo-rules-route/databases/${database}/documents/a/b`;
    return (await fetch(path)).status;
  };

  assert.equal((await current()).name, 'OPEN_RULES');
  assert.deepEqual(await put('', files(closed)), { status: 200, body: {} });
  assert.deepEqual(await current(), { name: 'my.rules', content: closed });
  assert.deepEqual([await read('(default)'), await read('two')], [403, 403]);

  // A database of its own keeps its rules, the default one follows the project.
  assert.equal((await put('/databases/two', files(open))).status, 200);
  assert.equal((await put('/databases/(default)', files(open))).status, 200);
  assert.deepEqual([await read('(default)'), await read('two'), await read('three')], [404, 404, 403]);
  assert.equal((await put('', files(closed))).status, 200);
  assert.deepEqual([await read('(default)'), await read('two')], [403, 404]);

  const broken = source('match /a/{b} { allow read: if duration; }');
  const text = 'duration is a package and cannot be used as variable name.';
  const refused = await put('', files(broken));
  assert.deepEqual(refused, {
    status: 400,
    body: { error: { code: 400, message: `Error compiling rules:\nL3:31 ${text}`, status: 'INVALID_ARGUMENT' } },
  });
  // Who ignores errors is told of them; what is in force stays all the same.
  const issue = { sourcePosition: { fileName: 'my.rules', line: 3, column: 31 }, description: text, severity: 'ERROR' };
  assert.deepEqual(await put('', { ...files(broken), ignore_errors: true }), { status: 200, body: { issues: [issue] } });
  assert.equal((await current()).content, closed);
  const warned = await put('', files(source('match /a/{b} { allow read: if nobody; }')));
  assert.equal(warned.body.issues[0].severity, 'WARNING');

  for (const [body, expected] of /** @type {[unknown, number][]} */ ([
    [{}, 400],
    [{ rules: { files: [] } }, 400],
    [{ ...files(open), other: 1 }, 400],
    [files(`${open}//${'x'.repeat(300_000)}`), 400],
  ])) {
    assert.equal((await put('', body)).status, expected, JSON.stringify(body).slice(0, 80));
  }
  const stranger = { origin: 'https://stranger.example' };
  const asked = { method: 'PUT', headers: stranger, body: JSON.stringify(files(open)) };
  assert.equal((await fetch(`${route}:securityRules`, asked)).status, 403);
  assert.deepEqual((await (await fetch(`${route}:ruleCoverage`)).json()).rules.files[0], { name: 'my.rules', content: (await current()).content });
  assert.equal((await fetch(`${route}:export`, { method: 'POST' })).status, 404);
});
