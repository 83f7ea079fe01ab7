/** One suite for the run, one project for each worker. */

import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    globalSetup: ['firelet/vitest'],
    setupFiles: ['firelet/vitest'],
    // Options of `start`, all optional. Vitest hands them to globalSetup.
    provide: { firelet: { project: 'demo-vitest-example' } },
    maxWorkers: 3,
  },
});
