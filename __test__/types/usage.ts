/** The public types, used as users use them. Compiling is the test; each expected error must be one. */

import { FireletError, start } from 'firelet';
import type { FireletErrorCode, FirestoreService, SeedContext, SeedDocuments, ServiceAddress, StartOptions, Suite } from 'firelet';
import jestSetup, { clear as clearInJest, restore as restoreInJest, projectId as projectInJest } from 'firelet/jest';
import vitestSetup, { clear as clearInVitest, restore as restoreInVitest, projectId as projectInVitest } from 'firelet/vitest';
import { defineConfig } from 'vitest/config';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const is = <T extends true>(): T | undefined => undefined;

export async function use(): Promise<void> {
  await using suite = await start({
    project: 'demo-types',
    only: ['firestore'],
    config: { firestore: { rules: 'firestore.rules' } },
    cwd: '.',
    host: 'localhost',
    firestore: { host: '127.0.0.1', port: 0, rules: 'firestore.rules' },
    hub: { port: 0 },
  });
  is<Equal<typeof suite, Suite>>();
  is<Equal<typeof suite.project, string>>();
  is<Equal<typeof suite.firestore, FirestoreService>>();
  const address: ServiceAddress = suite.firestore;
  is<Equal<typeof address.port, number>>();
  const { warnings } = await suite.firestore.setRules('service cloud.firestore {}', { database: 'two' });
  is<Equal<typeof warnings, string[]>>();
  is<Equal<ReturnType<typeof suite.idle>, Promise<void>>>();
  is<Equal<typeof suite.hub.url, string>>();
  is<Equal<(typeof suite.env)[string], string>>();
  const same: Suite = suite.applyEnv().unref();
  is<Equal<ReturnType<typeof same.clear>, Promise<void>>>();
  await suite.clear({ project: 'demo-types' });
  is<Equal<ReturnType<typeof suite.clock.now>, number>>();
  is<Equal<ReturnType<typeof suite.clock.advance>, Promise<void>>>();
  const snapshot = await suite.snapshot({ project: 'demo-types' });
  is<Equal<typeof snapshot, Awaited<ReturnType<typeof suite.snapshot>>>>();
  await suite.snapshot('after-signup', { project: 'demo-types' });
  await suite.restore(snapshot);
  await suite.restore('after-signup');
  const names: string[] = await suite.snapshots();
  void names;
  is<Equal<ReturnType<typeof suite.idle>, Promise<void>>>();
  is<Equal<ReturnType<typeof suite.export>, Promise<{ documents: number }>>>();
  await suite.export('seed', { force: true });
  await (await start({ data: { import: 'seed' } })).stop();
  await (await start({ data: { import: { dir: 'seed', collections: ['a'], databases: ['(default)'] } } })).stop();
  is<Equal<ReturnType<typeof suite.stop>, Promise<void>>>();

  const options: StartOptions = { only: 'firestore', config: false };
  await (await start(options)).stop();
  await (await start()).stop();

  const seed: SeedDocuments = {
    'users/alice': { at: { $timestamp: '2026-01-01T00:00:00Z' }, tags: ['a', null], bytes: new Uint8Array(1), since: new Date() },
    $databases: { second: { 'users/bob': {} } },
  };
  for (const one of ['seed.json', seed, async (admin: SeedContext) => admin.write(seed), () => {}]) await start({ seed: one });
  // @ts-expect-error No value of a document.
  await start({ seed: { 'users/alice': { f: () => 1 } } });
  // @ts-expect-error An unknown option.
  await start({ projct: 'x' });
  // @ts-expect-error A port is a number.
  await start({ firestore: { port: '8080' } });
  // @ts-expect-error An import is of some folder.
  await start({ data: { import: { collections: ['a'] } } });
  // @ts-expect-error The hub has no rules.
  await start({ hub: { rules: 'x' } });
  // @ts-expect-error A started suite is what has an address, not the promise of one.
  void start().firestore;
  // @ts-expect-error What a suite says of itself is not to be changed.
  suite.project = 'x';
  // @ts-expect-error Nor are its addresses.
  suite.firestore.port = 1;
}

export function handle(error: unknown): FireletErrorCode | undefined {
  if (!(error instanceof FireletError)) return undefined;
  is<Equal<typeof error.name, 'FireletError'>>();
  is<Equal<typeof error.cause, unknown>>();
  // @ts-expect-error No such code.
  if (error.code === 'NONSENSE') return undefined;
  return error.code;
}

export const vitestConfig = defineConfig({
  test: {
    globalSetup: ['firelet/vitest'],
    setupFiles: ['firelet/vitest'],
    provide: { firelet: { project: 'demo-types' } },
  },
});

export const mistakenConfigs = [
  // @ts-expect-error An unknown option of `start`.
  defineConfig({ test: { provide: { firelet: { projct: 'x' } } } }),
  // @ts-expect-error Options are an object.
  defineConfig({ test: { provide: { firelet: 5 } } }),
];

export async function inTests(): Promise<string[]> {
  await clearInJest();
  await clearInJest('second');
  await clearInVitest();
  is<Equal<ReturnType<typeof restoreInJest>, Promise<void>>>();
  await restoreInVitest();
  is<Equal<ReturnType<typeof jestSetup>, Promise<void>>>();
  is<Equal<ReturnType<typeof vitestSetup>, Promise<() => Promise<void>>>>();
  // @ts-expect-error A database id is a string.
  await clearInVitest(1);
  return [projectInJest(), projectInVitest()];
}
