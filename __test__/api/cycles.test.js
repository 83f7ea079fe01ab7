'use strict';

/** A thousand suites in one process, one after the other: nothing may be left of any of them. */

const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const { join } = require('node:path');
const { test } = require('node:test');

const CYCLES = 1_000;

/** Cycles after which the allocator and V8 have what they keep. */
const WARM_UP = 200;

const GROWTH_MAX_MIB = 10;

const SCRIPT = join(__dirname, '..', 'helpers', 'cycles.js');

test(`${CYCLES} starts and stops leave nothing behind`, () => {
  const parameters = ['--expose-gc', SCRIPT, String(CYCLES), String(WARM_UP)];
  const printed = execFileSync(process.execPath, parameters, { encoding: 'utf8' });
  const { before, after, ports } = JSON.parse(printed);
  assert.ok(after.threads <= before.threads, `threads: ${before.threads} before, ${after.threads} after`);
  assert.equal(ports, 0, 'ports that are still listened on');
  assert.ok(after.descriptors <= before.descriptors, `descriptors: ${before.descriptors}, ${after.descriptors}`);
  const growth = after.residentMiB - before.residentMiB;
  assert.ok(growth <= GROWTH_MAX_MIB, `resident memory grew by ${growth.toFixed(1)} MiB`);
});
