import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EMPTY_STATS } from '../../../src/core/contract/stats.ts';
import type { OpenChild } from '../../../src/core/tree/child-totals.ts';
import { withAnswers, type Lease, type LeaseAnswer } from '../../../src/core/contract/lease.ts';
import { grantMore, type Ledger } from '../../../src/core/tree/ledger.ts';

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

describe('what is left of a limit', () => {
  const limit = { kind: 'exact', key: 'agent:tool_calls', max: 12 } as const;
  const id = 'run agent:tool_calls end';
  const child = (name: string, granted: number): OpenChild => ({
    childId: name,
    callId: name,
    agent: name,
    path: name,
    startedAt: 0,
    number: 0,
    totals: {},
    leases: [{ id, origin: { runId: 'run', agent: 'top' }, limit, granted }],
    answered: 0,
    pending: [],
  });

  it.each([
    { name: 'halves for one after the other', together: [1, 1, 1], granted: [6, 3, 2] },
    {
      name: 'equal parts for those that have waited together',
      together: [3, 2, 1],
      granted: [4, 3, 3],
    },
  ])('is given in $name', ({ together, granted }) => {
    const base: Omit<Ledger, 'children'> = {
      runId: 'run',
      agent: 'top',
      limits: [limit],
      leases: [],
      stats: EMPTY_STATS,
      calls: [],
      models: [],
    };
    let children = [child('a', 1), child('b', 1), child('c', 1)];

    for (const [place, many] of together.entries()) {
      const asks = children[place];
      if (asks === undefined) throw new Error('Expected a child.');
      const [answer] = grantMore({ ...base, children }, asks, [id], many);
      if (answer === undefined || 'lifted' in answer) throw new Error('Expected a grant.');
      children = children.with(place, child(asks.childId, answer.granted));
    }

    expect(children.map(({ leases }) => leases[0]?.granted)).toEqual(granted);
  });
});
