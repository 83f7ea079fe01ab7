'use strict';

/** firelet's public entry: what `require('firelet')` and `import ... from 'firelet'` give. */

const { FireletError } = require('./npm/api/error.js');
const { start } = require('./npm/api/suite.js');

exports.start = start;
exports.FireletError = FireletError;
