'use strict';

/**
 * `npm start`: the suite on examples/quickstart until Ctrl-C. `npm start -- --once`: the example's
 * client against the suite, and its exit code.
 */

const { spawn } = require('node:child_process');
const { constants } = require('node:os');
const { join } = require('node:path');

const { ROOT, giveUp, needAddon, needCargo, needNode, needPackages } = require('./tools.js');

function parameters() {
  const given = process.argv.slice(2);
  const once = given.includes('--once');
  const rest = given.filter((parameter) => parameter !== '--once');
  return once ? ['emulators:exec', ...rest, 'node client.js'] : ['emulators:start', ...rest];
}

needNode();
needCargo();
needPackages();
needAddon();

const cli = spawn(process.execPath, [join(ROOT, 'npm', 'cli', 'bin.js'), ...parameters()], {
  cwd: join(ROOT, 'examples', 'quickstart'),
  // Google's SDKs else look for a cloud's metadata server, which takes its time where there is none.
  env: { METADATA_SERVER_DETECTION: 'none', ...process.env },
  stdio: 'inherit',
});
// A terminal sends Ctrl-C to both; this one waits for the suite to stop and takes over its code.
process.on('SIGINT', () => undefined);
for (const name of /** @type {const} */ (['SIGTERM', 'SIGHUP'])) process.on(name, () => cli.kill(name));
cli.on('error', (error) => giveUp(`the suite cannot be started: ${error.message}`));
cli.on('exit', (code, signal) => process.exit(code ?? 128 + (signal ? constants.signals[signal] : 0)));
