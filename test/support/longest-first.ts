/**
 * The order of test files: those that take longest first, so that no worker is left alone with a
 * long one at the end. A fresh checkout has no times of its own, so they are named here; the order of
 * the others is vitest's own.
 */
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files of each tier, the longest first. From JSON reports of `test:unit` and `test:all`. */
export const LONGEST: readonly string[] = [
  'test/tools/isolation.test.ts',
  'test/define/hostile-values.test.ts',
  'test/client/connection-cause.test.ts',
  'test/models/endless-replies.test.ts',
  'test/mcp/hostile-http.test.ts',
  'test/mcp/hostile-messages.test.ts',
  'test/mcp/wild-servers.test.ts',
  'test/testing/part-cases.test.ts',
  'test/console/live.test.ts',
  'test/worker/history-reader.test.ts',
  'test/mcp/killed-servers.test.ts',
  'test/core/runs/budgets-under-faults.test.ts',
  'test/lisp/builtins.property.test.ts',
  'test/lisp/process.property.test.ts',
  'test/protection/s3-blobs.test.ts',
  'test/lisp/regex/regex.property.test.ts',
  'test/lisp/clojure.test.ts',
  'test/telemetry/tracer.test.ts',
  'test/mcp/http-servers.test.ts',
  'test/core/tenant/packed-ledger.test.ts',
  'test/lisp/fuel-table.test.ts',
  'test/core/hostile-replies.test.ts',
  'test/lisp/slices.test.ts',
  'test/e2e/first-hour.test.ts',
  'test/examples/examples.server.test.ts',
  'test/docs/tutorial.server.test.ts',
  'test/e2e/split-tasks.test.ts',
  'test/e2e/own-parts.test.ts',
  'test/e2e/cut-off.test.ts',
  'test/e2e/permits.test.ts',
  'test/workflows/host.test.ts',
  'test/e2e/kill-matrix.test.ts',
  'test/e2e/task-bytes.test.ts',
  'test/e2e/large-data.test.ts',
  'test/e2e/bad-start.test.ts',
  'test/e2e/deployments.test.ts',
  'test/e2e/poison-calls.test.ts',
  'test/e2e/keys.test.ts',
  'test/e2e/handover.test.ts',
  'test/e2e/trees.test.ts',
  'test/e2e/schedules.test.ts',
  'test/e2e/lost-workers.test.ts',
  'test/e2e/elsewhere.test.ts',
  'test/e2e/callbacks.test.ts',
  'test/e2e/deep-forks.test.ts',
  'test/e2e/other-process.test.ts',
  'test/e2e/kill-scenarios.test.ts',
  'test/worker/embedded-server.server.test.ts',
  'test/e2e/two-releases.test.ts',
  'test/e2e/kill-programs.test.ts',
  'test/worker/bundle.server.test.ts',
  'test/e2e/pipelines.test.ts',
  'test/worker/local.server.test.ts',
  'test/e2e/isolated-tools.test.ts',
  'test/cli/cli.server.test.ts',
  'test/e2e/kill-trees.test.ts',
  'test/e2e/protected-forks.test.ts',
  'test/e2e/tree-view.test.ts',
  'test/e2e/cancel.test.ts',
  'test/e2e/fork-retention.test.ts',
  'test/e2e/kill-forks.test.ts',
  'test/examples/demo.server.test.ts',
  'test/e2e/kill-compiled.test.ts',
  'test/cli/chat.server.test.ts',
  'test/e2e/rolling-restarts.test.ts',
  'test/e2e/program-times.test.ts',
  'test/e2e/held-worker.test.ts',
  'test/e2e/people.test.ts',
  'test/e2e/read-at-the-end.test.ts',
  'test/e2e/large-results.test.ts',
  'test/replay/replay.test.ts',
  'test/e2e/tenants.test.ts',
  'test/e2e/mcp-servers.test.ts',
  'test/e2e/steps.test.ts',
  'test/e2e/kill-worker.test.ts',
  'test/e2e/traces.test.ts',
  'test/e2e/programs.test.ts',
  'test/e2e/taken-back.test.ts',
  'test/e2e/room.test.ts',
  'test/e2e/rates.test.ts',
  'test/e2e/quick-reads.test.ts',
  'test/mcp-server/mcp-server.server.test.ts',
  'test/e2e/forks.test.ts',
  'test/cli/retention.server.test.ts',
  'test/e2e/kill-question.test.ts',
  'test/e2e/bursts.test.ts',
  'test/e2e/many-calls.test.ts',
  'test/e2e/long-programs.test.ts',
  'test/e2e/stream-processes.test.ts',
  'test/e2e/limits.test.ts',
];

/** Vitest's order, but for {@link LONGEST}. Projects stay in theirs. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root } = this.ctx.config;
    const rank = ({ moduleId }: TestSpecification): number => {
      const index = LONGEST.indexOf(relative(root, moduleId).replaceAll('\\', '/'));
      return index < 0 ? LONGEST.length : index;
    };
    // Stable: files that are not named keep the order that they are given in.
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}
