'use strict';

/**
 * One request to a running suite. Plain HTTP of Node's own: `fetch` is missing where a test environment
 * imitates a browser.
 */

const http = require('node:http');

/** How much of an answer is kept: enough for every message of an error. */
const ANSWER_LEN_MAX = 64 * 1024;

/**
 * @param {string} method
 * @param {string} url
 * @param {unknown} [body] sent as JSON, as the suite's owner
 * @returns {Promise<{ status: number, text: string }>}
 */
function request(method, url, body) {
  return new Promise((resolve, reject) => {
    const json = body === undefined ? undefined : JSON.stringify(body);
    const sending = http.request(url, {
      method,
      agent: false,
      headers: json === undefined ? {} : {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(json),
        authorization: 'Bearer owner',
      },
    }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part) => {
        if (text.length < ANSWER_LEN_MAX) text += part;
      });
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sending.on('error', reject);
    sending.end(json);
  });
}

module.exports = { request };
