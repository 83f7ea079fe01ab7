// Makes the exports of this folder again: writes the documents of each `documents.json` to a running official
// Firestore emulator, and has it export them. `node make.mjs http://127.0.0.1:8801`; see README.md.

import { existsSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const emulator = process.argv[2];
if (emulator === undefined) {
  throw new Error('usage: node make.mjs http://HOST:PORT');
}
const here = dirname(fileURLToPath(import.meta.url));

async function ask(method, path, body) {
  const answer = await fetch(`${emulator}${path}`, {
    method,
    headers: { authorization: 'Bearer owner', 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) {
    throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  }
}

/** What stands for a long text becomes one. */
function expand(json) {
  if (Array.isArray(json)) {
    return json.map(expand);
  }
  if (json === null || typeof json !== 'object') {
    return json;
  }
  if (Array.isArray(json.repeated)) {
    const [text, times] = json.repeated;
    return { stringValue: text.repeat(times) };
  }
  return Object.fromEntries(Object.entries(json).map(([name, value]) => [name, expand(value)]));
}

for (const name of readdirSync(here)) {
  const source = join(here, name, 'documents.json');
  if (!existsSync(source)) {
    continue;
  }
  const { project, database, documents } = JSON.parse(readFileSync(source, 'utf8'));
  const root = `projects/${project}/databases/${database}`;
  await ask('DELETE', `/emulator/v1/${root}/documents`);
  for (const [path, fields] of Object.entries(documents)) {
    const update = { name: `${root}/documents/${path}`, fields: expand(fields) };
    await ask('POST', `/v1/${root}/documents:commit`, { writes: [{ update }] });
  }
  const folder = mkdtempSync(join(tmpdir(), 'corpus-'));
  await ask('POST', `/emulator/v1/projects/${project}:export`, {
    database: root,
    export_directory: folder,
    export_name: 'firestore_export',
  });
  const target = join(here, name, 'firestore_export');
  rmSync(target, { recursive: true, force: true });
  renameSync(join(folder, 'firestore_export'), target);
  rmSync(folder, { recursive: true });
  const overall = join(target, 'firestore_export.overall_export_metadata');
  console.log(`${name}: ${Object.keys(documents).length} documents, overall metadata of ${statSync(overall).size} bytes`);
}
