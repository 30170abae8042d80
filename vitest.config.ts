import { availableParallelism } from 'node:os';
import {
  defineConfig,
  type TestProjectInlineConfiguration,
  type ViteUserConfig,
} from 'vitest/config';
import { browserProject } from './test/support/browser/browser-project.ts';
import { RUNS_ALL } from './test/support/extent.ts';
import { LongestFirst } from './test/support/longest-first.ts';
import { LEFT_OUT_OF_SAMPLE, SERVER_TESTS } from './test/support/server-tests.ts';

/** At the end of a run, no request of any test may hold what no model may see. */
const HIDDEN_VALUES = 'test/support/hidden-values-setup.ts';

const SETUP_FILES = ['test/support/hidden-values-recorder.ts', 'test/support/property-seed.ts'];

/** The pages of the console in a real Chromium. */
const CONSOLE_TESTS = 'test/console/browser/**/*.test.ts';

/** Those of a cluster, and of a real model: `npm run test:postgres`, `npm run test:real-model`. */
const RELEASE_TESTS = ['test/postgres/*.test.ts', 'test/real-model/*.test.ts'];

/** How long `expect.poll` asks: the second of the default is too short for a machine that is busy. */
const EXPECT = { poll: { timeout: 30_000 } };

/** Files that this run does not take. */
const LEFT_OUT = RUNS_ALL ? [] : [...LEFT_OUT_OF_SAMPLE];

/** What the projects without a server share. */
const WITHOUT_SERVER: TestProjectInlineConfiguration['test'] = {
  exclude: [...SERVER_TESTS, CONSOLE_TESTS, ...RELEASE_TESTS],
  globalSetup: HIDDEN_VALUES,
  setupFiles: SETUP_FILES,
  // Files share processes: loading modules anew for each took half of the time. One more than there
  // are cores, since some wait for servers and time-outs.
  pool: 'forks',
  isolate: false,
  maxWorkers: availableParallelism() + 1,
  // Time enough on a machine that is busy.
  testTimeout: 60_000,
  hookTimeout: 60_000,
  expect: EXPECT,
  sequence: { groupOrder: 0 },
};

/**
 * Four projects. `unit` needs no server; `console` opens the pages of the console in a Chromium;
 * `ai-sdk-7` repeats its tests of models and pages with the AI SDK 7, which needs Node 22; `server`
 * starts one Temporal development server for the whole run (see test/support/server-setup.ts). How
 * much of them runs: test/support/extent.ts.
 */
const config: ViteUserConfig = defineConfig({
  test: {
    // A server that is stopped writes its database first.
    teardownTimeout: 30_000,
    sequence: { sequencer: LongestFirst },
    // All projects load the same sources: the first one compiles them, for the others and the next run.
    experimental: { fsModuleCache: true },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          ...WITHOUT_SERVER,
        },
      },
      {
        test: {
          name: 'ai-sdk-7',
          include: ['test/{models,ui}/**/*.test.ts', 'test/hidden-values.test.ts'],
          env: { AI_SDK: '7' },
          ...WITHOUT_SERVER,
          setupFiles: ['test/support/needs-node-22.ts', ...SETUP_FILES],
        },
      },
      browserProject('console', {
        ...WITHOUT_SERVER,
        include: [CONSOLE_TESTS],
        exclude: LEFT_OUT,
        globalSetup: ['test/support/server-setup.ts', HIDDEN_VALUES],
        // Browsers take the processors; more files at once only wait for each other.
        maxWorkers: 1,
        testTimeout: 60_000,
        hookTimeout: 60_000,
        sequence: { groupOrder: 2 },
      }),
      {
        test: {
          name: 'server',
          include: [...SERVER_TESTS],
          exclude: LEFT_OUT,
          globalSetup: ['test/support/server-setup.ts', HIDDEN_VALUES],
          setupFiles: SETUP_FILES,
          // Workers carry a native addon: processes. They wait more than a third of their time.
          pool: 'forks',
          // Loading the SDK anew for each file took three seconds of processor time.
          isolate: false,
          // Tests that run at once within a file each have a worker process of their own.
          maxConcurrency: 3,
          // A defect that comes and goes is one, too: a test that needs more tries says why itself.
          retry: 0,
          maxWorkers: 2 * availableParallelism(),
          // Time enough on a machine that is busy.
          testTimeout: 120_000,
          hookTimeout: 180_000,
          expect: EXPECT,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});

export default config;
