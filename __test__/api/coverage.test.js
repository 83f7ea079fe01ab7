'use strict';

/** Coverage of security rules: the official emulator's routes, the suite's own reports, and what runners demand. */

const assert = require('node:assert/strict');
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { test } = require('node:test');

const { start } = require('../../index.js');
const { firebaseProject } = require('../helpers/firebase-project.js');
const { rest, suiteFor } = require('../helpers/suite.js');

const RULES = `rules_version = '2';
service cloud.firestore {
  match /databases/{database}/documents {
    function own(r) {
      return r.data.owner == request.auth.uid;
    }
    match /notes/{id} {
      allow get: if own(resource) || false;
      allow create: if request.resource.data.n is int && id != 'x';
    }
    match /never/{id} { allow read: if id == 'a'; }
  }
}
`;

/** @param {string} uid */
const as = (uid) =>
  `Bearer ${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(JSON.stringify({ sub: uid })).toString('base64url')}.`;

/**
 * @param {import('../../index.js').Suite} suite
 * @param {string} path
 * @param {string} uid
 * @param {string} [project]
 */
async function get(suite, path, uid, project = suite.project) {
  const url = `${suite.firestore.url}/v1/projects/${project}/databases/(default)/documents/${path}`;
  const answer = await fetch(url, { headers: { authorization: as(uid) } });
  await answer.text();
  return answer.status;
}

/**
 * @param {import('../../index.js').Suite} suite
 * @param {string} name
 */
async function route(suite, name) {
  const answer = await fetch(`${suite.firestore.url}/emulator/v1/projects/${name}`);
  return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() };
}

/** The nodes of a report by what they show. @param {any} report */
function nodes(report) {
  /** @type {{ [text: string]: any }} */
  const found = {};
  const walk = (/** @type {any} */ node) => {
    const { currentOffset, endOffset } = node.sourcePosition;
    found[report.rules.files[0].content.slice(currentOffset, endOffset + 1)] = node;
    node.children?.forEach(walk);
  };
  report.report.forEach(walk);
  return found;
}

test('the route tells what expressions came to, as the official emulator does', async (t) => {
  const suite = await suiteFor(t, { project: 'demo-coverage', firestore: { rules: RULES } });
  await rest(suite, 'PATCH', '/notes/a', { fields: { owner: { stringValue: 'me' } } });
  assert.deepEqual([await get(suite, 'notes/a', 'me'), await get(suite, 'notes/a', 'you')], [200, 403]);

  const { status, type, text } = await route(suite, 'demo-coverage:ruleCoverage');
  assert.deepEqual([status, type], [200, 'application/json']);
  const report = JSON.parse(text);
  assert.equal(report.rules.files[0].content, RULES);
  const found = nodes(report);
  assert.deepEqual(found['r.data.owner == request.auth.uid'].sourcePosition, {
    line: 5,
    column: 14,
    currentOffset: RULES.indexOf('r.data.owner =='),
    endOffset: RULES.indexOf('r.data.owner ==') + 'r.data.owner == request.auth.uid'.length - 1,
  });
  const both = [{ value: { boolValue: true }, count: 1 }, { value: { boolValue: false }, count: 1 }];
  assert.deepEqual(found['r.data.owner == request.auth.uid'].values, both);
  assert.deepEqual(found['own(resource) || false'].values, both);
  assert.deepEqual(found['request.auth.uid'].values, [
    { value: { stringValue: 'me' }, count: 1 },
    { value: { stringValue: 'you' }, count: 1 },
  ]);
  const segments = ['databases', '(default)', 'documents', 'notes', 'a'].map((simple) => ({ simple }));
  const document = {
    data: { mapValue: { fields: { owner: { stringValue: 'me' } } } },
    id: { stringValue: 'a' },
    __name__: { pathValue: { segments } },
  };
  assert.deepEqual(found.resource.values, [{ value: { mapValue: { fields: document } }, count: 2 }]);
  assert.equal(found["id == 'a'"].values, undefined);

  const page = await route(suite, 'demo-coverage/databases/(default):ruleCoverage.html');
  assert.equal(page.status, 200);
  assert.match(page.text, /<title>Firestore Rule Coverage Report<\/title>/);
  assert.ok(!page.text.includes('{{report}}') && page.text.includes('r.data.owner'));
  const foreign = { headers: { origin: 'https://stranger.example' } };
  assert.equal((await fetch(`${suite.firestore.url}/emulator/v1/projects/demo-coverage:ruleCoverage`, foreign)).status, 403);
});

test('errors and what is passed over are told, and setting rules begins anew', async (t) => {
  const suite = await suiteFor(t, { project: 'demo-anew', firestore: { rules: RULES } });
  const create = async (/** @type {unknown} */ fields) => {
    const url = `${suite.firestore.url}/v1/projects/demo-anew/databases/(default)/documents/notes/b`;
    await (await fetch(url, { method: 'PATCH', body: JSON.stringify({ fields }) })).text();
  };
  await create({});
  await create({ n: { stringValue: 'x' } });
  const report = JSON.parse((await route(suite, 'demo-anew:ruleCoverage')).text);
  const found = nodes(report);
  const [wrong] = found['request.resource.data.n'].values.filter((/** @type {any} */ one) => one.value.undefined);
  assert.equal(wrong.value.undefined.causeMessage, 'Property n is undefined on object.');
  assert.equal(wrong.value.undefined.sourcePosition.line, 9);
  assert.deepEqual(found["id != 'x'"].values, [
    { value: { boolValue: true }, count: 1 },
    { value: {}, count: 1 },
  ]);

  await suite.firestore.setRules(RULES);
  const anew = JSON.parse((await route(suite, 'demo-anew:ruleCoverage')).text);
  assert.equal(nodes(anew)["id != 'x'"].values, undefined);
  // The suite's own report goes on.
  const { rulesets } = await suite.firestore.coverage();
  assert.equal(rulesets.length, 1);
  assert.deepEqual(rulesets[0].blocks[0].statements[1], {
    line: 9,
    column: 7,
    methods: ['create'],
    granted: 0,
    refused: 1,
    failed: 1,
  });
});

