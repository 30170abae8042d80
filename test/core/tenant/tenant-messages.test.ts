import { describe, expect, it } from 'vitest';
import { readJoin, readLeave, readRequest } from '../../../src/core/tenant/tenant-messages.ts';

/** A ledger that signals one of these fails its task, again and again. */
const REFUSED = ['', 'i'.repeat(1_001), '漢'.repeat(334)];

describe('a message to a ledger', () => {
  it.each(REFUSED)('from a run that cannot be is none (%#)', (run) => {
    const request = { v: 1, kind: 'lease-request', childId: run, number: 1, totals: {}, wants: [] };
    expect([
      readJoin({ v: 1, run }),
      readLeave({ v: 1, run, totals: {} }),
      readRequest(request),
    ]).toEqual([null, null, null]);
  });

  it('is read from a run with an id of any length that an id may have', () => {
    const run = `${'漢'.repeat(254)}i`;
    const request = { v: 1, kind: 'lease-request', childId: run, number: 1, totals: {}, wants: [] };
    expect(readJoin({ v: 1, run })).toEqual({ v: 1, run });
    expect(readRequest(request)).toEqual(request);
  });
});
