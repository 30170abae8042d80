import { describe, expect, it } from 'vitest';
import type { RunState } from '../../../src/core/run/run-state.ts';
import type { Next } from '../../../src/core/loop/work.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { startInMemory } from '../../../src/testing/run-in-memory.ts';
import { abortOf, act, answer, gate, hasNoGap, startRun, typesOf } from '../../support/runs.ts';
import { asker, worker } from '../../support/tree-agents.ts';
import { player } from '../../support/trees.ts';

const replies = [act('a'), act('b'), act('c'), answer()];

describe('a hand-over', () => {
  it('[row 6] leaves Step, transcript and statistics as in a run without one', async () => {
    const whole = startRun(replies);
    const chain = startRun(replies, { handoverDue: () => true });

    const [expected, { trace, ...step }] = await Promise.all([whole.run.result, chain.run.result]);

    chain.script.assertDone();
    expect({ ...step, trace: expected.trace }).toEqual(expected);
    expect(trace.chain.links).toBeGreaterThan(1);
    expect(chain.run.entries).toEqual(whole.run.entries);
    expect(chain.script.requests).toEqual(whole.script.requests);
    expect({ ...chain.run.state, seq: 0, link: 0 }).toEqual({
      ...whole.run.state,
      seq: 0,
      link: 0,
    });
  });

  it('[row 6] is recorded once for each link, between one begin and one end', async () => {
    const { run } = startRun(replies, { handoverDue: (iteration) => iteration > 0 });

    await run.result;

    const types = typesOf(run.events);
    expect(hasNoGap(run.events)).toBe(true);
    expect(types.filter((type) => type.startsWith('execution'))).toEqual([
      'execution:before',
      'execution:handover',
      'execution:handover',
      'execution:handover',
      'execution:after',
    ]);
    expect(
      run.events.flatMap((event) => (event.type === 'agent:execution:handover' ? [event.run] : [])),
    ).toEqual([1, 2, 3]);
    expect(run.state.link).toBe(4);
  });

  it('[row 6] carries inputs and ids over', async () => {
    const seen: RunState[] = [];
    const positions: number[] = [];
    const { run, script } = startRun([act('a'), answer()], {
      handoverDue: (iteration) => iteration === 1,
      onEvent: ({ type }, live) => {
        if (type === 'agent:execution:handover') {
          positions.push(live.send('in between', { id: 'x' }));
          seen.push(live.state);
        }
        if (type === 'agent:input') positions.push(live.send('again', { id: 'x' }));
      },
    });

    await run.result;

    script.assertDone();
    expect(typesOf(run.events).slice(7, 10)).toEqual([
      'iteration:after',
      'execution:handover',
      'input',
    ]);
    expect(positions).toEqual([1, 1]);
    expect(seen[0]).toEqual(JSON.parse(JSON.stringify(seen[0])));
  });

  it('[row 6] [row 7] carries the data of an own loop over', async () => {
    const next: Next = async (work) => {
      const rounds = [...((work.state.data ?? []) as readonly number[]), work.iteration];
      work.setData(rounds);
      return rounds.length < 3 ? { kind: 'continue' } : { kind: 'end', value: rounds };
    };

    const { run } = startRun([], { next, handoverDue: () => true });

    expect((await run.result).value).toEqual([1, 2, 3]);
  });

  it('[row 46] does not restart the time of a limit, and leaves no timer behind', async () => {
    const { run, clock } = startRun([act('a'), act('b')], {
      limits: { wallClockMs: 1_000 },
      handoverDue: (iteration) => iteration === 1,
      onEvent: ({ type, iteration }) => {
        if (type === 'agent:turn:read') clock.advance(iteration === 1 ? 600 : 401);
      },
    });

    const step = await run.result;

    expect(step.exceededLimit).toMatchObject({ key: 'agent:wall_clock_ms', value: 1_001 });
    expect(typesOf(run.events).filter((type) => type === 'limit_exceeded')).toHaveLength(1);
    expect(hasNoGap(run.events)).toBe(true);
  });
});

describe('what a parent says while its child hands over', () => {
  /** A run below the root whose first link has just ended; the second has not begun. */
  const betweenLinks = (say: () => void) => ({
    childHandoverDue: (_address: string, iteration: number) => iteration === 1,
    onEvent: ({ type }: { readonly type: string }) => {
      // The event is the last of its link, so this is behind it.
      if (type === 'agent:execution:handover') queueMicrotask(say);
    },
  });

  it('of deadlines holds in the next link [row 6] [row 46]', async () => {
    const clock = createFakeClock();
    const asked = gate();
    const leaf = player('leaf', async ({ iteration }, { signal }) => {
      if (iteration === 1) return act('x');
      asked.open();
      await abortOf(signal);
      throw new Error('stopped');
    });
    const run = startInMemory({
      agent: asker(leaf),
      task: 'Go',
      clock,
      limits: { wallClockMs: 5_000 },
      ...betweenLinks(() => run.adjust({ wallClockMs: 9_000 })),
    });
    await asked.opened;

    clock.advance(5_001);
    clock.advance(4_000);
    const steps = await Promise.all([run.result, run.children[0]?.result]);

    expect(run.children.map(({ state }) => state.link)).toEqual([2]);
    expect(steps.map((step) => step?.exceededLimit?.value)).toEqual([9_001, 9_001]);
    expect(run.children.map(({ events }) => hasNoGap(events))).toEqual([true]);
  });

  it('of a lowered limit holds in the next link [row 6] [row 57]', async () => {
    const run = startInMemory({
      agent: asker(worker(20)),
      task: 'Go',
      limits: { modelCalls: 40 },
      ...betweenLinks(() => run.adjust({ modelCalls: 6 })),
    });

    const step = await run.result;

    expect(run.children.map(({ state }) => state.link)).toEqual([2]);
    expect([step.status, step.usage.modelCalls]).toEqual(['limit_exceeded', 6]);
  });
});
