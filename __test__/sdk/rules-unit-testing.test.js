'use strict';

/**
 * Security rules under the web SDK, with users made up as `@firebase/rules-unit-testing` makes them up: unsigned
 * tokens with any claims, rules set by the emulator's route, and an owner who is not asked about rules.
 */

const assert = require('node:assert/strict');
const { after, beforeEach, describe, test } = require('node:test');

const { deleteApp, initializeApp } = require('firebase/app');
const sdk = require('firebase/firestore');

const { fileSuite, rest } = require('../helpers/suite.js');

const PROJECT = 'demo-rules-sdk';
const file = fileSuite({ project: PROJECT });

// The SDK prints every refusal, and these tests ask for some.
sdk.setLogLevel('silent');

const RULES = `rules_version = '2';
service cloud.firestore {
  match /databases/{database}/documents {
    function signedIn() { return request.auth != null; }
    function role(room) { return get(/databases/$(database)/documents/rooms/$(room)).data.roles[request.auth.uid]; }

    match /rooms/{room} {
      allow get: if signedIn() && request.auth.uid in resource.data.roles;
      allow create: if signedIn() && request.resource.data.roles[request.auth.uid] == 'owner'
        && existsAfter(/databases/$(database)/documents/rooms/$(room)/members/$(request.auth.uid));
      match /members/{member} {
        allow read, write: if signedIn() && member == request.auth.uid;
      }
      match /messages/{message} {
        allow read: if role(room) in ['owner', 'reader'];
        allow create: if role(room) == 'owner' && request.resource.data.author == request.auth.uid
          && request.resource.data.at == request.time;
        allow update: if resource.data.author == request.auth.uid
          && request.resource.data.diff(resource.data).affectedKeys().hasOnly(['text', 'edits']);
        allow delete: if request.auth.token.admin == true;
      }
    }
    match /notes/{note} {
      allow list: if request.auth.uid == resource.data.owner && request.query.limit <= 10;
      allow get: if resource == null || resource.data.owner == request.auth.uid;
      allow write: if request.resource.data.owner == request.auth.uid;
    }
    match /{path=**}/comments/{comment} {
      allow read: if resource.data.public == true;
    }
  }
}
`;

/** @type {{ app: any, db: any }[]} */
const made = [];
after(async () => {
  for (const { app, db } of made) {
    await sdk.terminate(db);
    await deleteApp(app);
  }
});

/**
 * A database as a user sees it; as nobody does without one.
 *
 * @param {string | null} uid
 * @param {object} [claims]
 */
function as(uid, claims = {}) {
  const app = initializeApp({ projectId: PROJECT }, `rules-${made.length}`);
  const db = sdk.getFirestore(app);
  const { host, port } = file.suite.firestore;
  const options = uid === null ? {} : { mockUserToken: { sub: uid, ...claims } };
  sdk.connectFirestoreEmulator(db, host, port, /** @type {any} */ (options));
  made.push({ app, db });
  return db;
}

/** @param {Promise<unknown>} promise @param {RegExp} [text] */
async function denied(promise, text = /./) {
  await assert.rejects(promise, (/** @type {any} */ error) => {
    assert.equal(error.code, 'permission-denied', error.message);
    assert.match(error.message, text);
    return true;
  });
}

/** What `withSecurityRulesDisabled` does: writes as an owner. @param {{ [path: string]: object }} documents */
async function given(documents) {
  for (const [path, fields] of Object.entries(documents)) {
    const answer = await rest(file.suite, 'PATCH', `/${path}`, { fields });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
  }
}

const text = (/** @type {string} */ stringValue) => ({ stringValue });
const roles = (/** @type {{ [uid: string]: string }} */ of) => ({
  roles: { mapValue: { fields: Object.fromEntries(Object.entries(of).map(([uid, role]) => [uid, text(role)])) } },
});

/** @param {string} source */
async function setByRoute(source) {
  const answer = await fetch(`${file.suite.firestore.url}/emulator/v1/projects/${PROJECT}:securityRules`, {
    method: 'PUT',
    body: JSON.stringify({ rules: { files: [{ name: 'firestore.rules', content: source }] } }),
  });
  return { status: answer.status, body: await answer.json() };
}

