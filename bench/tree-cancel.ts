/**
 * `tree-cancel`: how fast a user's cancel of a root reaches everything below it.
 *
 * A root has 4 children, and each of these has 5 children. Their 20 model calls stream over HTTP
 * from a provider that never ends a reply. Each of ten trees is canceled when all calls run.
 * `cancel_ms` is the time from the call of `cancel` until the provider has seen the last connection
 * close. `ended_ms` is the time until the Step of the root, which has all usage. The benchmark
 * fails if a connection stays open, a workflow still runs, or an activity was not ended.
 *
 * The time includes two hops of signals. The activities hear of the cancel from their workflows,
 * which run in the same process. Not measured: a provider far away, a fleet of several
 * workers.
 */
import {
  CANCEL_WIDTH,
  cancelTree,
  slowTree,
  startEndlessProvider,
  type CanceledTree,
} from '../test/support/tree-cancel.ts';
import { withStage } from './support/bench-stage.ts';
import { figure, median, type Bench } from './support/figure.ts';

const TIMES = 10;
const LEAVES = CANCEL_WIDTH.middles * CANCEL_WIDTH.leaves;

/** The benchmark `tree-cancel`. */
export const treeCancelBench: Bench = {
  name: 'tree-cancel',
  about: 'time from a cancel of a root to the end of 20 model calls, two levels below',
  run: () =>
    withStage(async (stage) => {
      const provider = await startEndlessProvider();
      try {
        const { everloop } = await stage.serve([slowTree(provider.url)]);
        const all: CanceledTree[] = [];
        for (let time = 0; time < TIMES; time++) {
          all.push(checked(await cancelTree({ everloop, client: stage.client }, provider)));
        }
        const aborted = all.map(({ abortedMs }) => abortedMs);
        return [
          figure('cancel_ms', median(aborted), 'ms', '<= 2000'),
          figure('cancel_max_ms', Math.max(...aborted), 'ms'),
          figure('cancel_ended_ms', median(all.map(({ endedMs }) => endedMs)), 'ms'),
        ];
      } finally {
        await provider.stop();
      }
    }),
};

function checked(tree: CanceledTree): CanceledTree {
  const { aborted, running, pendingActivities, root } = tree;
  const isClean = aborted === LEAVES && running.length === 0 && pendingActivities === 0;
  if (isClean && root.status === 'canceled') return tree;
  const left = JSON.stringify({ aborted, running, pendingActivities, status: root.status });
  throw new Error(`Expected ${LEAVES} aborted calls and nothing left, got ${left}.`);
}
