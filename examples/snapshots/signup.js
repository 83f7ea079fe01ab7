'use strict';

/** The code under test: signing up, and what a member may do then. */

const { FieldValue } = require('firebase-admin/firestore');

/**
 * Makes a member with an inbox and a first message.
 *
 * @param {import('firebase-admin/firestore').Firestore} db
 * @param {string} name
 */
async function signUp(db, name) {
  const batch = db.batch();
  batch.create(db.doc(`members/${name}`), { plan: 'free', since: FieldValue.serverTimestamp() });
  batch.create(db.doc(`members/${name}/inbox/welcome`), { text: `Welcome, ${name}` });
  await batch.commit();
}

/**
 * @param {import('firebase-admin/firestore').Firestore} db
 * @param {string} name
 */
async function upgrade(db, name) {
  await db.doc(`members/${name}`).update({ plan: 'paid' });
}

module.exports = { signUp, upgrade };
