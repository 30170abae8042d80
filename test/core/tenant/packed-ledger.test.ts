/** What a hand-over carries of a ledger: small enough whatever runs report, and the same in effect. */
import { describe, expect, it } from 'vitest';
import {
  joined,
  leaseIdOf,
  newLedger,
  onDay,
  requested,
  serve,
  type TenantLedger,
} from '../../../src/core/tenant/ledger.ts';
import { packed, unpacked } from '../../../src/core/tenant/packed-ledger.ts';
import { DAY_KEYS } from '../../../src/core/tenant/settings.ts';

const TENANT = 'acme';
const DAY = { date: '2026-11-25', endsAt: 1_000 };
const MOST = Number.MAX_SAFE_INTEGER;

/** The ledger of the link after this one. */
function carried(ledger: TenantLedger): TenantLedger {
  const next = unpacked(JSON.parse(JSON.stringify(packed(ledger))));
  if (next === null) throw new Error('Expected a ledger.');
  return next;
}

const IDS = DAY_KEYS.map((key) => leaseIdOf(TENANT, key));
/** Ids of other limits, which only a stranger would send. */
const FOREIGN = Array.from({ length: 50 }, (_, index) => `${'x'.repeat(1_000)}${index}`);
const WANTS = [...IDS, ...FOREIGN];

function each<Value>(names: readonly string[], value: Value): Record<string, Value> {
  return Object.fromEntries(names.map((name) => [name, value]));
}

/** A request for more of every budget. */
function asksAll(childId: string, number: number, spent: number, missing: number) {
  const totals = each(DAY_KEYS, spent);
  const base = { v: 1, kind: 'lease-request', childId, number, totals } as const;
  return { ...base, wants: WANTS, missing: each(WANTS, missing) };
}

describe('a hand-over', () => {
  it('has room for all runs that a ledger takes, whatever they report', () => {
    const perDay = Object.fromEntries(DAY_KEYS.map((key) => [key, MOST]));
    let ledger = onDay(newLedger(TENANT, { timeZone: 'UTC', perDay }), DAY);
    for (let run = 0; run < 6_000; run++) {
      ledger = requested(ledger, asksAll(`${'i'.repeat(48)}${run}`, 1, MOST - run, 1));
    }
    ({ ledger } = serve(ledger, Infinity));
    ledger = onDay(ledger, { date: '2026-11-26', endsAt: 2_000 });
    for (const { run } of ledger.holders) {
      ledger = requested(ledger, asksAll(run, MOST, MOST, MOST));
    }
    for (let run = 0; run < 9_000; run++) ledger = joined(ledger, `${'w'.repeat(36)}${run}`);
    const text = JSON.stringify(packed(ledger));

    expect(ledger.holders.length).toBeGreaterThan(5_000);
    expect(ledger.queue.length).toBeGreaterThan(4_000);
    expect(Buffer.byteLength(text)).toBeLessThan(2_000_000);
    expect(text).not.toContain('xxx');
  }, 180_000);

  it('takes no run in whose id leaves no room', () => {
    let ledger = newLedger(TENANT, { timeZone: 'UTC' });
    for (let run = 0; run < 1_000; run++) ledger = joined(ledger, `${run}${'i'.repeat(990)}`);
    for (let run = 0; run < 1_000; run++) {
      ledger = requested(ledger, asksAll(`${run}${'j'.repeat(990)}`, 1, 1, 1));
    }
    ({ ledger } = serve(ledger, Infinity));

    expect(Buffer.byteLength(JSON.stringify(packed(ledger)))).toBeLessThan(600_000);
    // Those that wait have their turn when others end.
    expect(ledger.queue.length).toBeGreaterThan(150);
  });

  it('counts ids by the bytes that they have there', () => {
    let ledger = newLedger(TENANT, { timeZone: 'UTC', concurrency: 1 });
    // JSON writes each of these characters with six.
    const wide = String.fromCharCode(1).repeat(190);
    for (let run = 0; run < 6_000; run++) {
      ledger = requested(ledger, asksAll(`${wide}h${run}`, 1, 1, 1));
      ledger = joined(ledger, `${wide}w${run}`);
    }

    expect(ledger.holders.length).toBeGreaterThan(200);
    expect(ledger.queue.length).toBeGreaterThan(100);
    expect(Buffer.byteLength(JSON.stringify(packed(ledger)))).toBeLessThan(600_000);
  });

  it('leaves each decision as it was', () => {
    const perDay = { [DAY_KEYS[0] ?? '']: 1_000, [DAY_KEYS[4] ?? '']: 50 };
    let ledger = onDay(newLedger(TENANT, { timeZone: 'UTC', concurrency: 3, perDay }), DAY);
    for (const run of ['a', 'b', 'c', 'd', 'a']) ledger = joined(ledger, run);
    ({ ledger } = serve(ledger, Infinity));
    ledger = requested(ledger, asksAll('a', 3, 10, 20));
    ({ ledger } = serve(ledger, Infinity));
    ledger = onDay(ledger, { date: '2026-11-26', endsAt: 2_000 });
    ledger = joined(ledger, 'b');
    ledger = requested(ledger, asksAll('b', 5, 40, 2_000));
    ledger = requested(ledger, asksAll('c', 4, 0, 1));
    const next = carried(ledger);

    expect(serve(next, Infinity).out).toEqual(serve(ledger, Infinity).out);
    expect(next).toMatchObject({ queue: ledger.queue, again: ['b'], spent: ledger.spent });
    const older = asksAll('a', 2, 10, 20);
    expect(serve(requested(next, older), Infinity).out).toEqual(
      serve(requested(ledger, older), Infinity).out,
    );
    expect(carried(next)).toEqual(next);
  });

  it('answers a request that comes again with no less than before', () => {
    const perDay = { [DAY_KEYS[0] ?? '']: 1_000 };
    let ledger = onDay(newLedger(TENANT, { timeZone: 'UTC', concurrency: 3, perDay }), DAY);
    ({ ledger } = serve(joined(ledger, 'a'), Infinity));
    const first = serve(requested(ledger, asksAll('a', 3, 10, 20)), Infinity);
    const again = serve(requested(carried(first.ledger), asksAll('a', 3, 10, 20)), Infinity);
    const grants = [first, again].map(({ out }) => {
      const [lease] = out[0]?.message.leases ?? [];
      return lease !== undefined && 'granted' in lease ? lease.granted : -1;
    });

    expect(grants[0]).toBeGreaterThan(0);
    expect(grants[1]).toBeGreaterThanOrEqual(grants[0] ?? Infinity);
  });

  it('reads no other value', () => {
    expect([undefined, null, 'x', [], { v: 2 }].map(unpacked)).toEqual(Array(5).fill(null));
  });
});
