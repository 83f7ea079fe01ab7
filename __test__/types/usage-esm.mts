/** The types of `firelet/vitest` in an ES module, as most Vitest configurations are. */

import { clear, projectId } from 'firelet/vitest';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    globalSetup: ['firelet/vitest'],
    setupFiles: ['firelet/vitest'],
    provide: { firelet: { project: 'demo-types', firestore: { indexes: 'strict', limits: 'off' } } },
  },
});

export const mistakenConfigs = [
  // @ts-expect-error An unknown option of `start`.
  defineConfig({ test: { provide: { firelet: { projct: 'x' } } } }),
  // @ts-expect-error Options are an object.
  defineConfig({ test: { provide: { firelet: 5 } } }),
];

export async function inTests(): Promise<string> {
  await clear();
  // @ts-expect-error A database id is a string.
  await clear(1);
  return projectId();
}
