'use strict';

/** Coverage of security rules at the end of a test run: what the runners' options say of it, and holding a run to it. */

const { mkdirSync, writeFileSync } = require('node:fs');
const { dirname, resolve } = require('node:path');

const { FireletError } = require('./error.js');
const { plain } = require('./options.js');

/** What a threshold can be of. */
const FIGURES = /** @type {const} */ (['lines', 'functions', 'branches', 'expressions']);

/**
 * @typedef {import('../../index.js').RulesCoverageOptions} RulesCoverageOptions
 * @typedef {{ lcov?: string, thresholds: { [figure in typeof FIGURES[number]]?: number } }} Demands
 */

/**
 * Takes what the options of a run say of coverage away from those of `start`.
 *
 * @param {unknown} options
 * @returns {{ options: unknown, demands: Demands | undefined }}
 * @throws {FireletError} `FIRELET_INVALID_OPTION`, `FIRELET_UNKNOWN_OPTION`
 */
function splitOptions(options) {
  if (typeof options !== 'object' || options === null || !('rulesCoverage' in options)) {
    return { options, demands: undefined };
  }
  const { rulesCoverage, ...rest } = options;
  if (rulesCoverage === undefined || rulesCoverage === null) return { options: rest, demands: undefined };
  const { threshold, lcov } = /** @type {RulesCoverageOptions} */ (
    plain('rulesCoverage', rulesCoverage, ['threshold', 'lcov'])
  );
  if (lcov !== undefined && (typeof lcov !== 'string' || lcov === '')) {
    throw invalid('`rulesCoverage.lcov` must be the path of a file');
  }
  return { options: rest, demands: { lcov, thresholds: thresholds(threshold) } };
}

/** @param {unknown} threshold */
function thresholds(threshold) {
  /** @type {Demands['thresholds']} */
  const read = {};
  if (threshold === undefined || threshold === null) return read;
  const given = typeof threshold === 'object' ? plain('rulesCoverage.threshold', threshold, [...FIGURES]) : undefined;
  for (const figure of FIGURES) {
    const percent = given === undefined ? threshold : /** @type {{ [name: string]: unknown }} */ (given)[figure];
    if (percent === undefined) continue;
    if (typeof percent !== 'number' || !(percent >= 0 && percent <= 100)) {
      throw invalid(`\`rulesCoverage.threshold\` is in percent, from 0 to 100, or an object with ${FIGURES.join(', ')}`);
    }
    read[figure] = percent;
  }
  return read;
}

/**
 * Writes the report that is asked for, and holds the run to its thresholds.
 *
 * @param {import('../../index.js').Suite} suite
 * @param {Demands} demands
 * @throws {FireletError} `FIRELET_COVERAGE_TOO_LOW`
 */
async function holdTo(suite, { lcov, thresholds }) {
  if (lcov !== undefined) {
    const file = resolve(lcov);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, await suite.firestore.coverage({ format: 'lcov' }));
  }
  const wanted = FIGURES.filter((figure) => thresholds[figure] !== undefined);
  if (wanted.length === 0) return;
  const { rulesets, total, text } = await suite.firestore.coverage({ format: 'summary' });
  if (rulesets.length === 0) {
    throw tooLow('`rulesCoverage.threshold` is set, and the suite of this run had no rules: name a file in `firestore.rules`');
  }
  const missed = wanted.filter((figure) => total[figure].percent < /** @type {number} */ (thresholds[figure]));
  if (missed.length === 0) return;
  const lines = missed.map((figure) => {
    const { covered, total: all, percent } = total[figure];
    return `  ${figure}: ${covered} of ${all}, ${percent} %, and ${thresholds[figure]} % are wanted`;
  });
  throw tooLow(`the tests reach too little of the security rules:\n${lines.join('\n')}\n\n${text}`);
}

/** @param {string} message */
function invalid(message) {
  return new FireletError('FIRELET_INVALID_OPTION', message);
}

/** @param {string} message */
function tooLow(message) {
  return new FireletError('FIRELET_COVERAGE_TOO_LOW', message);
}

module.exports = { holdTo, splitOptions };
