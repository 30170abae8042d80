/** The order of pushed and read events, and who follows them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventOrder } from '../../src/client/events/event-order.ts';
import { readEvents, type EventfulRun } from '../../src/client/events/follow-events.ts';
import type { AgentEvent } from '../../src/core/contract/events.ts';
import { UsageError } from '../../src/core/base/usage-error.ts';
import type { FeedMark, PushedEvent } from '../../src/core/streaming/chunk.ts';
import { pushed } from '../support/chunks.ts';
import { eventually } from '../support/eventually.ts';

const event = (seq: number, over: Partial<AgentEvent> = {}): AgentEvent => pushed(seq, over).event;
const upTo = (count: number): AgentEvent[] =>
  Array.from({ length: count }, (_, index) => event(index + 1));
const seqs = (events: readonly AgentEvent[]): readonly number[] => events.map(({ seq }) => seq);

describe('the order of events', () => {
  it('gives each once, however often, late and out of order they are pushed', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 40 }), (order) => {
        const events = new EventOrder(0);
        const given = order.flatMap((seq) => events.push(event(seq)).events);
        given.push(...events.read(upTo(12)).events);

        expect(seqs(given)).toEqual(seqs(upTo(12)));
        expect([events.isMissing, events.confirmed]).toEqual([false, 12]);
      }),
    );
  });

  it('keeps a bounded number after a gap, and reading the gap gives the others', () => {
    const events = new EventOrder(0);
    events.push(...upTo(10_000).slice(1));
    expect(events.isMissing).toBe(true);

    expect(events.push(event(1)).events).toHaveLength(257);
    expect(events.last).toBe(257);
    expect(events.confirmed).toBe(257 - 64);
  });

  it('goes back to where a run went another way than its lost worker said', () => {
    const events = new EventOrder(0);
    events.push(...upTo(3));
    expect(events.confirmed).toBe(0);
    const other = event(2, { type: 'agent:paused' });

    expect(events.push(other)).toEqual({ events: [other], backTo: 1 });
    expect(events.push(event(3))).toEqual({ events: [event(3)], backTo: null });
    const read = [event(1), other, event(3, { type: 'agent:resumed' })];
    expect(events.read(read)).toEqual({ events: read.slice(2), backTo: 2 });
    expect(events.read(read)).toEqual({ events: [], backTo: null });
  });
});

/** A run whose answers a test sets, and what followers asked of it. */
function fakeRun(recorded: AgentEvent[]): EventfulRun & {
  asked: number;
  problem: UsageError | null;
  readonly push: (item: PushedEvent | FeedMark) => void;
} {
  const items: (PushedEvent | FeedMark)[] = [];
  let wake = (): void => undefined;
  const run = {
    asked: 0,
    problem: null as UsageError | null,
    push: (item: PushedEvent | FeedMark) => {
      items.push(item);
      wake();
    },
    status: async () => {
      run.asked += 1;
      if (run.problem !== null) throw run.problem;
      const isOver = recorded.at(-1)?.type === 'agent:execution:after';
      const state = isOver ? ('ended' as const) : ('running' as const);
      return { version: recorded.length, events: recorded.length, state };
    },
    events: async ({ from, limit }: { readonly from: number; readonly limit: number }) => {
      run.asked += 1;
      return recorded.slice(from, from + limit);
    },
    async *pushedEvents() {
      for (;;) {
        const item = items.shift();
        if (item !== undefined) yield item;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
  return run;
}

const END = { type: 'agent:execution:after', status: 'success', reason: '' } as const;

function following(run: EventfulRun, from = 0) {
  const left = new AbortController();
  const given: AgentEvent[] = [];
  const feeds: string[] = [];
  const read = async (): Promise<void> => {
    const options = { from, onFeed: (feed: string) => void feeds.push(feed) };
    for await (const one of readEvents(run, options, left.signal)) given.push(one);
  };
  return { given, feeds, ended: read(), leave: () => left.abort() };
}

describe('readEvents', () => {
  it('gives what is pushed at once, and asks only for what is missing', async () => {
    const recorded = upTo(2);
    const run = fakeRun(recorded);
    const { given, feeds, ended } = following(run);
    run.push({ kind: 'feed', feed: 'pushed' });
    await eventually('the past', () => given.length === 2);
    const before = run.asked;

    for (let seq = 3; seq <= 100; seq++) {
      recorded.push(event(seq));
      run.push(pushed(seq));
    }
    await eventually('what is pushed', () => given.length === 100);
    expect(run.asked - before).toBeLessThanOrEqual(2);

    for (let seq = 101; seq <= 104; seq++) recorded.push(event(seq));
    run.push(pushed(104));
    await eventually('the gap', () => given.length === 104);
    recorded.push(event(105, END));
    run.push(pushed(105, END));
    await ended;

    expect(seqs(given)).toEqual(seqs(upTo(105)));
    expect(feeds).toEqual(['pushed']);
  });

  it('polls a run whose events are not pushed, waits for a worker, and begins where it is told', async () => {
    const recorded = upTo(600);
    const run = fakeRun(recorded);
    run.push({ kind: 'feed', feed: 'polled' });
    run.problem = new UsageError('no_worker', 'None.');
    const { given, feeds, ended } = following(run, 5);
    await eventually('a question', () => run.asked > 0);
    expect(given).toEqual([]);

    run.problem = null;
    await eventually('the past', () => given.length === 595);
    recorded.push(event(601, END));
    await ended;

    expect(seqs(given)).toEqual(seqs(upTo(601)).slice(5));
    expect(feeds).toEqual(['polled']);
  });

  it('does not end with an end that the service has not taken', async () => {
    const recorded = upTo(2);
    const run = fakeRun(recorded);
    run.push({ kind: 'feed', feed: 'pushed' });
    const { given, ended } = following(run);
    await eventually('the past', () => given.length === 2);

    run.push(pushed(3, END));
    await eventually('an end', () => given.length === 3);
    recorded.push(event(3, { type: 'agent:paused' }), event(4, END));
    run.push(pushed(3, { type: 'agent:paused' }));
    run.push(pushed(4, END));
    await ended;

    expect(given.slice(2).map(({ seq, type }) => `${seq} ${type}`)).toEqual([
      '3 agent:execution:after',
      '3 agent:paused',
      '4 agent:execution:after',
    ]);
  });

  it('ends with what the run has recorded, also when its end is not pushed', async () => {
    const recorded = upTo(2);
    const run = fakeRun(recorded);
    run.push({ kind: 'feed', feed: 'pushed' });
    const { given, ended } = following(run);
    await eventually('the past', () => given.length === 2);

    run.push(pushed(3, { at: 5 }));
    await eventually('a pushed one', () => given.length === 3);
    recorded.push(event(3, { at: 7 }), event(4, END));
    await ended;

    expect(given.slice(2)).toEqual([event(3, { at: 5 }), event(3, { at: 7 }), event(4, END)]);
  });

  it('ends when its reader leaves, and fails for a run that is not there', async () => {
    const run = fakeRun(upTo(1));
    const { given, ended, leave } = following(run);
    await eventually('the past', () => given.length === 1);
    leave();
    await ended;

    run.problem = new UsageError('run_not_found', 'None.');
    await expect(following(run).ended).rejects.toMatchObject({ code: 'run_not_found' });
  });
});
