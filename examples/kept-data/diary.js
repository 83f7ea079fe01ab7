'use strict';

/** The code under test: a diary that numbers its entries. */

/**
 * Adds an entry, and answers its number.
 *
 * @param {import('firebase-admin/firestore').Firestore} db
 * @param {string} text
 * @returns {Promise<number>}
 */
async function add(db, text) {
  return db.runTransaction(async (transaction) => {
    const counter = db.doc('diary/counter');
    const number = ((await transaction.get(counter)).get('last') ?? 0) + 1;
    transaction.set(counter, { last: number });
    transaction.create(db.doc(`diary/entries/all/${number}`), { text });
    return number;
  });
}

module.exports = { add };
