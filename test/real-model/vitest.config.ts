/**
 * `npm run test:real-model`: tests with a real model of 135 million parameters, which follows
 * instructions badly, as real models sometimes do.
 */
import { fileURLToPath } from 'node:url';
import { defineConfig, type ViteUserConfig } from 'vitest/config';

const config: ViteUserConfig = defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    name: 'real-model',
    include: ['test/real-model/*.test.ts'],
    // A run that executes no test has failed.
    passWithNoTests: false,
    globalSetup: ['test/real-model/model-setup.ts', 'test/support/hidden-values-setup.ts'],
    setupFiles: ['test/support/hidden-values-recorder.ts', 'test/support/property-seed.ts'],
    pool: 'forks',
    isolate: false,
    // One after another: they share the slots of one server.
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 300_000,
    // The model may have to be built.
    hookTimeout: 300_000,
    teardownTimeout: 60_000,
    expect: { poll: { timeout: 60_000 } },
  },
});

export default config;
