import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { InputKind } from '../../../src/core/contract/events.ts';
import type { MemoryRun } from '../../../src/testing/memory-run.ts';
import { extent } from '../../support/extent.ts';
import { eventsAreWhole } from '../../support/laws.ts';
import { act, answer, GARBAGE, startRun } from '../../support/runs.ts';

/** What somebody does to a live run, at an event. */
type Deed =
  | { readonly do: 'send'; readonly kind: InputKind; readonly id: string }
  | { readonly do: 'cancel' | 'pause' | 'resume' }
  | { readonly do: 'limit'; readonly iterations: number }
  | { readonly do: 'wait'; readonly ms: number };

const deed: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 4, arbitrary: sendArbitrary() },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('pause' as const, 'resume' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('limit' as const), iterations: fc.nat({ max: 9 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat({ max: 900 }) }),
  },
);

function sendArbitrary(): fc.Arbitrary<Deed> {
  return fc.record({
    do: fc.constant('send' as const),
    kind: fc.constantFrom<InputKind>('queue', 'steer', 'interrupt'),
    id: fc.constantFrom('a', 'b', 'c', 'd'),
  });
}

it('[row 1] [row 2] [row 8] any interleaving of messages gives a Step and whole events', async () => {
  const replies = fc.array(
    fc.constantFrom(act('x'), act('x', 'y'), GARBAGE, answer(), `${act('x')}${answer()}`),
    { minLength: 30, maxLength: 30 },
  );
  const deeds = fc.array(fc.tuple(fc.nat({ max: 40 }), deed), { maxLength: 8 });
  const handovers = fc.array(fc.nat({ max: 8 }), { maxLength: 4 });

  await fc.assert(
    fc.asyncProperty(replies, deeds, handovers, async (script, plan, boundaries) => {
      const sent = new Map<string, number>();
      const due = new Set<string>();
      const perform = (run: MemoryRun, one: Deed): void => {
        switch (one.do) {
          case 'send': {
            const position = run.send('more', { kind: one.kind, id: one.id });
            expect(position).toBe(sent.get(one.id) ?? sent.size + 1);
            sent.set(one.id, position);
            if (run.events.at(-1)?.type !== 'agent:execution:after') due.add(one.id);
            return;
          }
          case 'limit':
            return run.adjust({ iterations: one.iterations });
          case 'wait':
            return clock.advance(one.ms);
          case 'cancel':
          case 'pause':
          case 'resume':
            return run[one.do]();
        }
      };
      const { run, clock } = startRun(script, {
        limits: { wallClockMs: 2_000, iterations: 20 },
        handoverDue: (iteration) => boundaries.includes(iteration),
        onEvent: ({ seq, type }, live) => {
          // From outside, as messages come: never in the middle of a record.
          for (const [at, one] of plan) if (at === seq) queueMicrotask(() => perform(live, one));
          // Nobody else ends a pause.
          if (type === 'agent:paused') setImmediate(() => live.resume());
        },
      });

      const step = await run.result;

      eventsAreWhole(run.events);
      const taken = run.events.flatMap((event) =>
        event.type === 'agent:input' ? [event.inputId] : [],
      );
      // Each input was taken in or is unread, never both and never twice.
      const told = [...taken, ...step.trace.unreadInputs];
      expect(new Set(told).size).toBe(told.length);
      expect([...due].filter((id) => !told.includes(id))).toEqual([]);
      expect(['success', 'limit_exceeded', 'canceled']).toContain(step.status);
      expect(step.stats).toEqual(run.state.stats);
      expect(run.entries.map(({ index }) => index)).toEqual(run.entries.map((_, index) => index));
      expect(run.state.scratchpad.every(({ messages }) => messages.length > 0)).toBe(true);
    }),
    { numRuns: extent(100, 30) },
  );
});
