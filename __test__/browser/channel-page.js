/**
 * What runs in the page: firebase/firestore against the suite over WebChannel, from another origin. It is bundled
 * by channel.test.js, which calls `window.scenarios` by name and compares what they return.
 */

import { deleteApp, initializeApp } from 'firebase/app';
import {
  collection, connectFirestoreEmulator, deleteDoc, disableNetwork, doc, enableNetwork, getDoc, getDocs, getDocsFromCache,
  increment, initializeFirestore, limit, memoryLocalCache, onSnapshot, onSnapshotsInSync, orderBy, persistentLocalCache,
  persistentMultipleTabManager, query, runTransaction, serverTimestamp, setDoc, terminate, Timestamp, updateDoc,
  waitForPendingWrites, where, writeBatch,
} from 'firebase/firestore';

/**
 * @typedef {{ host: string, port: number, project: string, settings?: { [name: string]: unknown }, keeps?: boolean, name?: string }} Place
 * @typedef {import('firebase/firestore').Firestore} Firestore
 */

/**
 * @template T
 * @param {Place} place
 * @param {(db: Firestore) => Promise<T>} work
 * @returns {Promise<T>}
 */
async function withFirestore({ host, port, project, settings, keeps, name }, work) {
  const app = initializeApp({ projectId: project, apiKey: 'any' }, name);
  const localCache = keeps ? persistentLocalCache({ tabManager: persistentMultipleTabManager() }) : memoryLocalCache();
  const db = initializeFirestore(app, { ...settings, localCache });
  connectFirestoreEmulator(db, host, port);
  try {
    return await work(db);
  } finally {
    await terminate(db);
    await deleteApp(app);
  }
}

/**
 * The snapshots of a query, in their order, each asked for once.
 *
 * @param {import('firebase/firestore').Query} target
 * @param {import('firebase/firestore').SnapshotListenOptions} [options]
 */
function snapshots(target, options = {}) {
  /** @type {import('firebase/firestore').QuerySnapshot[]} */
  const seen = [];
  /** @type {(() => void) | undefined} */
  let wake;
  /** @type {Error | undefined} */
  let failure;
  const stop = onSnapshot(target, options, (snapshot) => {
    seen.push(snapshot);
    wake?.();
  }, (error) => {
    failure = error;
    wake?.();
  });
  const next = async () => {
    while (seen.length === 0) {
      if (failure !== undefined) throw failure;
      await new Promise((resolve) => { wake = () => resolve(undefined); });
    }
    return /** @type {import('firebase/firestore').QuerySnapshot} */ (seen.shift());
  };
  return { next, stop };
}

/** @param {import('firebase/firestore').QuerySnapshot} snapshot */
const ids = (snapshot) => snapshot.docs.map((each) => each.id);

/** @param {import('firebase/firestore').QuerySnapshot} snapshot */
const changes = (snapshot) => snapshot.docChanges().map((change) => `${change.type} ${change.doc.id}`);

/**
 * Writes from outside of the page.
 *
 * @type {(id: string, fields: { [name: string]: unknown } | null) => Promise<void>}
 */
const elsewhere = (id, fields) => /** @type {any} */ (window).elsewhere(id, fields);

