'use strict';

/**
 * What a checkout needs before it can run: the right Node, cargo, the npm packages, the addon, and
 * for the tests Python and Chromium. Each `need…` either makes it so or ends the process with one
 * sentence that says what to install.
 */

const { spawnSync } = require('node:child_process');
const { createHash } = require('node:crypto');
const { existsSync, mkdirSync, readFileSync, readdirSync, statSync, utimesSync, writeFileSync } = require('node:fs');
const { delimiter, isAbsolute, join } = require('node:path');

/** The repository. */
const ROOT = join(__dirname, '..', '..');

const WINDOWS = process.platform === 'win32';

/** A Python client of our own, so that nothing is installed into the system's Python. */
const VENV = join(ROOT, 'target', 'venv');

/** The Python packages the tests use. */
const PYTHON_PACKAGES = ['google-cloud-firestore==2.34.1'];

/**
 * Ends the process with one sentence.
 *
 * @param {string} sentence
 * @returns {never}
 */
function giveUp(sentence) {
  console.error(sentence);
  process.exit(1);
}

/**
 * Runs a command with its output shown, and ends the process if it fails.
 *
 * @param {string} what named in the sentence if it fails
 * @param {string} command
 * @param {string[]} parameters
 * @param {import('node:child_process').SpawnSyncOptions} [options]
 */
function run(what, command, parameters, options) {
  const shell = WINDOWS && command === 'npm';
  const { status, signal, error } = spawnSync(command, parameters, { cwd: ROOT, stdio: 'inherit', shell, ...options });
  if (error || signal || status !== 0) giveUp(`${what} failed: ${error?.message ?? signal ?? `exit code ${status}`}`);
}

/**
 * Whether a command can be started.
 *
 * @param {string} command
 * @param {string[]} parameters
 */
function works(command, parameters) {
  return spawnSync(command, parameters, { stdio: 'ignore' }).status === 0;
}

function needNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if ((major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major > 22) return;
  giveUp(`firelet needs Node 20.19 or newer, or 22.12 or newer, and this is ${process.versions.node}: install one of them.`);
}

function needCargo() {
  if (works('cargo', ['--version'])) return;
  giveUp('firelet is built with Rust and there is no `cargo`: install Rust from https://rustup.rs and run this again.');
}

/** Installs the npm packages unless those of this package-lock.json are there. */
function needPackages() {
  const lock = join(ROOT, 'package-lock.json');
  const stamp = join(ROOT, 'node_modules', '.firelet-lock');
  const wanted = createHash('sha256').update(readFileSync(lock)).digest('hex');
  const installed = join(ROOT, 'node_modules', '.package-lock.json');
  if (existsSync(stamp) ? readFileSync(stamp, 'utf8') === wanted : newer(installed, lock)) return;
  console.log('installing the npm packages once, about 0.5 GB; npm says nothing meanwhile');
  run('installing the npm packages with `npm ci`', 'npm', ['ci', '--ignore-scripts', '--loglevel=error']);
  writeFileSync(stamp, wanted);
}

/**
 * @param {string} a
 * @param {string} b
 */
function newer(a, b) {
  return existsSync(a) && statSync(a).mtimeMs >= statSync(b).mtimeMs;
}

/** Builds the addon in release, unless one is there that is newer than every Rust source. */
function needAddon() {
  const folder = join(ROOT, 'npm', 'binding');
  mkdirSync(folder, { recursive: true });
  const addon = () => readdirSync(folder).find((name) => name.endsWith('.node'));
  const built = addon();
  if (built !== undefined && statSync(join(folder, built)).mtimeMs >= newestSource()) return;
  const started = new Date();
  console.log('building the addon once; a first build takes about 10 minutes of CPU time and 0.5 GB');
  run('building the addon', process.execPath, [
    join(ROOT, 'node_modules', '@napi-rs', 'cli', 'dist', 'cli.js'),
    ...['build', '--platform', '--release', '--package', 'host-node'],
    ...['--output-dir', 'npm/binding', '--js', 'binding.js', '--dts', 'binding.d.ts'],
  ]);
  const made = addon();
  if (made === undefined) giveUp('building the addon made no file in npm/binding');
  // The time of the start, so that a source saved during the build counts as newer.
  utimesSync(join(folder, made), started, started);
}

/** When the newest of the files that go into the addon was saved. */
function newestSource() {
  const roots = ['crates', 'Cargo.toml', 'Cargo.lock', 'rust-toolchain.toml', 'package-lock.json'];
  const times = roots.flatMap((name) => filesUnder(join(ROOT, name))).map((file) => statSync(file).mtimeMs);
  return Math.max(0, ...times);
}

/**
 * @param {string} path
 * @returns {string[]}
 */
function filesUnder(path) {
  if (!existsSync(path)) return [];
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path)
    .filter((name) => !/^dev-|^tests$|^target$/.test(name))
    .flatMap((name) => filesUnder(join(path, name)));
}

/**
 * A Python with the packages of the tests, in a folder of our own under target/.
 *
 * @returns {string} the interpreter
 */
function needPython() {
  const python = join(VENV, WINDOWS ? 'Scripts/python.exe' : 'bin/python');
  const stamp = join(VENV, '.firelet-packages');
  const wanted = PYTHON_PACKAGES.join('\n');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted && works(python, ['--version'])) return python;
  const system = ['python3', 'python'].find((name) => works(name, ['-c', 'import venv, ensurepip']));
  if (system === undefined) {
    giveUp('the tests of the Python SDK need Python 3 with venv: install python3 and python3-venv and run this again.');
  }
  run('making a Python environment', system, ['-m', 'venv', '--clear', VENV]);
  run('installing the Python packages', python, ['-m', 'pip', 'install', '--quiet', ...PYTHON_PACKAGES]);
  writeFileSync(stamp, wanted);
  return python;
}

/**
 * A Chromium: the one that `CHROMIUM` names, the system's, or on Debian a newly installed one.
 *
 * @returns {string} the executable
 */
function needChromium() {
  const named = process.env.CHROMIUM;
  const names = named ? [named] : ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  const folders = (process.env.PATH ?? '').split(delimiter);
  // With its folder, because the tests' driver starts the file and does not search for it.
  const find = () =>
    names
      .flatMap((name) => (isAbsolute(name) ? [name] : folders.map((folder) => join(folder, name))))
      .find((file) => existsSync(file) && works(file, ['--version']));
  const found = find();
  if (found !== undefined) return found;
  if (process.getuid?.() === 0 && works('apt-get', ['--version'])) {
    run('updating the package lists', 'apt-get', ['update', '-qq']);
    run('installing Chromium', 'apt-get', ['install', '-y', '-qq', 'chromium'], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  }
  const installed = find();
  if (installed !== undefined) return installed;
  giveUp('the browser tests need Chromium: install it (on Debian `apt-get install chromium`), or name one in CHROMIUM.');
}

module.exports = {
  ROOT, giveUp, run, needNode, needCargo, needPackages, needAddon, needPython, needChromium,
};
