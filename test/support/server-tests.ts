/** Which tests need the server of the run, or one of their own: the files of the project `server`. */
export const SERVER_TESTS: readonly string[] = [
  'test/e2e/**/*.test.ts',
  'test/workflows/**/*.test.ts',
  'test/replay/**/*.test.ts',
  'test/**/*.server.test.ts',
];

/**
 * Files that a sample leaves out. Those of the project `server` take many seconds each, and repeat with
 * a server what unit tests or another file prove. Those of the project `console` go through one part of
 * the pages that other scenes of the sample open, too.
 */
export const LEFT_OUT_OF_SAMPLE: readonly string[] = [
  'test/cli/budget.server.test.ts',
  'test/cli/chat.server.test.ts',
  'test/console/browser/fork-scenes.test.ts',
  'test/console/browser/long-scenes.test.ts',
  'test/console/browser/parts-scenes.test.ts',
  'test/console/browser/schedule-scenes.test.ts',
  'test/console/browser/tenant-scenes.test.ts',
  'test/docs/guide-commands.server.test.ts',
  'test/doctor/doctor-runs.server.test.ts',
  'test/doctor/doctor.server.test.ts',
  'test/e2e/bad-start.test.ts',
  'test/e2e/bursts.test.ts',
  'test/e2e/cut-off.test.ts',
  'test/e2e/deep-forks.test.ts',
  'test/e2e/deployments.test.ts',
  'test/e2e/elsewhere.test.ts',
  'test/e2e/first-hour.test.ts',
  'test/e2e/fork-retention.test.ts',
  'test/e2e/frameworks.test.ts',
  'test/e2e/held-worker.test.ts',
  'test/e2e/kill-compiled.test.ts',
  'test/e2e/kill-forks.test.ts',
  'test/e2e/kill-matrix.test.ts',
  'test/e2e/kill-programs.test.ts',
  'test/e2e/kill-question.test.ts',
  'test/e2e/kill-tree-cancel.test.ts',
  'test/e2e/kill-tree-sums.test.ts',
  'test/e2e/kill-trees.test.ts',
  'test/e2e/large-data.test.ts',
  'test/e2e/large-results.test.ts',
  'test/e2e/last-link.test.ts',
  'test/e2e/lone-surrogates.test.ts',
  'test/e2e/many-calls.test.ts',
  'test/e2e/mcp-week.test.ts',
  'test/e2e/other-process.test.ts',
  'test/e2e/permits.test.ts',
  'test/e2e/pipelines.test.ts',
  'test/e2e/protected-forks.test.ts',
  'test/e2e/rates.test.ts',
  'test/e2e/read-at-the-end.test.ts',
  'test/e2e/rolling-restarts.test.ts',
  'test/e2e/room.test.ts',
  'test/e2e/stream-processes.test.ts',
  'test/e2e/taken-back.test.ts',
  'test/e2e/tenant-flood.test.ts',
  'test/e2e/tree-view.test.ts',
  'test/replay/replay.test.ts',
  'test/worker/bundle.server.test.ts',
  'test/worker/local.server.test.ts',
];

const patterns = SERVER_TESTS.map((glob) => {
  const source = glob
    .replaceAll('.', '\\.')
    .replaceAll('**/', '(?:[^/]+/){0,}')
    .replaceAll(/\*/g, '[^/]*');
  return new RegExp(`^${source}$`);
});

/** Whether the file at `path`, from the root of the repository, belongs to the project `server`. */
export function isServerTest(path: string): boolean {
  return patterns.some((pattern) => pattern.test(path));
}
