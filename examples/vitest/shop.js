/** The code under test: a shop that keeps its stock and its orders in Firestore. */

import { FieldValue } from 'firebase-admin/firestore';

/**
 * Takes `count` pieces out of the stock and writes an order, both or neither.
 *
 * @param {import('firebase-admin/firestore').Firestore} db
 * @param {string} item
 * @param {number} count
 * @returns {Promise<string>} the order's id
 */
export async function order(db, item, count) {
  return db.runTransaction(async (transaction) => {
    const stock = db.doc(`stock/${item}`);
    const left = (await transaction.get(stock)).get('count') ?? 0;
    if (left < count) throw new Error(`only ${left} of ${item} left`);
    transaction.update(stock, { count: FieldValue.increment(-count) });
    const placed = db.collection('orders').doc();
    transaction.create(placed, { item, count, at: FieldValue.serverTimestamp() });
    return placed.id;
  });
}
