'use strict';

/**
 * `npm run prepare-packages`: the platform packages under npm/, filled with the binaries that CI built
 * into artifacts/. docs/contributing/releasing.md says when.
 */

const { join } = require('node:path');

const { ROOT, needNode, run } = require('./tools.js');

const NAPI = join(ROOT, 'node_modules', '@napi-rs', 'cli', 'dist', 'cli.js');

needNode();
run('making the platform packages', process.execPath, [NAPI, 'create-npm-dirs']);
run('filling the platform packages', process.execPath, [NAPI, 'artifacts', '--output-dir', 'artifacts']);
