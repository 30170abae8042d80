import fc from 'fast-check';
import { describe, it } from 'vitest';
import { EMPTY_INBOX, type RunInput } from '../../../src/core/run/inbox.ts';
import { apply } from '../../../src/core/run/run-state.ts';
import { eventsArbitrary, freshState, limitsArbitrary } from '../../support/events.ts';
import {
  applySurvivesJson,
  countersNeverFall,
  firstBreachIsMonotone,
  firstBreachStays,
  inboxAcceptsOnce,
  pagesReassemble,
  tallyAddsOverConcatenation,
} from '../../support/laws.ts';

describe('statistics', () => {
  it('[row 38] add over concatenation', () => {
    fc.assert(
      fc.property(eventsArbitrary, eventsArbitrary, (first, later) =>
        tallyAddsOverConcatenation(
          first.map(({ event }) => event),
          later.map(({ event }) => event),
        ),
      ),
    );
  });

  it('[row 38] have counters that never fall', () => {
    fc.assert(
      fc.property(eventsArbitrary, (rows) => countersNeverFall(rows.map(({ event }) => event))),
    );
  });
});

describe('limits', () => {
  it('[row 41] have a first breach that is monotone', () => {
    fc.assert(
      fc.property(limitsArbitrary, eventsArbitrary, (limits, rows) =>
        firstBreachIsMonotone(
          limits,
          rows.map(({ event }) => event),
        ),
      ),
    );
  });

  it('[row 46] keep their first breach in the state', () => {
    const limit = { kind: 'exact', key: 'a:b', max: 1 } as const;
    const breach = { limit, key: 'a:b', value: 2, origin: 'self' } as const;
    fc.assert(
      fc.property(eventsArbitrary, (rows) => firstBreachStays({ ...freshState(), breach }, rows)),
    );
  });
});

describe('the state', () => {
  it('[row 6] survives JSON after any event', () => {
    fc.assert(fc.property(eventsArbitrary, (rows) => applySurvivesJson(freshState(), rows)));
  });

  it('[row 6] is the same for the same events', () => {
    fc.assert(
      fc.property(eventsArbitrary, (rows) => {
        const fold = (): string =>
          JSON.stringify(
            rows.reduce((state, { event, carried }) => apply(state, event, carried), freshState()),
          );
        return fold() === fold();
      }),
    );
  });
});

describe('pages', () => {
  it('give the list again, for any size of page', () => {
    const item = fc.oneof(fc.string({ unit: 'binary', maxLength: 60 }), fc.jsonValue());
    // What JSON itself does not keep (-0) is no matter of pages.
    const items = fc.array(item).map((list) => JSON.parse(JSON.stringify(list)) as never[]);
    fc.assert(
      fc.property(items, fc.integer({ min: 1, max: 200 }), (list, maxBytes) =>
        pagesReassemble(list, maxBytes),
      ),
    );
  });
});

describe('the inbox', () => {
  it('[row 8] accepts each id once, at positions that rise by one', () => {
    const input: fc.Arbitrary<RunInput> = fc.record({
      id: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      kind: fc.constantFrom('queue', 'steer', 'interrupt'),
      text: fc.string(),
    });
    fc.assert(fc.property(fc.array(input), (inputs) => inboxAcceptsOnce(EMPTY_INBOX, inputs)));
  });
});
