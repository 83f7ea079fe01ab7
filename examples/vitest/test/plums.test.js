/** One of several test files that use the same documents at the same time, each in its own project. */

import { deleteApp, initializeApp } from 'firebase-admin/app';
import { getFirestore } from 'firebase-admin/firestore';
import { clear, projectId } from 'firelet/vitest';
import { afterAll, beforeEach, expect, test } from 'vitest';

import { order } from '../shop.js';

// No project and no address: both come from the environment that firelet/vitest has set.
const app = initializeApp();
const db = getFirestore(app);

beforeEach(async () => {
  await clear();
  await db.doc('stock/plums').set({ count: 10 });
});

afterAll(async () => {
  await db.terminate();
  await deleteApp(app);
});

test('the worker has a project of its own', () => {
  expect(projectId()).toMatch(/^demo-vitest-example-w\d+$/);
  expect(process.env.GCLOUD_PROJECT).toBe(projectId());
});

test('an order takes from the stock', async () => {
  const id = await order(db, 'plums', 3);
  expect((await db.doc('stock/plums').get()).get('count')).toBe(7);
  expect((await db.doc(`orders/${id}`).get()).data()).toMatchObject({ item: 'plums', count: 3 });
});

test('an order that is too large changes nothing', async () => {
  await expect(order(db, 'plums', 11)).rejects.toThrow('only 10 of plums left');
  expect((await db.doc('stock/plums').get()).get('count')).toBe(10);
});

test.each(Array.from({ length: 20 }, (_, n) => n))('nobody else writes here, round %i', async () => {
  await Promise.all([order(db, 'plums', 1), order(db, 'plums', 1)]);
  const orders = await db.collection('orders').get();
  expect(orders.docs.map((each) => each.get('item'))).toEqual(['plums', 'plums']);
  expect((await db.collection('stock').get()).size).toBe(1);
});
