'use strict';

/**
 * A small program with firebase-admin, as it would run against the real Firestore: nothing in it
 * names the suite, which it finds by the environment variables that `emulators:exec` sets. With
 * `emulators:start` set the first of them yourself: `FIRESTORE_EMULATOR_HOST=127.0.0.1:8080 node client.js`.
 *
 * It writes the data of seed.json first: the suite starts empty, and importing an export comes with
 * a later version of firelet.
 */

const { getApps, initializeApp } = require('firebase-admin/app');
const { FieldValue, getFirestore } = require('firebase-admin/firestore');

const seed = require('./seed.json');

async function main() {
  if (process.env.FIRESTORE_EMULATOR_HOST === undefined) {
    throw new Error(
      'FIRESTORE_EMULATOR_HOST is not set: run this by `emulators:exec "node client.js"`, ' +
        'or set it to the address that `emulators:start` shows, such as 127.0.0.1:8080',
    );
  }
  if (getApps().length === 0) initializeApp({ projectId: process.env.GCLOUD_PROJECT ?? 'demo-quickstart' });
  const db = getFirestore();

  const batch = db.batch();
  for (const [id, book] of Object.entries(seed.books)) batch.set(db.doc(`books/${id}`), book);
  await batch.commit();
  console.log(`wrote ${Object.keys(seed.books).length} books to ${process.env.FIRESTORE_EMULATOR_HOST}`);

  const fiction = await db
    .collection('books')
    .where('tags', 'array-contains', 'science fiction')
    .orderBy('year')
    .get();
  console.log('science fiction, oldest first:');
  for (const book of fiction.docs) console.log(`  ${book.get('year')}  ${book.get('title')}, ${book.get('author')}`);

  const count = await db.collection('books').where('author', '==', 'Ursula K. Le Guin').count().get();
  console.log(`books by Ursula K. Le Guin: ${count.data().count}`);

  const solaris = db.doc('books/solaris');
  await solaris.update({ lent: FieldValue.increment(1) });
  const lent = await db.runTransaction(async (transaction) => {
    const now = (await transaction.get(solaris)).get('lent') + 1;
    transaction.update(solaris, { lent: now });
    return now;
  });
  console.log(`Solaris was lent ${lent} times`);

  await db.terminate();
}

main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
