/**
 * What runs in the page: firebase/firestore/lite against the suite, from another origin. It is
 * bundled by lite.test.js, which calls `window.run` and compares what it returns.
 */

import { deleteApp, initializeApp } from 'firebase/app';
import {
  addDoc, average, collection, connectFirestoreEmulator, count, deleteDoc, doc, getAggregate, getDoc, getDocs,
  getFirestore, increment, limit, orderBy, query, runTransaction, serverTimestamp, setDoc, sum, terminate,
  Timestamp, updateDoc, where, writeBatch,
} from 'firebase/firestore/lite';

/**
 * @param {Promise<unknown>} promise
 * @returns {Promise<string>} the code it is rejected with
 */
const code = (promise) => promise.then(() => 'resolved', (error) => error.code ?? String(error));

/**
 * @param {string} host
 * @param {number} port
 */
async function run(host, port) {
  const app = initializeApp({ projectId: 'demo-browser', apiKey: 'any' });
  const db = getFirestore(app);
  connectFirestoreEmulator(db, host, port, { mockUserToken: { sub: 'alice' } });
  const cities = collection(db, 'cities');
  /** @type {{ [step: string]: unknown }} */
  const seen = { origin: location.origin };

  await setDoc(doc(cities, 'bern'), { people: 134, tags: ['old'], when: Timestamp.fromMillis(1_700_000_000_000) });
  const bern = await getDoc(doc(cities, 'bern'));
  seen.read = { people: bern.get('people'), tags: bern.get('tags'), when: bern.get('when').toMillis() };
  seen.missing = (await getDoc(doc(cities, 'atlantis'))).exists();

  await updateDoc(doc(cities, 'bern'), { people: increment(1), seen: serverTimestamp() });
  const updated = await getDoc(doc(cities, 'bern'));
  seen.updated = [updated.get('people'), updated.get('seen') instanceof Timestamp];
  seen.updateMissing = await code(updateDoc(doc(cities, 'atlantis'), { people: 1 }));

  const batch = writeBatch(db);
  batch.set(doc(cities, 'lyon'), { people: 522 });
  batch.set(doc(cities, 'paris'), { people: 2103 });
  await batch.commit();
  const largest = await getDocs(query(cities, where('people', '>', 200), orderBy('people', 'desc'), limit(2)));
  seen.query = largest.docs.map((each) => each.id);

  const totals = await getAggregate(cities, { all: count(), total: sum('people'), mean: average('people') });
  seen.aggregate = totals.data();

  seen.transaction = await runTransaction(db, async (transaction) => {
    const people = (await transaction.get(doc(cities, 'lyon'))).get('people') + 1;
    transaction.update(doc(cities, 'lyon'), { people });
    return people;
  });
  seen.refused = await code(getDocs(query(cities, where('people', 'in', Array.from({ length: 31 }, (_, n) => n)))));

  const added = await addDoc(cities, { people: 0 });
  await deleteDoc(added);
  seen.deleted = (await getDoc(added)).exists();

  await terminate(db);
  await deleteApp(app);
  return seen;
}

/** @type {any} */ (window).run = run;
