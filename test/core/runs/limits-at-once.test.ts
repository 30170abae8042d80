import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentEvent } from '../../../src/core/contract/events.ts';
import { isOwnEvent } from '../../../src/core/contract/events.ts';
import { EMPTY_STATS, valueOf } from '../../../src/core/contract/stats.ts';
import { tally } from '../../../src/core/stats/tally.ts';
import type { ToolContext } from '../../../src/define/definition/definitions.ts';
import { createFakeClock, type FakeClock } from '../../../src/testing/fake-clock.ts';
import {
  abortOf,
  act,
  answer,
  bodiesOf,
  gate,
  searchTool,
  START,
  startRun,
} from '../../support/runs.ts';

/** Settles after `ms` on the clock, or throws when the call is aborted. */
function pass(clock: FakeClock, ms: number, { signal }: ToolContext): Promise<void> {
  return new Promise((resolve, reject) => {
    clock.schedule(clock.now() + ms, resolve);
    void abortOf(signal).then(() => reject(new Error('aborted')));
  });
}

/** Moves the clock, one thing at a time, until `ended` settles. */
async function moveUntil(clock: FakeClock, ended: Promise<unknown>): Promise<void> {
  let isOver = false;
  void ended.then(() => (isOver = true));
  while (!isOver) {
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(1);
  }
}

/** What a call of a batch does in these tests. */
interface Plan {
  /** How long it takes, in milliseconds. */
  readonly ms: number;
  readonly spends: number;
}

/** Starts a run whose first reply makes a call for each of `plans`. */
function startBatch(
  plans: readonly Plan[],
  limits: NonNullable<Parameters<typeof startRun>[1]>['limits'],
  spend: (context: ToolContext, amount: number) => void,
): ReturnType<typeof startRun> {
  const clock = createFakeClock(START);
  const tool = searchTool(async (query, context) => {
    const { ms, spends } = plans[Number(query)] as Plan;
    await pass(clock, ms, context);
    spend(context, spends);
    return query;
  });
  const replies = [act(...plans.map((_, place) => String(place))), answer()];
  return startRun(replies, { agent: { tools: [tool] }, clock, ...(limits && { limits }) });
}

const SHOP = { kind: 'exact', key: 'shop:spent', max: 10 } as const;

const count = ({ count }: ToolContext, amount: number): void => count('shop:spent', amount);
const report = (context: ToolContext, amount: number): void =>
  context.reportModelCall('m', { costMicroUsd: amount });

describe('a limit that one call of a batch crosses', () => {
  const orders = [
    {
      name: '[slow, spend]',
      plans: [
        { ms: 8_000, spends: 0 },
        { ms: 900, spends: 11 },
      ],
    },
    {
      name: '[spend, slow]',
      plans: [
        { ms: 900, spends: 11 },
        { ms: 8_000, spends: 0 },
      ],
    },
  ] as const;

  it.each(orders)('[R7] aborts the others at once: a count, $name', async ({ plans }) => {
    const { run, clock } = startBatch(plans, { custom: [SHOP] }, count);

    await moveUntil(clock, run.result);
    const step = await run.result;

    expect(step).toMatchObject({ status: 'limit_exceeded', reason: 'shop:spent' });
    const [exceeded] = run.events.filter(({ type }) => type === 'agent:limit_exceeded');
    expect(exceeded?.at).toBe(START + 900);
    const ends = bodiesOf(run.events, 'agent:tool_call:after');
    expect(ends.map(({ outcome, durationMs }) => [outcome, durationMs])).toEqual([
      ['ok', 900],
      ['canceled', 900],
    ]);
  });

  it.each(orders)('[R7] aborts the others at once: a reported cost, $name', async ({ plans }) => {
    const { run, clock } = startBatch(plans, { costUsd: 0.00001 }, report);

    await moveUntil(clock, run.result);

    expect(await run.result).toMatchObject({
      status: 'limit_exceeded',
      reason: 'agent:cost_microusd',
      usage: { costMicroUsd: 11, durationMs: 900 },
    });
  });

  it.each(orders)('[R7] is shown by the statistics as calls end, $name', async ({ plans }) => {
    const { run, clock } = startBatch(plans, undefined, count);
    const isFirstOver = (): boolean => clock.now() >= START + 1_000;

    await moveUntil(clock, Promise.race([run.result, until(isFirstOver)]));

    expect(valueOf(run.state.stats, 'agent:tool_calls')).toBe(1);
    expect(valueOf(run.state.stats, 'shop:spent')).toBe(11);
    await moveUntil(clock, run.result);
    expect(valueOf(run.state.stats, 'agent:tool_calls')).toBe(2);
  });

  it('[R7] gives the model the results in request order, whatever ends first', async () => {
    const opened = gate();
    const tool = searchTool(async (query) => {
      if (query === 'a') await opened.opened;
      else setImmediate(() => opened.open());
      return query;
    });
    const { run, script } = startRun([act('a', 'b'), answer()], { agent: { tools: [tool] } });

    await run.result;

    const ended = bodiesOf(run.events, 'agent:tool_call:after').map(({ callId }) => callId);
    expect(ended).toEqual(['1.2', '1.1']);
    expect(JSON.stringify(script.requests[1]?.messages)).toMatch(/\\na\\n.*\\nb\\n/);
  });
});

it('[R7] a limit acts within one event of being crossed, for any batch, order and duration', async () => {
  const plan = fc.record({ ms: fc.integer({ min: 1, max: 40 }), spends: fc.nat({ max: 6 }) });
  const kind = fc.constantFrom('count' as const, 'cost' as const);

  await fc.assert(
    fc.asyncProperty(
      fc.array(plan, { minLength: 1, maxLength: 8 }),
      fc.nat({ max: 30 }),
      kind,
      async (plans, max, by) => {
        const [key, limits, spend] =
          by === 'count'
            ? (['shop:spent', { custom: [{ ...SHOP, max }] }, count] as const)
            : (['agent:cost_microusd', { costUsd: max / 1_000_000 }, report] as const);
        const { run, clock } = startBatch(plans, limits, spend);
        await moveUntil(clock, run.result);

        // What the clock says: the first moment at which more is spent than allowed.
        const ends = plans.toSorted((left, right) => left.ms - right.ms);
        let spent = 0;
        const crossing = ends.find(({ spends }) => (spent += spends) > max);
        const breach = run.events.find(({ type }) => type === 'agent:limit_exceeded');
        expect(breach?.at).toBe(crossing && START + crossing.ms);
        // What the events say: the event after the one that crossed it.
        expect(breach?.seq).toBe(seqAfterCrossing(run.events, key, max));
        const canceled = bodiesOf(run.events, 'agent:tool_call:after').filter(
          ({ outcome }) => outcome === 'canceled',
        );
        if (crossing === undefined) expect(canceled).toEqual([]);
        else expect(canceled.every(({ durationMs }) => durationMs === crossing.ms)).toBe(true);
        expect((await run.result).status).toBe(crossing ? 'limit_exceeded' : 'success');
      },
    ),
    { numRuns: 100 },
  );
});

/** The number of the event after the first that moves `key` above `max`. */
function seqAfterCrossing(
  events: readonly AgentEvent[],
  key: string,
  max: number,
): number | undefined {
  let stats = EMPTY_STATS;
  const crossed = events.find((event) => {
    if (!isOwnEvent(event)) stats = tally(stats, event);
    return valueOf(stats, key) > max;
  });
  return crossed && crossed.seq + 1;
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}
