/**
 * The state of a ledger as a hand-over carries it. The service refuses a payload of 2 MB, and a ledger
 * has thousands of runs, so each is a short list. Pure.
 *
 * L1  At the bounds of the ledger, what is packed has less than 2,000,000 bytes, whatever runs report.
 * L2  What the ledger decides is the same after as before. An answer is not carried: a request that
 *     comes again gets another one, which grants at least as much.
 */
import { defined } from '../base/defined.ts';
import { isPlainObject } from '../base/json.ts';
import type { Numbers } from '../contract/stats.ts';
import { leaseIdOf, type TenantLedger, type TurnHolder } from './ledger.ts';
import { DAY_KEYS } from './settings.ts';

/** A ledger in a hand-over, version 1. Plain JSON. */
export interface PackedLedger extends Omit<TenantLedger, 'holders' | 'again'> {
  /** The keys that numbers stand for, in their order. */
  readonly keys: readonly string[];
  readonly holders: readonly PackedHolder[];
  /** Places of holders. */
  readonly again: readonly number[];
}

/** Run, totals, base (`=`: the totals), granted, number of the last answer, and what is asked. */
type PackedHolder = readonly [
  run: string,
  totals: string,
  base: string,
  granted: string,
  answered: number,
  asked?: PackedAsked,
];

/** Number, places of the keys that are wanted, and what is missing. */
type PackedAsked = readonly [number: number, wants: readonly number[], missing?: string];

/** A ledger for a hand-over. */
export function packed(ledger: TenantLedger): PackedLedger {
  const { holders, again } = ledger;
  const places = new Map(holders.map(({ run }, place) => [run, place]));
  return {
    ...ledger,
    keys: DAY_KEYS,
    holders: holders.map((holder) => packedHolder(ledger.tenant, holder)),
    again: again.flatMap((run) => places.get(run) ?? []),
  };
}

/** What a hand-over has carried; null: it is no ledger. */
export function unpacked(value: unknown): TenantLedger | null {
  if (!isPlainObject(value) || value['v'] !== 1) return null;
  const { keys, ...ledger } = value as unknown as PackedLedger;
  const holders = ledger.holders.map((holder) => holderOf(ledger.tenant, keys, holder));
  const again = ledger.again.flatMap((place) => holders[place]?.run ?? []);
  return { ...ledger, holders, again };
}

function packedHolder(tenant: string, holder: TurnHolder): PackedHolder {
  const { run, totals, base, granted, asked } = holder;
  const written = numbersText(totals);
  const begun = numbersText(base);
  const last = Math.max(holder.last ?? 0, holder.answered?.number ?? 0);
  const known = [
    run,
    written,
    begun === written ? '=' : begun,
    numbersText(granted),
    last,
  ] as const;
  if (asked === undefined) return known;
  const ids = DAY_KEYS.map((key) => leaseIdOf(tenant, key));
  const wants = asked.wants.map((id) => ids.indexOf(id)).filter((place) => place >= 0);
  const missing = asked.missing && textOf(ids.map((id) => asked.missing?.[id]));
  return [...known, missing === undefined ? [asked.number, wants] : [asked.number, wants, missing]];
}

function holderOf(tenant: string, keys: readonly string[], packed: PackedHolder): TurnHolder {
  const [run, totals, base, granted, last, asked] = packed;
  const holder = {
    run,
    totals: numbersOf(keys, totals),
    base: numbersOf(keys, base === '=' ? totals : base),
    granted: numbersOf(keys, granted),
    ...defined({ last: last === 0 ? undefined : last }),
  };
  if (asked === undefined) return holder;
  const [number, places, missing] = asked;
  const ids = keys.map((key) => leaseIdOf(tenant, key));
  const wants = places.flatMap((place) => ids[place] ?? []);
  const lacks = missing === undefined ? undefined : numbersOf(ids, missing);
  return { ...holder, asked: { number, wants, ...defined({ missing: lacks }) } };
}

function numbersText(numbers: Numbers): string {
  return textOf(DAY_KEYS.map((key) => numbers[key]));
}

/** Whole numbers in base 36 with commas between them; nothing for a number that is not there. */
function textOf(numbers: readonly (number | undefined)[]): string {
  return numbers
    .map((one) => one?.toString(36) ?? '')
    .join(',')
    .replace(/,+$/, '');
}

function numbersOf(names: readonly string[], text: string): Numbers {
  const found = text.split(',').flatMap((one, place): readonly (readonly [string, number])[] => {
    const name = names[place];
    return one === '' || name === undefined ? [] : [[name, Number.parseInt(one, 36)]];
  });
  return Object.fromEntries(found);
}
