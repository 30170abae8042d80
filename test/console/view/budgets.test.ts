import { describe, expect, it } from 'vitest';
import { EMPTY_STATS } from '../../../src/core/contract/stats.ts';
import { barsOfLines, changedLimits, linesOfLimits } from '../../../src/console/view/budgets.ts';
import { shareOfLink } from '../../../src/console/view/history.ts';
import { foldIterations } from '../../../src/console/view/iterations.ts';
import { startRun, act, answer } from '../../support/runs.ts';

const tokens = (max: number): { kind: 'exact'; key: string; max: number } => ({
  kind: 'exact',
  key: 'agent:total_tokens',
  max,
});

describe('the bars of limits', () => {
  it('come from the first event and the statistics of a run that has ended', () => {
    const limits = [tokens(1_000), { kind: 'exact' as const, key: 'agent:iterations', max: 10 }];
    const stats = {
      ...EMPTY_STATS,
      counters: { 'agent:total_tokens': 950, 'agent:iterations': 7 },
    };

    expect(barsOfLines(linesOfLimits(limits, stats))).toMatchObject([
      { label: 'Tokens', used: 950, max: 1_000, tone: 'hot' },
      { label: 'Iterations', used: 7, max: 10, tone: 'warm' },
    ]);
  });

  it('know what a limit was before it was changed', async () => {
    const { run } = startRun([act('a'), act('b'), answer('done')], {
      agent: { limits: { totalTokens: 4_000 } },
      onEvent: (event, self) => {
        if (event.type !== 'agent:iteration:before') return;
        if (event.iteration === 2) self.adjust({ totalTokens: 9_000 });
      },
    });
    await run.result;
    const views = foldIterations([], run.events);

    expect(changedLimits(views).get('agent:total_tokens')).toEqual([4_000]);
  });

  it('say how far a link is to its hand-over, by events or by bytes', () => {
    expect(shareOfLink({ events: 2_048, bytes: 1_000 })).toBe(0.5);
    expect(shareOfLink({ events: 10, bytes: 4_194_304 })).toBe(1);
  });
});
