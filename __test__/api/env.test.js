'use strict';

/** Lending variables: overlapping suites that come and go in any order. */

const assert = require('node:assert/strict');
const { test } = require('node:test');

const { lend, takeBack } = require('../../npm/api/env.js');

const NAME = 'FIRELET_TEST_VARIABLE';

/**
 * Plays steps such as `+a` (a lends) and `-a` (a takes back), and compares the variable after each.
 *
 * @param {string | undefined} original
 * @param {[string, string | undefined][]} steps
 */
function check(original, steps) {
  if (original === undefined) delete process.env[NAME];
  else process.env[NAME] = original;
  /** @type {{ [name: string]: object }} */
  const owners = { a: {}, b: {}, c: {} };
  for (const [step, expected] of steps) {
    const owner = owners[step[1]];
    if (step[0] === '+') lend(owner, { [NAME]: step[1] });
    if (step[0] === '-') takeBack(owner);
    if (step[0] === '=') process.env[NAME] = step.slice(1);
    assert.equal(process.env[NAME], expected, `${step} in ${JSON.stringify(steps)}`);
  }
  delete process.env[NAME];
}

test('the newest suite still running wins, then the value from before', () => {
  check(undefined, [['+a', 'a'], ['-a', undefined]]);
  check('old', [['+a', 'a'], ['-a', 'old']]);
  check('old', [['+a', 'a'], ['+b', 'b'], ['-b', 'a'], ['-a', 'old']]);
  check('old', [['+a', 'a'], ['+b', 'b'], ['-a', 'b'], ['-b', 'old']]);
  check(undefined, [['+a', 'a'], ['+b', 'b'], ['+c', 'c'], ['-b', 'c'], ['-c', 'a'], ['-a', undefined]]);
});

test('lending twice counts once, and taking back twice does nothing', () => {
  check('old', [['+a', 'a'], ['+a', 'a'], ['-a', 'old'], ['-a', 'old']]);
  check('old', [['+a', 'a'], ['+b', 'b'], ['+a', 'a'], ['-a', 'b'], ['-b', 'old']]);
});

test('a value set by somebody else stays', () => {
  check('old', [['+a', 'a'], ['=mine', 'mine'], ['-a', 'mine']]);
  check('old', [['+a', 'a'], ['+b', 'b'], ['=mine', 'mine'], ['-b', 'mine'], ['-a', 'mine']]);
});