test('memory is bounded by the rules: of many values the first are kept', async (t) => {
  const suite = await suiteFor(t, { project: 'demo-many', firestore: { rules: RULES } });
  for (let number = 0; number < 60; number += 1) await get(suite, `never/${number}`, 'me');
  const report = JSON.parse((await route(suite, 'demo-many:ruleCoverage')).text);
  const { values } = nodes(report).id;
  assert.equal(values.length, 25);
  assert.match(values[24].value.undefined.causeMessage, /beyond those that are kept/);
  assert.equal(values.reduce((/** @type {number} */ sum, /** @type {any} */ { count }) => sum + count, 0), 60);
});

test('the suite adds up all projects, in three forms', async (t) => {
  const suite = await suiteFor(t, { project: 'demo-sum', firestore: { rules: RULES } });
  const { coverage, setRules } = suite.firestore;
  await setRules(RULES, { project: 'demo-other' });
  await get(suite, 'never/a', 'me');
  await get(suite, 'never/b', 'me', 'demo-other');
  const all = await coverage({ format: 'summary' });
  const [ruleset] = all.rulesets;
  assert.equal(all.rulesets.length, 1);
  assert.equal(ruleset.name, 'firestore.rules');
  assert.deepEqual(ruleset.branches, { covered: 2, total: 6, percent: 33.33 });
  assert.deepEqual(ruleset.functions, { covered: 0, total: 1, percent: 0 });
  assert.deepEqual(ruleset.blocks.map(({ pattern, branches }) => [pattern, branches.covered, branches.total]), [
    ['/databases/{database}/documents/notes/{id}', 0, 4],
    ['/databases/{database}/documents/never/{id}', 2, 2],
  ]);
  assert.deepEqual(ruleset.functionCalls, [{ name: 'own', line: 4, calls: 0 }]);
  assert.match(all.text, /never\/\{id\} +100\.0 %/);
  const one = await coverage({ project: 'demo-other' });
  assert.deepEqual(one.rulesets[0].branches, { covered: 1, total: 6, percent: 16.66 });

  const lcov = await coverage({ format: 'lcov' });
  for (const line of ['SF:firestore.rules', 'FN:4,own', 'FNDA:0,own', 'BRDA:11,2,0,1', 'BRDA:11,2,1,1', 'BRDA:8,0,0,-', 'DA:11,2', 'DA:5,0', 'BRF:6', 'BRH:2', 'end_of_record']) {
    assert.ok(lcov.split('\n').includes(line), `${line} in\n${lcov}`);
  }
  const reports = await coverage({ format: 'json' });
  assert.equal(nodes(reports[0])["id == 'a'"].values?.length, 2);
  await assert.rejects(coverage(/** @type {any} */ ({ format: 'html' })), { code: 'FIRELET_INVALID_OPTION' });
  await assert.rejects(coverage(/** @type {any} */ ({ fromat: 'lcov' })), { code: 'FIRELET_UNKNOWN_OPTION' });
  await suite.stop();
  await assert.rejects(coverage(), { code: 'FIRELET_STOPPED' });
});

test('a run is held to its threshold when it ends', async (t) => {
  const cwd = firebaseProject(t, {});
  const lcov = join(cwd, 'out', 'rules.lcov');
  const setup = require('../../vitest.js');
  const run = async (/** @type {unknown} */ rulesCoverage) => {
    const firelet = { config: false, project: 'demo-held', firestore: { rules: RULES }, rulesCoverage };
    const end = await setup(/** @type {any} */ ({ config: { provide: { firelet } } }));
    const authority = process.env.FIRESTORE_EMULATOR_HOST;
    await (await fetch(`http://${authority}/v1/projects/p/databases/(default)/documents/never/a`)).text();
    await end();
  };
  await run({ threshold: { branches: 16 }, lcov });
  assert.match(readFileSync(lcov, 'utf8'), /^TN:\nSF:firestore\.rules\n/);
  await run(undefined);
  await assert.rejects(run({ threshold: 90 }), (/** @type {any} */ error) => {
    assert.equal(error.code, 'FIRELET_COVERAGE_TOO_LOW');
    assert.match(error.message, /branches: 1 of 6, 16\.66 %, and 90 % are wanted/);
    assert.match(error.message, /never\/\{id\}/);
    return true;
  });
  for (const wrong of [{ threshold: 101 }, { threshold: { branches: '5' } }, { lcov: 3 }]) {
    await assert.rejects(run(wrong), { code: 'FIRELET_INVALID_OPTION' });
  }
  await assert.rejects(run({ treshold: 5 }), { code: 'FIRELET_UNKNOWN_OPTION' });
  const jest = require('../../jest.js');
  const unheld = jest({}, { globals: { firelet: { config: false, rulesCoverage: { threshold: 1 } } } });
  await assert.rejects(unheld, /globalTeardown/);
});

test('reports are for a running suite', async () => {
  const suite = await start({ config: false });
  assert.deepEqual(await suite.firestore.coverage({ format: 'json' }), []);
  assert.equal(await suite.firestore.coverage({ format: 'lcov' }), '');
  await suite.stop();
});
