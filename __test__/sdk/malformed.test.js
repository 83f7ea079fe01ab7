'use strict';

/** Requests that are wrong in each way a request can be. Each gets an answer, and a good one after it works. */

const assert = require('node:assert/strict');
const http2 = require('node:http2');
const net = require('node:net');
const { afterEach, test } = require('node:test');

const { fileSuite, rest } = require('../helpers/suite.js');

const file = fileSuite({ project: 'demo-malformed' });

const ROOT = 'projects/demo-malformed/databases/(default)/documents';

let count = 0;

afterEach(async () => {
  const path = `/good/d${count++}`;
  const written = await rest(file.suite, 'PATCH', path, { fields: { n: { integerValue: '1' } } });
  assert.equal(written.status, 200, 'the suite must go on serving');
  assert.equal((await rest(file.suite, 'GET', path)).status, 200);
});

/**
 * @param {string} method
 * @param {string} path
 * @param {string | Uint8Array<ArrayBuffer> | undefined} [body]
 */
async function send(method, path, body) {
  const response = await fetch(`${file.suite.firestore.url}${path}`, { method, body, headers: { 'content-type': 'application/json' } });
  return { status: response.status, text: await response.text() };
}

test('JSON that is none, or not what the method takes', async () => {
  const bodies = ['{', '[]', 'null x', '{"writes":{}}', '{"nonsense":1}', '{"writes":[{"update":{"name":1}}]}', '\u0000', '"'];
  for (const body of bodies) {
    const { status, text } = await send('POST', `/v1/${ROOT}:commit`, body);
    assert.equal(status, 400, `${body}: ${text}`);
    const { error } = JSON.parse(text);
    assert.deepEqual([error.code, error.status], [400, 'INVALID_ARGUMENT'], body);
    assert.ok(error.message.length > 0);
  }
  const bad = Uint8Array.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]);
  assert.equal((await send('POST', `/v1/${ROOT}:commit`, bad)).status, 400);
  const deep = '{"writes":'.repeat(5_000);
  assert.equal((await send('POST', `/v1/${ROOT}:commit`, deep)).status, 400);
});

test('paths that lead nowhere', async () => {
  for (const path of ['/v1', '/v1/projects', '/nonsense', `/v1/${ROOT}:nonsense`, '/emulator/v1/nonsense', '/v9/x']) {
    assert.equal((await send('POST', path, '{}')).status, 404, path);
  }
  for (const path of [`/v1/${ROOT}/a//b`, `/v1/${ROOT}/c/__x__`, `/v1/${ROOT}/c/..%2f`, `/v1/${ROOT}/c/%FF`]) {
    const { status } = await send('GET', path);
    assert.ok(status === 400 || status === 404, `${path}: ${status}`);
  }
});

test('methods that a path does not have', async () => {
  for (const method of ['PUT', 'OPTIONS', 'POST']) {
    const { status } = await send(method, `/v1/${ROOT}/c/d`);
    assert.ok(status >= 200 && status < 500, `${method}: ${status}`);
  }
  assert.equal((await send('PUT', `/v1/${ROOT}/c/d`, '{}')).status, 404);
  assert.equal((await send('GET', `/v1/${ROOT}:runQuery`)).status, 404);
});

test('a request larger than any document', async () => {
  const value = 'x'.repeat(2 * 1024 * 1024);
  const large = await rest(file.suite, 'PATCH', '/c/large', { fields: { value: { stringValue: value } } });
  assert.equal(large.status, 400);
  assert.equal(large.body.error.status, 'INVALID_ARGUMENT');
  // Past every bound the connection may be cut while the client still sends; nothing may be stored.
  const endless = 'x'.repeat(64 * 1024 * 1024);
  const outcome = await rest(file.suite, 'PATCH', '/c/endless', { fields: { value: { stringValue: endless } } })
    .then(({ status }) => status, () => 'cut');
  assert.ok(outcome === 'cut' || (Number(outcome) >= 400 && Number(outcome) < 500), String(outcome));
  assert.equal((await rest(file.suite, 'GET', '/c/endless')).status, 404);
});

