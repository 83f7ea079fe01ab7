'use strict';

/**
 * Requests without an end: they end with their reader and with the suite. That nothing goes on behind them shows in
 * the processor time of this process, in which the suite runs.
 */

const assert = require('node:assert/strict');
const { once } = require('node:events');
const http2 = require('node:http2');
const { test } = require('node:test');
const { setTimeout: wait } = require('node:timers/promises');

const { rest, suiteFor } = require('../helpers/suite.js');

const PATH = '/v1/projects/demo-endless/databases/(default)/documents:executePipeline';

/** Some 10^20 rows to count. */
const BODY = JSON.stringify({
  structuredPipeline: {
    pipeline: {
      stages: [
        { name: 'collection', args: [{ referenceValue: '/c' }] },
        ...Array.from({ length: 10 }, () => ({
          name: 'unnest',
          args: [{ arrayValue: { values: Array(100).fill({ integerValue: '1' }) } }, { fieldReferenceValue: 'x' }],
        })),
        { name: 'aggregate', args: [{ mapValue: { fields: { n: { functionValue: { name: 'count', args: [] } } } } }] },
      ],
    },
  },
});

/** @param {import('node:test').TestContext} t */
async function suiteWithOne(t) {
  const suite = await suiteFor(t, { project: 'demo-endless' });
  const { status } = await rest(suite, 'PATCH', '/c/a', { fields: { n: { integerValue: '1' } } });
  assert.equal(status, 200);
  return suite;
}

/**
 * Waits until this process is busy, or until it is not.
 *
 * @param {boolean} wanted
 */
async function busy(wanted) {
  const deadline = Date.now() + 30_000;
  for (;;) {
    const before = process.cpuUsage();
    await wait(200);
    const { user } = process.cpuUsage(before);
    if (user > 20_000 === wanted) return;
    assert.ok(Date.now() < deadline, `${user} microseconds of 200 ms, expected to be ${wanted ? 'busy' : 'idle'}`);
  }
}

test('a pipeline ends when its reader goes away', async (t) => {
  const suite = await suiteWithOne(t);
  await busy(false);
  const gone = new AbortController();
  const answer = fetch(suite.firestore.url + PATH, { method: 'POST', body: BODY, signal: gone.signal });
  await busy(true);
  gone.abort();
  await assert.rejects(answer, { name: 'AbortError' });
  await busy(false);
});

test('a pipeline ends when its reader cancels the call on a connection that stays', async (t) => {
  const suite = await suiteWithOne(t);
  await busy(false);
  const session = http2.connect(suite.firestore.url);
  t.after(() => session.destroy());
  const call = session.request({ ':method': 'POST', ':path': PATH, 'content-type': 'application/json' });
  call.end(BODY);
  await busy(true);
  call.close(http2.constants.NGHTTP2_CANCEL);
  await once(call, 'close');
  await busy(false);
});

test('a pipeline ends when the suite stops', async (t) => {
  const suite = await suiteWithOne(t);
  await busy(false);
  // It is answered, or its connection ends.
  const answer = fetch(suite.firestore.url + PATH, { method: 'POST', body: BODY }).then((it) => it.text(), String);
  await busy(true);
  await suite.stop();
  await answer;
  await busy(false);
});
