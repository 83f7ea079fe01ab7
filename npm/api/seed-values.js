'use strict';

/**
 * The values of seeds: plain JSON, with escapes such as `{ "$timestamp": "2026-01-01T00:00:00Z" }` for what JSON
 * has no words for, turned into those of Firestore's REST protocol.
 */

const { types } = require('node:util');

const { FireletError } = require('./error.js');

/** Maps in maps: Firestore takes 20, and its own message about more is better than ours. */
const DEPTH_MAX = 100;
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const DOUBLES = ['NaN', 'Infinity', '-Infinity', '-0'];
const INT64_MAX = 2n ** 63n - 1n;

/**
 * @typedef {{ root: string }} Target `root` is the name of the database with `/documents`
 * @typedef {{ [kind: string]: unknown }} WireValue
 */

/** @type {{ [escape: string]: (value: any, where: string, target: Target, depth: number) => WireValue }} */
const ESCAPES = {
  $timestamp(value, where) {
    if (typeof value !== 'string' || !TIMESTAMP.test(value) || Number.isNaN(Date.parse(value))) {
      throw bad(where, 'a time such as "2026-01-31T12:00:00Z"');
    }
    return { timestampValue: value };
  },
  $integer(value, where) {
    const text = typeof value === 'number' ? String(value) : value;
    const isInteger = typeof text === 'string' && /^-?\d{1,19}$/.test(text);
    if (!isInteger || BigInt(text) > INT64_MAX || BigInt(text) < -INT64_MAX - 1n) {
      throw bad(where, 'an integer of 64 bits, or its digits as a string');
    }
    return { integerValue: String(BigInt(text)) };
  },
  $double(value, where) {
    if (typeof value === 'number' && Number.isFinite(value)) return { doubleValue: Object.is(value, -0) ? '-0' : value };
    if (!DOUBLES.includes(value)) throw bad(where, `a number, or one of ${DOUBLES.map((name) => `"${name}"`).join(', ')}`);
    return { doubleValue: value };
  },
  $bytes(value, where) {
    if (typeof value !== 'string' || !BASE64.test(value)) throw bad(where, 'bytes in base64, padded with `=`');
    return { bytesValue: value };
  },
  $reference(value, where, target) {
    const whole = /^projects\/[^/]+\/databases\/[^/]+\/documents\/(.+)$/.exec(value);
    if (typeof value !== 'string' || !isDocumentPath(whole?.[1] ?? value)) throw bad(where, 'the path of a document, such as "users/alice"');
    return { referenceValue: whole === null ? `${target.root}/${value}` : value };
  },
  $geoPoint(value, where) {
    const { latitude, longitude } = Array.isArray(value) && value.length === 2 ? { latitude: value[0], longitude: value[1] } : value ?? {};
    if (!(Math.abs(latitude) <= 90) || !(Math.abs(longitude) <= 180) || typeof latitude !== 'number' || typeof longitude !== 'number') {
      throw bad(where, '{ "latitude": -90 to 90, "longitude": -180 to 180 }');
    }
    return { geoPointValue: { latitude, longitude } };
  },
  $vector(value, where) {
    if (!Array.isArray(value) || !value.every((part) => typeof part === 'number' && Number.isFinite(part))) {
      throw bad(where, 'a list of numbers');
    }
    const values = value.map((part) => ({ doubleValue: part }));
    return { mapValue: { fields: { __type__: { stringValue: '__vector__' }, value: { arrayValue: { values } } } } };
  },
  $map(value, where, target, depth) {
    if (!isMap(value)) throw bad(where, 'an object: the fields of the map');
    return { mapValue: { fields: fieldsOf(value, where, target, depth) } };
  },
};

/**
 * The fields of a document or map.
 *
 * @param {{ [name: string]: unknown }} map
 * @param {string} where
 * @param {Target} target
 * @param {number} [depth]
 * @returns {{ [name: string]: WireValue }}
 * @throws {FireletError} `FIRELET_BAD_SEED`
 */
function fieldsOf(map, where, target, depth = 0) {
  /** @type {[string, WireValue][]} */
  const fields = [];
  for (const [name, value] of Object.entries(map)) {
    if (value !== undefined) fields.push([name, valueOf(value, `${where}: ${name}`, target, depth + 1)]);
  }
  // A field may be called `__proto__`.
  return Object.fromEntries(fields);
}

/**
 * @param {unknown} value
 * @param {string} where
 * @param {Target} target
 * @param {number} depth
 * @returns {WireValue}
 */
function valueOf(value, where, target, depth) {
  if (depth > DEPTH_MAX) throw bad(where, 'nested less deeply');
  if (value === null) return { nullValue: null };
  if (typeof value === 'boolean') return { booleanValue: value };
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'number') return numberOf(value, where);
  if (types.isDate(value) && !Number.isNaN(value.getTime())) return { timestampValue: value.toISOString() };
  if (types.isUint8Array(value)) return { bytesValue: Buffer.from(value).toString('base64') };
  if (Array.isArray(value)) {
    return { arrayValue: { values: value.map((part, index) => valueOf(part, `${where}[${index}]`, target, depth + 1)) } };
  }
  if (!isMap(value)) throw bad(where, 'plain data');
  const escape = Object.keys(value).find((key) => key.startsWith('$'));
  if (escape === undefined) return { mapValue: { fields: fieldsOf(value, where, target, depth) } };
  const read = Object.hasOwn(ESCAPES, escape) ? ESCAPES[escape] : undefined;
  if (read === undefined || Object.keys(value).length !== 1) {
    throw bad(where, `${Object.keys(ESCAPES).join(', ')} alone in its object, or a map with such names within { "$map": ... }`);
  }
  return read(value[escape], `${where}.${escape}`, target, depth);
}

/**
 * @param {number} value
 * @param {string} where
 * @returns {WireValue}
 */
function numberOf(value, where) {
  if (!Number.isFinite(value)) throw bad(where, '{ "$double": "NaN" } or the like');
  if (!Number.isInteger(value) || Object.is(value, -0)) return ESCAPES.$double(value, where, { root: '' }, 0);
  if (!Number.isSafeInteger(value)) throw bad(where, `{ "$integer": "..." } or { "$double": ... }, as ${value} may not be the number that was meant`);
  return { integerValue: String(value) };
}

/**
 * Whether it is an object literal, in this realm or another: test runners have several.
 *
 * @param {unknown} value
 * @returns {value is { [name: string]: unknown }}
 */
function isMap(value) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** @param {string} path */
function isDocumentPath(path) {
  const segments = path.split('/');
  return segments.length % 2 === 0 && !segments.includes('');
}

/**
 * @param {string} where
 * @param {string} expected
 */
function bad(where, expected) {
  return new FireletError('FIRELET_BAD_SEED', `the seed cannot be used: ${where} must be ${expected}`);
}

module.exports = { fieldsOf, isDocumentPath, isMap };
