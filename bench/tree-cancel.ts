/**
 * `tree-cancel`: how fast a user's cancel of a root reaches everything below it.
 *
 * A root, 4 children, 5 children of each: 20 model calls stream over HTTP from a provider that never
 * ends a reply. Ten times, each tree is canceled when all calls run. `cancel_ms` is the time from the
 * call of `cancel` to the moment at which the provider has seen the last connection closed; `ended_ms`
 * that to the Step of the root, which has all usage. A benchmark that finds a connection left open, a
 * workflow that still runs or an activity that nobody ended fails.
 *
 * What it contains: two hops of signals, and for each call the heartbeat by which an activity hears that
 * it is canceled, at most one a second. Not measured: a provider far away, a fleet of several workers.
 */
import {
  CANCEL_WIDTH,
  cancelTree,
  slowTree,
  startEndlessProvider,
  type CanceledTree,
} from '../test/support/tree-cancel.ts';
import { openStage } from './support/bench-stage.ts';
import { figure, median, type Bench } from './support/figure.ts';

const TIMES = 10;
const LEAVES = CANCEL_WIDTH.middles * CANCEL_WIDTH.leaves;

/** The benchmark of canceled trees. */
export const treeCancelBench: Bench = {
  name: 'tree-cancel',
  about: 'time from a cancel of a root to the end of 20 model calls, two levels below',
  run: async () => {
    const stage = await openStage();
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
      await stage.close();
      await provider.stop();
    }
  },
};

function checked(tree: CanceledTree): CanceledTree {
  const { aborted, running, pendingActivities, root } = tree;
  const isClean = aborted === LEAVES && running.length === 0 && pendingActivities === 0;
  if (isClean && root.status === 'canceled') return tree;
  const left = JSON.stringify({ aborted, running, pendingActivities, status: root.status });
  throw new Error(`Expected ${LEAVES} aborted calls and nothing left, got ${left}.`);
}
