import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { admit, logAfter, type EventLog } from '../../../src/console/view/event-log.ts';
import { foldIterations } from '../../../src/console/view/iterations.ts';
import { withEntries } from '../../../src/console/view/entries.ts';
import { outlineOf } from '../../../src/console/view/outline.ts';
import { timelineOf } from '../../../src/console/view/spans.ts';
import type { IterationView } from '../../../src/console/view/iteration-view.ts';
import type { AgentEvent } from '../../../src/core/contract/events.ts';
import type { Entry } from '../../../src/core/contract/entry.ts';
import { playedClerk, playedLong, playedTree } from './played-runs.ts';

interface Played {
  readonly name: string;
  readonly events: readonly AgentEvent[];
  readonly entries: readonly Entry[];
}

let played: readonly Played[] = [];

beforeAll(async () => {
  const runs = { clerk: playedClerk(), tree: playedTree(), long: playedLong() };
  played = await Promise.all(
    Object.entries(runs).map(async ([name, run]) => {
      const { events, entries } = await run;
      return { name, events: [...events], entries: [...entries] };
    }),
  );
});

const anyRun = fc.nat({ max: 2 });

function runAt(index: number): Played {
  const run = played[index];
  if (run === undefined) throw new Error('no such run');
  return run;
}

/** The views of events that come in `batches`, in whatever order. */
function live(batches: readonly (readonly AgentEvent[])[]): {
  readonly views: readonly IterationView[];
  readonly log: EventLog;
} {
  let log = logAfter(0);
  let views: readonly IterationView[] = [];
  for (const batch of batches) {
    const admission = admit(log, batch);
    log = admission.log;
    views = foldIterations(views, admission.ready);
  }
  return { views, log };
}

describe('views of recorded runs', () => {
  it('are the same wherever the pages of events are cut', () => {
    fc.assert(
      fc.property(anyRun, fc.array(fc.nat({ max: 400 }), { maxLength: 6 }), (index, cuts) => {
        const { events } = runAt(index);
        const places = [0, ...cuts.map((cut) => cut % events.length), events.length];
        const ordered = places.toSorted((a, b) => a - b);
        const paged = ordered
          .slice(1)
          .reduce<readonly IterationView[]>(
            (views, end, at) => foldIterations(views, events.slice(ordered[at], end)),
            [],
          );

        expect(paged).toEqual(foldIterations([], events));
      }),
    );
  });

  it('are the same when live events repeat and change places', () => {
    fc.assert(
      fc.property(anyRun, fc.infiniteStream(fc.nat()), (index, numbers) => {
        const { events } = runAt(index);
        const next = (): number => numbers.next().value as number;
        const twice = [...events, ...events.filter(() => next() % 3 === 0)];
        const mixed = twice
          .map((event) => ({ event, key: next() }))
          .toSorted((a, b) => a.key - b.key)
          .map(({ event }) => event);
        const batches = Array.from({ length: 5 }, (_, part) =>
          mixed.filter((_event, place) => place % 5 === part),
        );
        const { views, log } = live(batches);

        expect(log).toEqual({ last: events.length, ahead: [] });
        expect(views).toEqual(foldIterations([], events));
      }),
    );
  });

  it('are never of a state that the run was not in', () => {
    fc.assert(
      fc.property(anyRun, fc.nat(), fc.nat(), (index, first, second) => {
        const { events } = runAt(index);
        const missing = first % events.length;
        const until = second % events.length;
        const seen = events.slice(0, until + 1).filter((_event, place) => place !== missing);
        const shown = Math.min(missing, until + 1);

        expect(live([seen]).views).toEqual(foldIterations([], events.slice(0, shown)));
      }),
    );
  });

  it('survive JSON at any moment, and go on', () => {
    fc.assert(
      fc.property(anyRun, fc.nat(), (index, cut) => {
        const { events } = runAt(index);
        const place = cut % events.length;
        const half = foldIterations([], events.slice(0, place));
        const sent = JSON.parse(JSON.stringify(half)) as readonly IterationView[];

        expect(foldIterations(sent, events.slice(place))).toEqual(foldIterations([], events));
      }),
    );
  });

  it('of two pages stand beside each other as in one', () => {
    for (const { events } of played) {
      const whole = foldIterations([], events);
      for (const { number, firstSeq } of whole.filter((view) => view.number > 0)) {
        const before = foldIterations(
          [],
          events.filter(({ seq }) => seq < firstSeq),
        );
        const after = foldIterations(
          [],
          events.filter(({ seq }) => seq >= firstSeq),
        );

        expect([...before, ...after].map((view) => view.number)).toEqual(
          whole.map((view) => view.number),
        );
        expect(after.find((view) => view.number === number)).toEqual(
          whole.find((view) => view.number === number),
        );
      }
    }
  });

  it('leave nothing open when the run has ended, and name each call once', () => {
    for (const { events, entries, name } of played) {
      const views = withEntries(foldIterations([], events), entries);
      const timeline = timelineOf(views);

      expect(
        timeline.spans.filter(({ to }) => to === undefined),
        name,
      ).toEqual([]);
      expect(new Set(timeline.spans.map(({ id }) => id)).size).toBe(timeline.spans.length);
      expect(timeline.spans.every(({ from, to = 0 }) => to >= from)).toBe(true);
      expect(outlineOf(views)).toHaveLength(views.length);
    }
  });

  it('are made of one iteration with ten thousand calls too', () => {
    const [first] = played[0]?.events ?? [];
    const events = [...Array(20_000).keys()].map((place) => {
      const callId = `1.p1/${place % 10_000}`;
      const event = {
        ...first,
        seq: place + 1,
        at: place,
        iteration: 1,
        callId,
        tool: 't',
        args: {},
      };
      const end = { durationMs: 1, outcome: 'ok', output: place, attempts: 1 };
      return place < 10_000
        ? { ...event, type: 'agent:tool_call:before' }
        : { ...event, type: 'agent:tool_call:after', ...end };
    }) as unknown as readonly AgentEvent[];

    const [view] = foldIterations([], events);

    expect(view?.calls).toHaveLength(10_000);
    expect(view?.calls.at(-1)).toMatchObject({ callId: '1.p1/9999', output: 19_999 });
  });

  it('take entries twice without a change', () => {
    for (const { events, entries } of played) {
      const once = withEntries(foldIterations([], events), entries);

      expect(withEntries(once, entries)).toEqual(once);
    }
  });
});
