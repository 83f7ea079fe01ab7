'use strict';

/** How long a start and a stop take. Medians, because other work on the machine is nobody's fault. */

const assert = require('node:assert/strict');
const net = require('node:net');
const { test } = require('node:test');

const { node, ROOT } = require('../helpers/run.js');
const { rest, suiteFor } = require('../helpers/suite.js');

const START_MAX_MS = 60;
const STOP_MAX_MS = 100;
const RUNS = 9;

/** @param {number[]} values */
const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

test(`start to the first answer takes at most ${START_MAX_MS} ms in a fresh process`, async () => {
  const source = `
    const http = require('node:http');
    const begun = performance.now();
    require('./index.js').start().then((suite) => {
      http.get(suite.firestore.url + '/v1/projects/p/databases/(default)/documents/c/d', { agent: false }, (response) => {
        console.log('ms', performance.now() - begun);
        response.resume().on('end', () => suite.stop());
      });
    });`;
  const times = [];
  for (let run = 0; run < RUNS; run++) {
    const { code, stdout, stderr } = await node(['-e', source], { cwd: ROOT }).ended;
    assert.equal(code, 0, stderr);
    times.push(Number(/ms ([\d.]+)/.exec(stdout)?.[1]));
  }
  assert.ok(median(times) <= START_MAX_MS, `median ${median(times)} of ${times}`);
});

test(`stop takes at most ${STOP_MAX_MS} ms, with data, an open connection and a half-sent request`, async (t) => {
  const times = [];
  for (let run = 0; run < RUNS; run++) {
    const suite = await suiteFor(t);
    await rest(suite, 'PATCH', '/c/d', { fields: { n: { integerValue: '1' } } });
    const socket = net.connect(suite.firestore.port, suite.firestore.host);
    socket.on('error', () => undefined);
    await new Promise((resolve) => socket.write('POST /v1/projects/p HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{', resolve));
    const begun = performance.now();
    await suite.stop();
    times.push(performance.now() - begun);
    socket.destroy();
  }
  assert.ok(median(times) <= STOP_MAX_MS, `median ${median(times)} of ${times}`);
});
