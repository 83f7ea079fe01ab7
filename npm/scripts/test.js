'use strict';

/**
 * `npm test`: every test of the repository, and one closing line `N passed, N failed`.
 *
 * A part is one run of one test runner. A part fails when its runner does, and when it ran no test
 * or skipped one: a suite of tests that quietly shrinks must not look like one that passes.
 * `npm test -- api cli` runs the named parts only.
 */

const { spawn } = require('node:child_process');
const { readdirSync } = require('node:fs');
const { join } = require('node:path');

const {
  ROOT, giveUp, needAddon, needCargo, needChromium, needNode, needPackages, needPython,
} = require('./tools.js');

/** The folders of __test__ that node:test runs, each a part. */
const JS_PARTS = ['api', 'types', 'cli', 'sdk', 'browser'];

/**
 * @typedef {{ passed: number, failed: number }} Totals
 * @typedef {{ name: string, run: () => Promise<Totals> }} Part
 */

/** @type {Part[]} */
const PARTS = [
  { name: 'rust', run: () => command('cargo', ['test', '--workspace', '--no-fail-fast'], cargoTotals) },
  ...JS_PARTS.map((name) => ({ name, run: () => nodeTest(name) })),
  { name: 'python', run: pythonTest },
];

/** @param {string} folder */
function nodeTest(folder) {
  const files = readdirSync(join(ROOT, '__test__', folder))
    .filter((name) => name.endsWith('.test.js'))
    .map((name) => join('__test__', folder, name));
  const env = folder === 'browser' ? { CHROMIUM: needChromium() } : {};
  // One file at a time: several of them measure how long things take.
  const flags = ['--test', '--test-concurrency=1', '--test-reporter=spec'];
  // A test that fails may leave an SDK's connection behind, which must not hold the run for ever.
  flags.push('--test-force-exit', '--test-timeout=600000');
  return command(process.execPath, [...flags, ...files], nodeTotals, env);
}

/** The Python SDK, in a script started the way users start theirs. */
function pythonTest() {
  const python = needPython();
  const script = `"${python}" -m unittest discover --verbose --start-directory __test__/sdk/python --pattern "*_test.py"`;
  const flags = ['--project', 'demo-python', '--only', 'firestore', '--firestore-port', '0', '--hub-port', '0'];
  const cli = join('npm', 'cli', 'bin.js');
  return command(process.execPath, [cli, 'emulators:exec', ...flags, script], unittestTotals);
}

/**
 * Runs a test runner, shows what it prints, and counts.
 *
 * @param {string} program
 * @param {string[]} parameters
 * @param {(output: string) => Totals & { skipped: number }} count
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {Promise<Totals>}
 */
function command(program, parameters, count, env) {
  return new Promise((resolve) => {
    const child = spawn(program, parameters, {
      cwd: ROOT,
      // Google's SDKs else look for a cloud's metadata server, which takes its time where there is none.
      env: { ...process.env, METADATA_SERVER_DETECTION: 'none', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const collect = (/** @type {NodeJS.WriteStream} */ stream) => (/** @type {Buffer} */ chunk) => {
      stream.write(chunk);
      output += chunk.toString();
    };
    child.stdout.on('data', collect(process.stdout));
    child.stderr.on('data', collect(process.stderr));
    child.on('error', () => resolve({ passed: 0, failed: 1 }));
    child.on('close', (code) => resolve(verdict(count(output), code)));
  });
}

/**
 * @param {Totals & { skipped: number }} counted
 * @param {number | null} code
 * @returns {Totals}
 */
function verdict({ passed, failed, skipped }, code) {
  if (skipped > 0) console.error(`${skipped} tests were skipped, which counts as failed`);
  if (passed + failed + skipped === 0) console.error('this part ran no test, which counts as failed');
  const broken = failed + skipped === 0 && (passed === 0 || code !== 0);
  return { passed, failed: failed + skipped + (broken ? 1 : 0) };
}

/** @param {string} output */
function cargoTotals(output) {
  const results = [...output.matchAll(/^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored/gm)];
  const sum = (/** @type {number} */ column) => results.reduce((total, result) => total + Number(result[column]), 0);
  // A crate that does not compile, or a test program that crashed, has no line of its own.
  const lost = /^error(\[E\d+\])?: /m.test(output) && sum(2) === 0 ? 1 : 0;
  return { passed: sum(1), failed: sum(2) + lost, skipped: sum(3) };
}

/** @param {string} output */
function nodeTotals(output) {
  const last = (/** @type {string} */ name) =>
    Number([...output.matchAll(new RegExp(`^(?:ℹ|#) ${name} (\\d+)`, 'gm'))].at(-1)?.[1] ?? 0);
  return { passed: last('pass'), failed: last('fail') + last('cancelled'), skipped: last('skipped') + last('todo') };
}

/** @param {string} output */
function unittestTotals(output) {
  const ran = Number(/^Ran (\d+) tests? in /m.exec(output)?.[1] ?? 0);
  const outcome = /^(?:OK|FAILED)(?: \((.*)\))?\r?$/m.exec(output)?.[1] ?? '';
  const counted = (/** @type {string} */ word) => Number(new RegExp(`${word}=(\\d+)`).exec(outcome)?.[1] ?? 0);
  const failed = counted('failures') + counted('errors');
  const skipped = counted('skipped');
  return { passed: Math.max(0, ran - failed - skipped), failed, skipped };
}

async function main() {
  const named = process.argv.slice(2);
  const unknown = named.find((name) => !PARTS.some((part) => part.name === name));
  if (unknown !== undefined) giveUp(`no part \`${unknown}\`: there are ${PARTS.map((part) => part.name).join(', ')}`);
  needNode();
  needCargo();
  needPackages();
  needAddon();

  /** @type {Totals} */
  const total = { passed: 0, failed: 0 };
  const lines = [];
  for (const part of PARTS.filter(({ name }) => named.length === 0 || named.includes(name))) {
    console.log(`\n== ${part.name}`);
    const { passed, failed } = await part.run();
    lines.push(`${part.name.padEnd(10)} ${String(passed).padStart(5)} passed ${String(failed).padStart(5)} failed`);
    total.passed += passed;
    total.failed += failed;
  }
  console.log(`\n${lines.join('\n')}\n`);
  console.log(`${total.passed} passed, ${total.failed} failed`);
  process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;
}

main();
