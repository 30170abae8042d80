import { defineConfig, type ViteUserConfig } from 'vitest/config';

/**
 * Two projects. `unit` needs no server and runs in seconds; `server` starts one Temporal
 * development server for the whole run (see test/support/server-setup.ts).
 */
const config: ViteUserConfig = defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/e2e/**', 'test/workflows/**', 'test/replay/**'],
          testTimeout: 20_000,
        },
      },
    ],
  },
});

export default config;
