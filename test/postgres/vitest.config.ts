/**
 * `npm run test:postgres`: tests on a cluster of two nodes on PostgreSQL. Beside those of this folder
 * run those of the project `server` that take the server of the run, and that depend most on what the
 * service stores and lists.
 */
import { fileURLToPath } from 'node:url';
import { defineConfig, type ViteUserConfig } from 'vitest/config';

const config: ViteUserConfig = defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    name: 'postgres',
    include: [
      'test/postgres/*.test.ts',
      'test/e2e/cancel.test.ts',
      'test/e2e/kill-scenarios.test.ts',
      'test/e2e/run-lists.test.ts',
      'test/e2e/schedules.test.ts',
      'test/e2e/tenants.test.ts',
    ],
    globalSetup: ['test/postgres/cluster-setup.ts', 'test/support/hidden-values-setup.ts'],
    setupFiles: ['test/support/hidden-values-recorder.ts', 'test/support/property-seed.ts'],
    pool: 'forks',
    isolate: false,
    // One after another: some end the database, or a node.
    maxWorkers: 1,
    fileParallelism: false,
    maxConcurrency: 3,
    testTimeout: 240_000,
    hookTimeout: 300_000,
    teardownTimeout: 60_000,
    expect: { poll: { timeout: 60_000 } },
  },
});

export default config;