describe('security rules', () => {
  beforeEach(async () => {
    await file.suite.clear({ project: PROJECT });
    assert.deepEqual(await setByRoute(RULES), { status: 200, body: {} });
    await given({ 'rooms/r': roles({ alice: 'owner', bob: 'reader' }) });
  });

  test('a document is read by whom its content names', async () => {
    const [alice, carol, nobody] = [as('alice'), as('carol'), as(null)];
    assert.equal((await sdk.getDoc(sdk.doc(alice, 'rooms/r'))).get('roles.bob'), 'reader');
    await denied(sdk.getDoc(sdk.doc(carol, 'rooms/r')), /false for 'get' @ L8/);
    await denied(sdk.getDoc(sdk.doc(nobody, 'rooms/r')), /false for 'get' @ L8/);
    await denied(sdk.getDoc(sdk.doc(alice, 'elsewhere/x')), /No matching allow statements/);
    assert.equal((await sdk.getDoc(sdk.doc(alice, 'notes/none'))).exists(), false);
  });

  test('writes are seen as they will be, server timestamps and other documents included', async () => {
    const alice = as('alice');
    const message = sdk.doc(alice, 'rooms/r/messages/m');
    const data = { author: 'alice', text: 'hi', at: sdk.serverTimestamp() };
    await denied(sdk.setDoc(message, { ...data, author: 'bob' }));
    await denied(sdk.setDoc(message, { ...data, at: new Date() }));
    await sdk.setDoc(message, data);
    await sdk.updateDoc(message, { text: 'hello', edits: sdk.increment(1) });
    await denied(sdk.updateDoc(message, { author: 'bob' }));
    await denied(sdk.deleteDoc(message));
    await sdk.deleteDoc(sdk.doc(as('root', { admin: true }), 'rooms/r/messages/m'));

    // Both or none: the room demands its member, in the same commit.
    const room = sdk.doc(alice, 'rooms/new');
    await denied(sdk.setDoc(room, { roles: { alice: 'owner' } }));
    const batch = sdk.writeBatch(alice);
    batch.set(room, { roles: { alice: 'owner' } });
    batch.set(sdk.doc(room, 'members/alice'), {});
    await batch.commit();
    const refused = sdk.writeBatch(alice);
    refused.set(sdk.doc(room, 'members/alice'), { n: 1 });
    refused.set(sdk.doc(room, 'members/bob'), {});
    await denied(refused.commit());
    assert.deepEqual((await sdk.getDoc(sdk.doc(room, 'members/alice'))).data(), {});
  });

  test('transactions are decided write by write and read by read', async () => {
    await given({ 'notes/a': { owner: text('alice'), n: { integerValue: '1' } } });
    const alice = as('alice');
    const note = sdk.doc(alice, 'notes/a');
    await sdk.runTransaction(alice, async (transaction) => {
      const { n } = /** @type {any} */ ((await transaction.get(note)).data());
      transaction.update(note, { n: n + 1 });
    });
    assert.equal((await sdk.getDoc(note)).get('n'), 2);
    const eve = as('eve');
    await denied(sdk.runTransaction(eve, (transaction) => transaction.get(sdk.doc(eve, 'notes/a'))));
  });

  test('queries are proved by what they say', async () => {
    await given({
      'notes/a': { owner: text('alice') },
      'notes/b': { owner: text('bob') },
      'posts/p/comments/c': { public: { booleanValue: true } },
    });
    const alice = as('alice');
    const notes = sdk.collection(alice, 'notes');
    const own = sdk.query(notes, sdk.where('owner', '==', 'alice'), sdk.limit(10));
    assert.equal((await sdk.getDocs(own)).size, 1);
    assert.equal((await sdk.getCountFromServer(own)).data().count, 1);
    await denied(sdk.getDocs(notes), /Property owner is undefined on object\. for 'list' @ L24/);
    await denied(sdk.getDocs(sdk.query(notes, sdk.where('owner', '==', 'alice'))));
    await denied(sdk.getDocs(sdk.query(own, sdk.limit(11))));
    await denied(sdk.getDocs(sdk.query(notes, sdk.where('owner', 'in', ['alice', 'bob']), sdk.limit(1))));
    const comments = sdk.collectionGroup(as(null), 'comments');
    assert.equal((await sdk.getDocs(sdk.query(comments, sdk.where('public', '==', true)))).size, 1);
    await denied(sdk.getDocs(comments));
  });

  test('a refused listener ends, and the others of its stream go on', async () => {
    await given({ 'notes/a': { owner: text('alice') } });
    const alice = as('alice');
    const own = sdk.query(sdk.collection(alice, 'notes'), sdk.where('owner', '==', 'alice'), sdk.limit(5));
    const listener = listen(own);
    assert.equal(await listener.next(), 1);
    await denied(listen(sdk.collection(alice, 'notes')).next());
    await given({ 'notes/b': { owner: text('alice') } });
    assert.equal(await listener.next(), 2);
    await rest(file.suite, 'DELETE', '/notes/b');
    assert.equal(await listener.next(), 1);

    // Other rules are asked at once.
    await file.suite.firestore.setRules(RULES.replace('request.query.limit <= 10', 'false'));
    await denied(listener.next());
  });

  test('rules that are wrong change nothing, and say why', async () => {
    const wrong = await setByRoute(RULES.replaceAll('request.auth.uid', 'request.auth.uid +'));
    assert.equal(wrong.status, 400);
    assert.equal(wrong.body.error.status, 'INVALID_ARGUMENT');
    assert.match(wrong.body.error.message, /^Error compiling rules:\nL\d+:\d+ /);
    const alice = as('alice');
    assert.equal((await sdk.getDoc(sdk.doc(alice, 'rooms/r'))).exists(), true);
    await denied(sdk.getDoc(sdk.doc(as(null), 'rooms/r')));
  });
});

/** What a listener is told, one after the other: the number of documents. @param {any} query */
function listen(query) {
  /** @type {any[]} */
  const told = [];
  /** @type {(() => void) | undefined} */
  let wake;
  const tell = (/** @type {any} */ news) => {
    told.push(news);
    wake?.();
  };
  const end = sdk.onSnapshot(
    query,
    // What the SDK knows from other listeners is no answer yet.
    (/** @type {any} */ snapshot) => snapshot.metadata.fromCache || tell({ size: snapshot.size }),
    (/** @type {any} */ error) => tell({ error }),
  );
  after(() => end());
  return {
    async next() {
      while (told.length === 0) await new Promise((resolve) => (wake = () => resolve(undefined)));
      const { size, error } = told.shift();
      if (error !== undefined) throw error;
      return size;
    },
  };
}
