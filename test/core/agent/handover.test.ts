import { describe, expect, it } from 'vitest';
import type { RunState } from '../../../src/core/agent/run-state.ts';
import type { Next } from '../../../src/core/agent/work.ts';
import { act, answer, hasNoGap, startRun, typesOf } from '../../support/runs.ts';

const replies = [act('a'), act('b'), act('c'), answer()];

describe('a hand-over', () => {
  it('[row 6] leaves Step, transcript and statistics as in a run without one', async () => {
    const whole = startRun(replies);
    const chain = startRun(replies, { handoverDue: () => true });

    const [expected, step] = await Promise.all([whole.run.result, chain.run.result]);

    chain.script.assertDone();
    expect(step).toEqual(expected);
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
