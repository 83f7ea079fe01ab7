'use strict';

/** Types and packaging, as their own tools judge them. */

const assert = require('node:assert/strict');
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { test } = require('node:test');

const firelet = require('../../index.js');
const { node, ROOT } = require('../helpers/run.js');

const TSC = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');

/** @param {string} project */
async function compiles(project) {
  const { code, stdout, stderr } = await node([TSC, '-p', project], { cwd: ROOT }).ended;
  assert.equal(code, 0, stdout + stderr);
}

test('the public types fit the way they are used', () => compiles('__test__/types/tsconfig.json'));

test('our own JavaScript fits its types', () => compiles('tsconfig.json'));

test('the typed exports are the real ones', () => {
  const types = readFileSync(join(ROOT, 'index.d.ts'), 'utf8');
  const values = [...types.matchAll(/^export (?:declare )?(?:function|class|const) (\w+)/gm)].map(([, name]) => name);
  assert.deepEqual(values.sort(), Object.keys(firelet).sort());
});

test('every error code of the types is in the reference, and the other way round', () => {
  const types = readFileSync(join(ROOT, 'index.d.ts'), 'utf8');
  const reference = readFileSync(join(ROOT, 'docs', 'reference', 'errors.md'), 'utf8');
  const typed = [...types.matchAll(/\| '(FIRELET_\w+)'/g)].map(([, code]) => code);
  const documented = [...reference.matchAll(/^## `(FIRELET_\w+)`/gm)].map(([, code]) => code);
  assert.deepEqual(documented.sort(), typed.sort());
});

test('the package is fit to publish', async () => {
  const { publint } = await import('publint');
  const { messages } = await publint({ pkgDir: ROOT, strict: true });
  assert.deepEqual(messages, []);
});

test('the lock file names no registry', () => {
  const lock = readFileSync(join(ROOT, 'package-lock.json'), 'utf8');
  assert.doesNotMatch(lock, /"resolved"/);
});
