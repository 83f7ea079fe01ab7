'use strict';

/** Google's own admin client, over gRPC and over REST: databases, indexes, fields and operations. */

const assert = require('node:assert/strict');
const { after, test } = require('node:test');

const { Firestore } = require('@google-cloud/firestore');

const { adminClient } = require('../helpers/admin-client.js');
const { firebaseProject } = require('../helpers/firebase-project.js');
const { fileSuite, suiteFor } = require('../helpers/suite.js');

/** Enums come as numbers. */
const FIRESTORE_NATIVE = 1;
const DELETE_PROTECTION_DISABLED = 1;
const [ASCENDING, DESCENDING] = [1, 2];
const READY = 2;
const ACTIVE = 2;

const file = fileSuite({ project: 'demo-admin', firestore: { indexes: 'strict' } });

/** @type {import('@google-cloud/firestore').Firestore[]} */
const clients = [];
after(() => Promise.all(clients.map((one) => one.terminate())));

/**
 * @param {import('../../index.js').Suite} suite
 * @param {string} [databaseId]
 */
function client(suite, databaseId) {
  const { host, port } = suite.firestore;
  const made = new Firestore({ projectId: suite.project, host, port, ssl: false, databaseId });
  clients.push(made);
  return made;
}

/** The HTTP status of each code, which is what the client shows over REST. */
const HTTP = new Map([[3, 400], [5, 404], [6, 409], [9, 400], [12, 501]]);

/**
 * A call that fails.
 *
 * @param {Promise<unknown>} call
 * @param {number} code gRPC's
 * @param {RegExp} text
 */
async function refused(call, code, text) {
  await assert.rejects(call, (error) => {
    const { code: found, message } = /** @type {{ code: number, message: string }} */ (error);
    assert.ok(found === code || found === HTTP.get(code), `${found} ${message}`);
    assert.match(message, text);
    return true;
  });
}

