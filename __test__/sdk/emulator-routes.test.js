'use strict';

/** The routes that only emulators have: clearing, for programs and for pages, and what is refused by name. */

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

test('rules cannot be set, and that is said', async (t) => {
  const suite = await suiteFor(t, { project: 'demo-rules-route' });
  for (const { method, path } of [
    { method: 'PUT', path: 'projects/demo-rules-route:securityRules' },
    { method: 'PUT', path: 'projects/demo-rules-route/databases/(default):securityRules' },
    { method: 'GET', path: 'projects/demo-rules-route:ruleCoverage' },
    { method: 'GET', path: 'projects/demo-rules-route:ruleCoverage.html' },
  ]) {
    const answer = await fetch(`${suite.firestore.url}/emulator/v1/${path}`, { method });
    assert.equal(answer.status, 501, path);
    assert.match(await answer.text(), /firelet does not evaluate security rules yet/);
  }
  assert.equal((await fetch(`${suite.firestore.url}/emulator/v1/projects/demo-rules-route:export`, { method: 'POST' })).status, 404);
});