/** @type {{ [name: string]: (place: any, ...parameters: any[]) => Promise<unknown> }} */
const scenarios = {
  /** @param {Place} place */
  basics: (place) => withFirestore(place, async (db) => {
    const cities = collection(db, 'cities');
    /** @type {{ [step: string]: unknown }} */
    const seen = {};
    const when = Timestamp.fromMillis(1_700_000_000_000);
    await setDoc(doc(cities, 'bern'), { people: 134, tags: ['old'], deep: { when, none: null } });
    seen.read = (await getDoc(doc(cities, 'bern'))).data();
    seen.missing = (await getDoc(doc(cities, 'atlantis'))).exists();
    await updateDoc(doc(cities, 'bern'), { people: increment(1), at: serverTimestamp() });
    const bern = await getDoc(doc(cities, 'bern'));
    seen.updated = [bern.get('people'), bern.get('at') instanceof Timestamp];
    seen.updateMissing = await updateDoc(doc(cities, 'atlantis'), { people: 1 }).catch((error) => error.code);
    const batch = writeBatch(db);
    batch.set(doc(cities, 'lyon'), { people: 522 });
    batch.set(doc(cities, 'paris'), { people: 2103 });
    batch.delete(doc(cities, 'nowhere'));
    await batch.commit();
    seen.query = ids(await getDocs(query(cities, where('people', '>', 200), orderBy('people', 'desc'), limit(2))));
    seen.transaction = await runTransaction(db, async (transaction) => {
      const people = (await transaction.get(doc(cities, 'lyon'))).get('people') + 1;
      transaction.update(doc(cities, 'lyon'), { people });
      return people;
    });
    const many = Array.from({ length: 31 }, (_, n) => n);
    seen.refused = await getDocs(query(cities, where('people', 'in', many))).catch((error) => error.code);
    await deleteDoc(doc(cities, 'bern'));
    seen.deleted = (await getDoc(doc(cities, 'bern'))).exists();
    seen.left = ids(await getDocs(cities));
    return { ...seen, read: JSON.parse(JSON.stringify(seen.read)) };
  }),

  /** @param {Place} place */
  listening: (place) => withFirestore(place, async (db) => {
    const room = collection(db, 'room');
    const some = snapshots(query(room, where('n', '>', 0), orderBy('n')));
    const all = snapshots(room, { includeMetadataChanges: true });
    const seen = [];
    seen.push(ids(await some.next()));
    for (let first = await all.next(); first.metadata.fromCache; first = await all.next());
    await elsewhere('room/a', { n: 1 });
    seen.push(changes(await some.next()), changes(await all.next()));
    await elsewhere('room/a', { n: 0 });
    seen.push(changes(await some.next()), changes(await all.next()));
    const written = setDoc(doc(room, 'b'), { n: 5 });
    // First what is not acknowledged, then what is.
    const local = await all.next();
    seen.push([...changes(local), local.metadata.hasPendingWrites]);
    await written;
    let settled = await all.next();
    while (settled.metadata.hasPendingWrites) settled = await all.next();
    seen.push(['settled', ids(settled)]);
    await elsewhere('room/a', null);
    seen.push(changes(await all.next()));
    some.stop();
    all.stop();
    return seen;
  }),

  /** @param {Place} place */
  offline: (place) => withFirestore(place, async (db) => {
    const notes = collection(db, 'notes');
    const listener = snapshots(notes, { includeMetadataChanges: true });
    for (let first = await listener.next(); first.metadata.fromCache; first = await listener.next());
    await disableNetwork(db);
    for (let snapshot = await listener.next(); !snapshot.metadata.fromCache; snapshot = await listener.next());
    const pending = setDoc(doc(notes, 'mine'), { n: 1 });
    await elsewhere('notes/theirs', { n: 2 });
    const cached = ids(await getDocsFromCache(notes));
    await enableNetwork(db);
    await pending;
    let last = await listener.next();
    while (last.metadata.fromCache || last.metadata.hasPendingWrites || last.size < 2) last = await listener.next();
    listener.stop();
    return { cached, online: ids(last) };
  }),

  /** @param {Place} place @param {number} count */
  many: (place, count) => withFirestore(place, async (db) => {
    const listener = snapshots(collection(db, 'many'));
    let snapshot = await listener.next();
    const sizes = [snapshot.size];
    while (snapshot.metadata.fromCache) {
      snapshot = await listener.next();
      sizes.push(snapshot.size);
    }
    await elsewhere('many/more', { n: -1 });
    snapshot = await listener.next();
    listener.stop();
    const sum = snapshot.docs.reduce((total, each) => total + each.get('n'), 0);
    return { expected: sizes.at(-1) === count, more: changes(snapshot), size: snapshot.size, sum };
  }),

  /** Whether each text came through, sent from here and from elsewhere. @param {Place} place @param {string[]} texts */
  texts: (place, texts) => withFirestore(place, async (db) => {
    const listener = snapshots(collection(db, 'texts'));
    await listener.next();
    const same = [];
    for (const [index, text] of texts.entries()) {
      await setDoc(doc(db, `texts/here${index}`), { text });
      await elsewhere(`texts/there${index}`, { text });
      let there;
      while (there === undefined) there = (await listener.next()).docs.find((each) => each.id === `there${index}`);
      same.push(there.get('text') === text);
    }
    listener.stop();
    // Another client has none of it in its cache.
    const read = await withFirestore({ ...place, name: 'second' }, async (second) => (
      Promise.all(texts.map(async (text, index) => (await getDoc(doc(second, `texts/here${index}`))).get('text') === text))
    ));
    return { read, same };
  }),

  /** @param {Place} place @param {string} id */
  waitFor: (place, id) => withFirestore(place, async (db) => {
    const listener = snapshots(collection(db, 'tabs'));
    let snapshot = await listener.next();
    while (!snapshot.docs.some((each) => each.id === id)) snapshot = await listener.next();
    listener.stop();
    return ids(snapshot);
  }),

  /** @param {Place} place @param {string} id */
  put: (place, id) => withFirestore(place, async (db) => {
    await setDoc(doc(db, `tabs/${id}`), { n: 1 });
  }),

  /** Many updates, of which none may be missing at the end. @param {Place} place @param {number} count */
  storm: (place, count) => withFirestore(place, async (db) => {
    const storm = collection(db, 'storm');
    const listener = snapshots(storm);
    await listener.next();
    await Promise.all(Array.from({ length: count }, (_, n) => setDoc(doc(storm, `d${n % 7}`), { n })));
    await waitForPendingWrites(db);
    const read = Object.fromEntries((await getDocs(storm)).docs.map((each) => [each.id, each.get('n')]));
    let last = await listener.next();
    const isLast = () => last.docs.every((each) => each.get('n') === read[each.id]) && last.size === 7;
    while (!isLast()) last = await listener.next();
    listener.stop();
    return read;
  }),

  /** @param {Place} place */
  fillCache: (place) => withFirestore(place, async (db) => {
    await setDoc(doc(db, 'kept/a'), { n: 1 });
    await setDoc(doc(db, 'kept/b'), { n: 2 });
    return ids(await getDocs(collection(db, 'kept')));
  }),

  /** What an earlier page left in the cache, then what is true. @param {Place} place */
  readCache: (place) => withFirestore(place, async (db) => {
    await disableNetwork(db);
    const kept = collection(db, 'kept');
    const cached = ids(await getDocsFromCache(kept));
    const listener = snapshots(kept, { includeMetadataChanges: true });
    const first = await listener.next();
    await new Promise((resolve) => { onSnapshotsInSync(db, () => resolve(undefined)); });
    await enableNetwork(db);
    let last = await listener.next();
    while (last.metadata.fromCache) last = await listener.next();
    listener.stop();
    return { cached, first: ids(first), online: ids(last) };
  }),
};

/** @type {any} */ (window).scenarios = scenarios;