for (const transport of /** @type {const} */ (['grpc', 'rest'])) {
  test(`databases come and go (${transport})`, async (t) => {
    const client = adminClient(t, file.suite, transport);
    const parent = 'projects/demo-admin';
    const databaseId = `shop-${transport}`;
    const name = `${parent}/databases/${databaseId}`;
    await refused(client.getDatabase({ name }), 5, /Project 'demo-admin' or database 'shop-\w+' does not exist\./);

    const [operation] = await client.createDatabase({
      parent,
      databaseId,
      database: { type: 'FIRESTORE_NATIVE', locationId: 'eur3', deleteProtectionState: 'DELETE_PROTECTION_ENABLED' },
    });
    const [made] = /** @type {any} */ (await operation.promise());
    assert.equal(made.name, name);
    assert.equal(made.locationId, 'eur3');
    assert.equal(made.type, FIRESTORE_NATIVE);
    assert.match(made.uid, /^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    await refused(
      client.createDatabase({ parent, databaseId, database: { type: 'FIRESTORE_NATIVE', locationId: 'eur3' } }),
      6,
      /Database already exists\. Please use another database_id/,
    );

    const [listed] = await client.listDatabases({ parent });
    const names = listed.databases?.map((one) => one.name) ?? [];
    assert.ok(names.includes(`${parent}/databases/(default)`), String(names));
    assert.ok(names.includes(name), String(names));

    await refused(client.deleteDatabase({ name }), 9, /delete protection/);
    const [update] = await client.updateDatabase({
      database: { name, deleteProtectionState: 'DELETE_PROTECTION_DISABLED' },
      updateMask: { paths: ['delete_protection_state'] },
    });
    const [updated] = /** @type {any} */ (await update.promise());
    assert.equal(updated.deleteProtectionState, DELETE_PROTECTION_DISABLED);
    assert.equal(updated.locationId, 'eur3');
    assert.notEqual(updated.etag, made.etag);
    await refused(client.deleteDatabase({ name, etag: made.etag }), 9, /etag/);

    const [deletion] = await client.deleteDatabase({ name });
    await deletion.promise();
    await refused(client.getDatabase({ name }), 5, /does not exist/);
  });

  test(`an index serves queries from the moment it is made (${transport})`, async (t) => {
    const manager = adminClient(t, file.suite, transport);
    const db = client(file.suite);
    const id = `books-${transport}`;
    const parent = `projects/demo-admin/databases/(default)/collectionGroups/${id}`;
    await db.collection(id).doc('a').set({ kind: 'x', year: 2001 });
    const query = db.collection(id).where('kind', '==', 'x').orderBy('year', 'desc');
    await refused(query.get(), 9, /requires an index/);

    const fields = [
      { fieldPath: 'kind', order: /** @type {const} */ ('ASCENDING') },
      { fieldPath: 'year', order: /** @type {const} */ ('DESCENDING') },
    ];
    const index = { queryScope: /** @type {const} */ ('COLLECTION'), fields };
    const [operation] = await manager.createIndex({ parent, index });
    const [made] = /** @type {any} */ (await operation.promise());
    assert.equal(made.state, READY);
    assert.deepEqual(
      made.fields.map((/** @type {any} */ one) => [one.fieldPath, one.order]),
      [['kind', ASCENDING], ['year', DESCENDING], ['__name__', DESCENDING]],
    );
    assert.deepEqual((await query.get()).docs.map((doc) => doc.id), ['a']);
    const metadata = /** @type {any} */ (operation.metadata);
    assert.equal(metadata.index, made.name);

    await refused(manager.createIndex({ parent, index }), 6, /index already exists/);
    await refused(
      manager.createIndex({ parent, index: { queryScope: 'COLLECTION', fields: fields.slice(0, 1) } }),
      3,
      /this index is not necessary, configure using single field index controls/,
    );
    const [found] = await manager.getIndex({ name: made.name });
    assert.deepEqual(found.fields?.length, 3);
    const every = parent.replace(id, '-');
    const listed = (await manager.listIndexes({ parent: every }))[0].map((one) => one.name);
    assert.ok(listed.includes(made.name));

    await manager.deleteIndex({ name: made.name });
    await refused(query.get(), 9, /requires an index/);
    await refused(manager.getIndex({ name: made.name }), 5, /there is no index/);
  });

  test(`a field's indexes can be set and set back (${transport})`, async (t) => {
    const manager = adminClient(t, file.suite, transport);
    const db = client(file.suite);
    const id = `pages-${transport}`;
    const group = `projects/demo-admin/databases/(default)/collectionGroups/${id}`;
    const name = `${group}/fields/n`;
    await db.doc(`books/a/${id}/1`).set({ n: 1 });
    const query = db.collectionGroup(id).where('n', '>', 0);
    await refused(query.get(), 9, /COLLECTION_GROUP_ASC/);

    const [before] = await manager.getField({ name });
    assert.equal(before.indexConfig?.usesAncestorConfig, true);
    assert.equal(before.indexConfig?.ancestorField, 'projects/demo-admin/databases/(default)/collectionGroups/__default__/fields/*');
    assert.equal(before.indexConfig?.indexes?.length, 3);

    const indexes = [{ queryScope: /** @type {const} */ ('COLLECTION_GROUP'), fields: [{ fieldPath: '*', order: /** @type {const} */ ('ASCENDING') }] }];
    const [operation] = await manager.updateField({ field: { name, indexConfig: { indexes } }, updateMask: { paths: ['index_config'] } });
    const [field] = /** @type {any} */ (await operation.promise());
    assert.equal(field.indexConfig.usesAncestorConfig, false);
    assert.equal(field.indexConfig.indexes.length, 1);
    assert.equal((await query.get()).size, 1);
    await refused(db.collection(`books/a/${id}`).where('n', '>', 0).get(), 9, /index/);

    const filter = 'indexConfig.usesAncestorConfig:false';
    const listed = (await manager.listFields({ parent: group, filter }))[0].map((one) => one.name);
    assert.deepEqual(listed, [name]);
    await refused(manager.listFields({ parent: group }), 3, /explicitly overridden/);

    const [back] = await manager.updateField({ field: { name }, updateMask: { paths: ['index_config'] } });
    await back.promise();
    await refused(query.get(), 9, /COLLECTION_GROUP_ASC/);
    assert.deepEqual((await manager.listFields({ parent: group, filter }))[0], []);
  });

  test(`operations can be asked for again (${transport})`, async (t) => {
    const client = adminClient(t, file.suite, transport);
    const name = 'projects/demo-admin/databases/(default)/collectionGroups/asked/fields/until';
    const [operation] = await client.updateField({ field: { name, ttlConfig: {} }, updateMask: { paths: ['ttl_config'] } });
    const id = /** @type {string} */ (operation.name);
    const again = await client.checkUpdateFieldProgress(id);
    assert.equal(again.done, true);
    assert.equal(/** @type {any} */ (again.result).ttlConfig.state, ACTIVE);
    const listed = [];
    for await (const one of /** @type {any} */ (client).listOperationsAsync({ name: 'projects/demo-admin/databases/(default)' })) listed.push(one.name);
    assert.ok(listed.includes(id), String(listed));
    const fields = { parent: 'projects/demo-admin/databases/(default)/collectionGroups/-', filter: 'ttlConfig:*' };
    assert.deepEqual((await client.listFields(fields))[0].map((one) => one.name), [name]);
    const [off] = await client.updateField({ field: { name }, updateMask: { paths: ['ttl_config'] } });
    await off.promise();
    assert.deepEqual((await client.listFields(fields))[0], []);
  });

  test(`what is not there says its name (${transport})`, async (t) => {
    const client = adminClient(t, file.suite, transport);
    const name = 'projects/demo-admin/databases/(default)';
    await refused(client.exportDocuments({ name, outputUriPrefix: 'gs://bucket' }), 12, /does not have ExportDocuments yet/);
    await refused(client.importDocuments({ name, inputUriPrefix: 'gs://bucket' }), 12, /does not have ImportDocuments yet/);
  });
}

test('a database that is written to is listed, and empty once it is deleted', async (t) => {
  const { suite } = file;
  const manager = adminClient(t, suite);
  const db = client(suite, 'by-writing');
  const name = `projects/${suite.project}/databases/by-writing`;
  const listed = async () => (await manager.listDatabases({ parent: `projects/${suite.project}` }))[0].databases?.map((one) => one.name);
  assert.ok(!(await listed())?.includes(name));
  await db.doc('a/b').set({ n: 1 });
  assert.ok((await listed())?.includes(name));

  const gone = new Promise((resolve) => {
    const stop = db.doc('a/b').onSnapshot((doc) => {
      if (doc.exists) return;
      stop();
      resolve(undefined);
    });
  });
  const [operation] = await manager.deleteDatabase({ name });
  await operation.promise();
  await gone;
  assert.equal((await db.doc('a/b').get()).exists, false);
  assert.ok(!(await listed())?.includes(name));
});

test('databases of firebase.json are listed, each with its own indexes', async (t) => {
  const index = (/** @type {string} */ id) => ({
    indexes: [
      { collectionGroup: id, queryScope: 'COLLECTION', fields: [{ fieldPath: 'a', order: 'ASCENDING' }, { fieldPath: 'b', order: 'ASCENDING' }] },
    ],
  });
  const cwd = firebaseProject(t, {
    'firebase.json': {
      firestore: [
        { database: '(default)', indexes: 'default.json' },
        { database: 'shop', indexes: 'shop.json' },
      ],
      emulators: { firestore: {} },
    },
    'default.json': index('of-default'),
    'shop.json': index('of-shop'),
  });
  const suite = await suiteFor(t, { project: 'demo-two', config: 'firebase.json', cwd });
  const manager = adminClient(t, suite);
  const [{ databases }] = await manager.listDatabases({ parent: 'projects/demo-two' });
  assert.deepEqual(databases?.map((one) => one.name), ['projects/demo-two/databases/(default)', 'projects/demo-two/databases/shop']);
  for (const [database, id] of [['(default)', 'of-default'], ['shop', 'of-shop']]) {
    const [indexes] = await manager.listIndexes({ parent: `projects/demo-two/databases/${database}/collectionGroups/-` });
    assert.equal(indexes.length, 1);
    assert.match(String(indexes[0].name), new RegExp(`/${id}/`));
  }
});
