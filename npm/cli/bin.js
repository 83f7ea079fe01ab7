#!/usr/bin/env node
'use strict';

/** The `firelet` command: hands its arguments to the addon, passes signals on, exits with its code. */

const { constants } = require('node:os');

const { binding, made, unwrap } = require('../api/binding.js');
const { FireletError } = require('../api/error.js');

/** What a shell or a terminal sends to end a program, where the system has it. */
const SIGNALS = /** @type {NodeJS.Signals[]} */ (['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']);

async function main() {
  const { BindingCli } = binding();
  const cli = made(() => new BindingCli(process.argv.slice(2), performance.now()));
  for (const name of SIGNALS) {
    if (name in constants.signals) process.on(name, () => cli.signal(name));
  }
  // Not `process.exitCode`: signal handlers hold the event loop, and nothing is left to wait for.
  process.exit(unwrap(await cli.run()));
}

main().catch((error) => {
  console.error(`Error: ${error.message}`);
  // 2 is for defects of our own.
  process.exit(error instanceof FireletError && error.code !== 'FIRELET_INTERNAL' ? 1 : 2);
});
