/**
 * A user's cancel of a whole tree, over real HTTP: 20 model calls in three levels. Ten times with
 * `npm run test:kills`; `npm run bench -- tree-cancel` measures it.
 */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { extent, withinMs } from '../support/extent.ts';
import { PROVIDER_TOKENS, type SlowProvider } from '../support/slow-provider.ts';
import { openStage, type Stage } from '../support/stage.ts';
import {
  CANCEL_WIDTH,
  cancelTree,
  slowTree,
  startEndlessProvider,
  type CanceledTree,
} from '../support/tree-cancel.ts';
import { ownSums, treeCounters } from '../support/trees.ts';

const TIMES = extent(10, 1);
/** The median of the runs; the benchmark measures on a machine with nothing else to do. */
const ABORT_WITHIN_MS = withinMs(2_000);

let stage: Stage;
let provider: SlowProvider;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
  provider = await startEndlessProvider();
});
afterAll(async () => {
  await stage?.close();
  await provider?.stop();
});

describe('a cancel of a root', () => {
  it(
    'aborts 20 model calls in three levels, counts them, and leaves nothing [row 2] [row 55]',
    { timeout: 300_000 },
    async () => {
      const { everloop } = await stage.serve([slowTree(provider.url)]);
      const parts = { everloop, client: stage.client };
      const leaves = CANCEL_WIDTH.middles * CANCEL_WIDTH.leaves;
      const all: CanceledTree[] = [];

      for (let time = 0; time < TIMES; time++) all.push(await cancelTree(parts, provider));

      for (const { aborted, root, runs, running, pendingActivities } of all) {
        expect({ aborted, running, pendingActivities }).toEqual({
          aborted: leaves,
          running: [],
          pendingActivities: 0,
        });
        expect(runs.map(({ status, reason }) => [status, reason])).toEqual(
          runs.map((_, index) => ['canceled', index === 0 ? 'canceled' : 'parent_canceled']),
        );
        expect(runs).toHaveLength(1 + CANCEL_WIDTH.middles + leaves);
        // 100 tokens of the root and of each middle, and what each aborted call had cost.
        const { prompt_tokens: read, completion_tokens: written } = PROVIDER_TOKENS;
        expect(root.usage).toMatchObject({
          modelCalls: runs.length,
          totalTokens: (1 + CANCEL_WIDTH.middles) * 100 + leaves * (read + written),
        });
        expect(treeCounters(root.stats)).toEqual(
          ownSums(runs.map(({ stats }) => stats ?? { counters: {}, gauges: {} })),
        );
      }
      const times = all.map(({ abortedMs }) => abortedMs).toSorted((a, b) => a - b);
      expect(times[Math.floor(times.length / 2)]).toBeLessThan(ABORT_WITHIN_MS);
    },
  );
});