/**
 * Sends one gRPC call with a raw body, and gives the status of its end.
 *
 * @param {string} path
 * @param {Buffer} body
 * @param {(stream: import('node:http2').ClientHttp2Stream) => void} [finish]
 * @returns {Promise<{ http: number | undefined, grpc: string | undefined }>}
 */
function grpc(path, body, finish = (stream) => stream.end()) {
  return new Promise((resolve, reject) => {
    const session = http2.connect(file.suite.firestore.url);
    session.on('error', reject);
    const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' });
    /** @type {{ [name: string]: any }} */
    let seen = {};
    stream.on('response', (headers) => (seen = { ...seen, ...headers }));
    stream.on('trailers', (trailers) => (seen = { ...seen, ...trailers }));
    stream.on('error', () => undefined);
    stream.on('close', () => {
      session.destroy();
      resolve({ http: seen[':status'], grpc: seen['grpc-status'] });
    });
    stream.resume();
    stream.write(body);
    finish(stream);
  });
}

/** @param {Buffer} message */
function frame(message) {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

const SERVICE = '/google.firestore.v1.Firestore';

test('protobuf that is none', async () => {
  const INVALID_ARGUMENT = '3';
  const INTERNAL = '13';
  for (const bytes of [[0xff, 0xff, 0xff], [0x0a, 0x7f, 0x01], [0x0a, 0x02, 0xff, 0xfe]]) {
    const { http, grpc: code } = await grpc(`${SERVICE}/Commit`, frame(Buffer.from(bytes)));
    assert.equal(http, 200);
    assert.ok(code === INVALID_ARGUMENT || code === INTERNAL, `${bytes}: ${code}`);
  }
});

test('gRPC methods and services that do not exist', async () => {
  const UNIMPLEMENTED = '12';
  for (const path of [`${SERVICE}/Nonsense`, '/google.firestore.v1.Nonsense/Commit', '/x/y']) {
    assert.equal((await grpc(path, frame(Buffer.alloc(0)))).grpc, UNIMPLEMENTED, path);
  }
});

test('a gRPC frame that announces more than it may', async () => {
  const head = Buffer.from([0, 0xff, 0xff, 0xff, 0xff]);
  const { grpc: code } = await grpc(`${SERVICE}/Commit`, head);
  assert.notEqual(code, '0');
});

test('a call that is broken off half-way', async () => {
  const head = Buffer.from([0, 0, 0, 0, 100, 1, 2, 3]);
  await grpc(`${SERVICE}/Commit`, head, (stream) => stream.close(http2.constants.NGHTTP2_CANCEL));
  await grpc(`${SERVICE}/Commit`, head, (stream) => stream.session?.destroy());
  const ended = await grpc(`${SERVICE}/Commit`, head);
  assert.notEqual(ended.grpc, '0');
});

/**
 * Sends raw bytes on a socket, ends its sending side, and gives what comes back.
 *
 * @param {string} bytes
 * @returns {Promise<string>}
 */
function raw(bytes) {
  return new Promise((resolve) => {
    const socket = net.connect(file.suite.firestore.port, file.suite.firestore.host);
    let answer = '';
    socket.on('data', (chunk) => (answer += chunk.toString('latin1')));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(answer));
    socket.end(bytes, 'latin1');
  });
}

test('bytes that are no HTTP, and sockets half closed in the middle', async () => {
  await raw('\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03');
  await raw('');
  await raw('GET / HTTP/1.1\r\nhost: ');
  await raw(`POST /v1/${ROOT}:commit HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{"writes"`);
  await raw('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nnonsense');
  assert.match(await raw('nonsense\r\n\r\n'), /^(HTTP\/1\.1 400|$)/);
  assert.match(await raw('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'), /^HTTP\/1\.1 200/);
});
