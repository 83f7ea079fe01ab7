'use strict';

/** The code under test: a library that lends books. */

const { FieldValue } = require('firebase-admin/firestore');

/**
 * Lends a book to a member.
 *
 * @param {import('firebase-admin/firestore').Firestore} db
 * @param {string} member
 * @param {string} book
 */
async function lend(db, member, book) {
  await db.runTransaction(async (transaction) => {
    const ref = db.doc(`books/${book}`);
    const copies = (await transaction.get(ref)).get('copies') ?? 0;
    if (copies === 0) throw new Error(`no copy of ${book} is left`);
    transaction.update(ref, { copies: FieldValue.increment(-1) });
    transaction.create(db.doc(`members/${member}/loans/${book}`), { at: FieldValue.serverTimestamp() });
  });
}

module.exports = { lend };
