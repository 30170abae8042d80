/** The limits with which a run ended, from its archived events. */
import { describe, expect, it } from 'vitest';
import type { ArchiveReader } from '../../src/client/reading/chain-reader.ts';
import { budgetsOfEnded, limitsOfEnded } from '../../src/client/reading/ended-limits.ts';
import { createKeptLinks } from '../../src/client/reading/kept-links.ts';
import type { Json } from '../../src/core/base/json.ts';
import type { Limit } from '../../src/core/contract/limit.ts';
import type { Step } from '../../src/core/contract/step.ts';
import { STEP } from '../cli/cli-fixture.ts';

function limitOf(max: number): Limit {
  return { kind: 'exact', key: 'agent:tool_calls', max };
}

/** A run of so many events, whose limits were changed at some of them. */
function archived(events: number, adjusted: Readonly<Record<number, number>>) {
  const reads: (readonly [from: number, until: number])[] = [];
  const all = Array.from({ length: events }, (_, index): Json => {
    const max = adjusted[index];
    if (index === 0) return { type: 'agent:execution:before', limits: [limitOf(1)] } as never;
    if (max === undefined) return { type: 'agent:iteration:before' };
    return { type: 'agent:adjusted', limits: [limitOf(max)] } as never;
  });
  const archive: ArchiveReader = {
    read: async (_runId, _list, from, until) => {
      reads.push([from, until]);
      return all.slice(from, until);
    },
  };
  return { archive, reads, kept: createKeptLinks() };
}

function stepOf(events: number): Step {
  const chain = { links: 1, events, entries: 0, inputs: 0 };
  return { ...STEP, trace: { ...STEP.trace, chain } };
}

describe('limitsOfEnded', () => {
  it('gives those of the first event, or of the newest change, and reads no more than it needs', async () => {
    const unchanged = archived(2_500, {});
    const changed = archived(2_500, { 400: 2, 1_600: 3, 1_700: 4 });

    expect(await limitsOfEnded(unchanged, stepOf(2_500))).toEqual([limitOf(1)]);
    expect(await limitsOfEnded(changed, stepOf(2_500))).toEqual([limitOf(4)]);

    expect(unchanged.reads.length).toBe(3);
    expect(changed.reads).toEqual([[1_500, 2_500]]);
  });

  it('reads them once', async () => {
    const source = archived(10, { 5: 7 });

    const [one, other] = [
      await limitsOfEnded(source, stepOf(10)),
      await limitsOfEnded(source, stepOf(10)),
    ];

    expect([one, other, source.reads.length]).toEqual([[limitOf(7)], [limitOf(7)], 1]);
  });

  it('gives none without an archive, and with a part of it', async () => {
    const part = archived(10, {});

    expect(await limitsOfEnded({ archive: undefined, kept: part.kept }, stepOf(10))).toBeNull();
    expect(await limitsOfEnded(part, stepOf(11))).toBeNull();
  });
});

describe('budgetsOfEnded', () => {
  it('has the limits that hold for a tree, with what was used', () => {
    const stats = { counters: { 'agent:tool_calls': 3 }, gauges: {} };
    const own: Limit = { kind: 'exact', key: '$self:agent:tool_calls', max: 5 };

    expect(budgetsOfEnded({ ...STEP, stats }, [limitOf(10), own])).toEqual([
      { key: 'agent:tool_calls', origin: 'self', max: 10, used: 3, reserved: 0, free: 7 },
    ]);
  });
});
