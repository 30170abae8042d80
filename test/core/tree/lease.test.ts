import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withAnswers, type Lease, type LeaseAnswer } from '../../../src/core/tree/lease.ts';

const LEASE: Lease = {
  id: 'a',
  origin: { runId: 'run', agent: 'top' },
  limit: { kind: 'exact', key: 'agent:tool_calls', max: 40 },
  granted: 10,
};

/** What a parent has said of a lease, oldest first: grants rise, and a recall may lower them. */
const said = fc
  .array(fc.integer({ min: -20, max: 20 }), { minLength: 1, maxLength: 12 })
  .map((steps) => {
    let granted = LEASE.granted;
    let recalls = 0;
    return steps.map((step) => {
      granted = Math.max(0, granted + step);
      if (step < 0) recalls += 1;
      return { id: 'a', granted, ...(recalls === 0 ? {} : { recalls }) };
    });
  });

function heard(answers: readonly LeaseAnswer[]): readonly Lease[] {
  return answers.reduce<readonly Lease[]>(
    (leases, answer) => withAnswers(leases, [answer], false),
    [LEASE],
  );
}

describe('what a parent says of a lease', () => {
  it('comes to the same in any order, however often and without any but the newest [row 57]', () => {
    fc.assert(
      fc.property(
        said.chain((all) =>
          fc.tuple(
            fc.constant(all),
            fc.array(fc.nat({ max: all.length - 1 }), { maxLength: 20 }),
            fc.nat({ max: 20 }),
          ),
        ),
        ([all, order, place]) => {
          const newest = all.at(-1);
          if (newest === undefined) throw new Error('Expected an answer.');
          const arrivals = order.flatMap((index) => all[index] ?? []);
          arrivals.splice(place % (arrivals.length + 1), 0, newest);

          expect(heard(arrivals)).toEqual([{ ...LEASE, ...newest }]);
        },
      ),
    );
  });

  it('is what it was before an older grant arrives', () => {
    const recall = { id: 'a', granted: 3, recalls: 1 };

    expect(heard([recall, { id: 'a', granted: 20 }])).toEqual([{ ...LEASE, ...recall }]);
    expect(heard([recall, { id: 'a', granted: 5, recalls: 1 }])).toEqual([
      { ...LEASE, granted: 5, recalls: 1 },
    ]);
    expect(heard([recall, { id: 'a', lifted: true }])).toEqual([]);
  });

  it('ends a refusal when it is a recall', () => {
    const refused = { value: 9, max: 9 };
    const before = withAnswers([LEASE], [{ id: 'a', granted: 10, refused }], true);

    expect(before).toEqual([{ ...LEASE, refused }]);
    expect(withAnswers(before, [{ id: 'a', granted: 10 }], false)).toEqual(before);
    expect(withAnswers(before, [{ id: 'a', granted: 4, recalls: 1 }], false)).toEqual([
      { ...LEASE, granted: 4, recalls: 1 },
    ]);
  });
});
