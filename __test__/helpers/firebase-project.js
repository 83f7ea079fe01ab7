'use strict';

/** Firebase projects for CLI tests: folders with a firebase.json, gone after the test. */

const { mkdtempSync, rmSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');

/**
 * @param {import('node:test').TestContext} t
 * @param {{ [name: string]: string | object }} files by name; an object is written as JSON
 * @returns {string} the folder
 */
function firebaseProject(t, files) {
  const folder = mkdtempSync(join(tmpdir(), 'firelet-test-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
  return folder;
}

module.exports = { firebaseProject };
