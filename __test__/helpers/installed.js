'use strict';

/**
 * firelet as npm installs it: the packed main package and the platform package side by side in a
 * node_modules folder, without a Rust source in sight.
 */

const { execFileSync } = require('node:child_process');
const { cpSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } = require('node:fs');
const { join, relative } = require('node:path');

const { ROOT } = require('./run.js');

const NPM = process.platform === 'win32' ? 'npm.cmd' : 'npm';

/** The folder for what tests unpack and copy. */
const SPACE = join(ROOT, 'target', 'installed');

/** @type {Map<string, string> | undefined} the archives by package name, packed once in a process */
let packed;

/**
 * Makes a folder with firelet installed in it, and the packages of this repository that `others` names.
 *
 * @param {import('node:test').TestContext} t
 * @param {string[]} [others]
 * @returns {string} the folder
 */
function installed(t, others = []) {
  packed ??= packAll();
  const folder = mkdtempSync(join(SPACE, 'app-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  // Without a package of its own, the name `firelet` would lead to the repository around the folder.
  writeFileSync(join(folder, 'package.json'), '{ "name": "app", "private": true }');
  const modules = join(folder, 'node_modules');
  mkdirSync(modules);
  for (const [name, archive] of packed) {
    execFileSync('tar', ['-xzf', archive, '-C', folder]);
    renameSync(join(folder, 'package'), join(modules, name));
  }
  for (const name of others) {
    mkdirSync(join(modules, name, '..'), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name), 'junction');
  }
  return folder;
}

/** Packs the main package and the platform package of the binary that was built here. */
function packAll() {
  mkdirSync(SPACE, { recursive: true });
  const folder = mkdtempSync(join(SPACE, 'packed-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const cli = join(ROOT, 'node_modules', '@napi-rs', 'cli', 'dist', 'cli.js');
  execFileSync(process.execPath, [cli, 'create-npm-dirs', '--npm-dir', relative(ROOT, folder)], { cwd: ROOT, stdio: 'ignore' });
  const archives = new Map([['firelet', pack(ROOT, folder)]]);
  const binding = join(ROOT, 'npm', 'binding');
  for (const binary of readdirSync(binding).filter((name) => name.endsWith('.node'))) {
    const platform = binary.split('.')[1];
    cpSync(join(binding, binary), join(folder, platform, binary));
    archives.set(`firelet-${platform}`, pack(join(folder, platform), folder));
  }
  return archives;
}

/**
 * Packs a package as publishing does.
 *
 * @param {string} source
 * @param {string} folder
 * @returns {string} the archive
 */
function pack(source, folder) {
  const answer = execFileSync(NPM, ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
    cwd: source,
    encoding: 'utf8',
    shell: process.platform === 'win32',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return join(folder, JSON.parse(answer)[0].filename);
}

module.exports = { installed };
