/**
 * The ledger of a tenant: who has a turn, who waits for one, and what is spent and granted of the
 * budgets of the day. Pure: each message gives another state, and `serve` what is to be said.
 *
 * T1  A grant never takes this sum above the budget of the day: what ended runs have spent since it
 *     began, and for each live run the greater of its grant and its report, less what it had spent
 *     when the day began.
 * T2  A request that cannot be granted is not answered until it can: the run waits, and does not end.
 *     Only what no whole day could pay is refused.
 * T3  Messages may be lost, late or repeated: a join that comes again is answered again, totals
 *     never fall, and a request with an older number changes nothing.
 * T4  A run that is gone without a word is charged what it was granted.
 * T5  What it holds is bounded, so that a hand-over can carry it: runs with a turn and runs that wait
 *     by number and by the bytes of their ids, numbers by {@link MOST}. Of more, each asks again.
 */
import { defined } from '../base/defined.ts';
import type { Lease, LeaseAnswer } from '../contract/lease.ts';
import { leaseId } from '../contract/lease.ts';
import type { Limit } from '../contract/limit.ts';
import type { Numbers } from '../contract/stats.ts';
import type { TenantLeave, TenantSettings, TenantTurn } from './tenant-messages.ts';
import { ledgerIdOf } from './tenant-messages.ts';
import type { LeaseGrant, LeaseRequest } from '../contract/tree-messages.ts';
import { bytesOfId, bytesOfIds, withRun, withSameIds } from './id-bytes.ts';
import { DAY_KEYS, dayLimitsOf } from './settings.ts';

/** A day of a time zone. */
export interface Day {
  /** `2026-11-25`. */
  readonly date: string;
  /** Its first moment that is of another day, in milliseconds since 1970. */
  readonly endsAt: number;
}

/** A request that waits for its answer. */
type Asked = Pick<LeaseRequest, 'number' | 'wants' | 'missing'>;

/** A run that has its turn. */
export interface TurnHolder {
  readonly run: string;
  /** What it has spent in all, as of its last report. */
  readonly totals: Numbers;
  /** What it had spent when the day, or its turn, began. */
  readonly base: Numbers;
  /** What it may spend in all, by key. */
  readonly granted: Numbers;
  readonly asked?: Asked;
  /** The number of the last request that was answered before the hand-over; absent: there was none. */
  readonly last?: number;
  /** The answer to the request with this number, in case it comes again. */
  readonly answered?: LeaseGrant;
}

/** The state of a ledger, version 1. Plain JSON. */
export interface TenantLedger {
  readonly v: 1;
  readonly tenant: string;
  readonly settings: TenantSettings;
  readonly day: Day | null;
  /** What ended runs have spent since the day began, by key. */
  readonly spent: Numbers;
  readonly holders: readonly TurnHolder[];
  /** Runs that wait for a turn, in order. */
  readonly queue: readonly string[];
  /** Holders that have joined again: they are answered again. */
  readonly again: readonly string[];
}

/** What is to be sent to a run. */
export interface ToRun {
  readonly run: string;
  readonly message: TenantTurn | LeaseGrant;
}

/** Runs that may wait; of more, each asks again later, so none is lost. */
const MAX_QUEUE = 5_000;

/** Runs that may have their turn at once. */
const MAX_HOLDERS = 5_000;

/** Runs whose turn it believes that it has forgotten, beyond those. */
const MAX_CLAIMED = 500;

/** Bytes of the ids of all runs that wait. */
const MAX_QUEUE_BYTES = 200_000;

/** Bytes of the ids of all runs that have their turn. */
const MAX_HOLDER_BYTES = 300_000;

/** The most that a run may report of anything: a million dollars. */
const MOST = 1e12;

/** A budget is granted in parts for this many runs at once, if nothing is set. */
const USUAL_RUNS = 16;

/** A ledger in which nothing has happened. */
export function newLedger(tenant: string, settings: TenantSettings): TenantLedger {
  const empty = { holders: [], queue: [], again: [] };
  return { v: 1, tenant, settings, day: null, spent: {}, ...empty };
}

/** A run waits for its turn. */
export function joined(ledger: TenantLedger, run: string): TenantLedger {
  const { holders, queue, again } = ledger;
  if (holders.some((holder) => holder.run === run)) {
    return again.includes(run) ? ledger : { ...ledger, again: [...again, run] };
  }
  if (queue.includes(run) || queue.length >= MAX_QUEUE) return ledger;
  const next = withRun(queue, run);
  return bytesOfIds(next) > MAX_QUEUE_BYTES ? ledger : { ...ledger, queue: next };
}

/** A run has ended, or waits no longer. */
export function left(ledger: TenantLedger, { run, totals }: TenantLeave): TenantLedger {
  return without(ledger, run, (holder) => usedOf({ ...holder, totals: grown(holder, totals) }));
}

/** A run is gone without a word (T4). */
export function lost(ledger: TenantLedger, run: string): TenantLedger {
  return without(ledger, run, heldOf);
}

/** A run asks for more of its budgets. The ledger may have forgotten that it has its turn. */
export function requested(ledger: TenantLedger, request: LeaseRequest): TenantLedger {
  const { childId: run, number, wants, missing } = request;
  const known = ledger.holders.find((holder) => holder.run === run);
  if (known === undefined && !hasRoom(ledger, run, MAX_HOLDERS + MAX_CLAIMED)) return ledger;
  const totals = grown(known ?? { totals: {} }, request.totals);
  const holder: TurnHolder = known ?? { run, totals, base: totals, granted: totals };
  const { last = 0 } = holder;
  const isOld = number < Math.max(last, holder.asked?.number ?? 0, holder.answered?.number ?? 0);
  const asked = ownPart(ledger.tenant, { number, wants, ...defined({ missing }) });
  const next: TurnHolder = isOld ? { ...holder, totals } : { ...holder, totals, asked };
  const queue = ledger.queue.filter((waiting) => waiting !== run);
  if (known === undefined) {
    return { ...ledger, queue, holders: withRun(ledger.holders, next) };
  }
  const others = ledger.holders.filter((one) => one !== known);
  return { ...ledger, queue, holders: withSameIds(ledger.holders, [...others, next]) };
}

/** Another day has begun, or the time zone has changed. */
export function onDay(ledger: TenantLedger, day: Day): TenantLedger {
  const isSame = ledger.day?.date === day.date;
  if (isSame || ledger.day === null) return { ...ledger, day };
  const holders = ledger.holders.map((holder) => ({ ...holder, base: holder.totals }));
  return { ...ledger, day, spent: {}, holders };
}

/** With other settings. Another zone has another day, which must be read. */
export function withSettings(ledger: TenantLedger, settings: TenantSettings): TenantLedger {
  const isSame = settings.timeZone === ledger.settings.timeZone;
  const day = isSame || ledger.day === null ? ledger.day : { ...ledger.day, endsAt: 0 };
  return { ...ledger, settings, day };
}

/** Whether budgets are set, so that the ledger must know the day. */
export function needsDay({ settings, day }: TenantLedger, now: number): boolean {
  return dayLimitsOf(settings).length > 0 && (day === null || now >= day.endsAt);
}

/** Whether a run waits for something that only others, or another day, can give. */
export function hasWaits({ queue, holders }: TenantLedger): boolean {
  return queue.length > 0 || holders.some(({ asked }) => asked !== undefined);
}

/**
 * Answers requests and gives turns, as far as there is room: at most `most` messages. What is left is
 * for the next time.
 */
export function serve(
  ledger: TenantLedger,
  most: number,
): {
  readonly ledger: TenantLedger;
  readonly out: readonly ToRun[];
} {
  const out: ToRun[] = [];
  let now: TenantLedger = { ...ledger, again: ledger.again.slice(most) };
  for (const run of ledger.again.slice(0, most)) {
    const holder = now.holders.find((one) => one.run === run);
    if (holder !== undefined) out.push({ run, message: turnOf(now, holder) });
  }
  for (const holder of ledger.holders) {
    if (holder.asked === undefined || out.length >= most) continue;
    const answer = answered(now, holder);
    if (answer === null) continue;
    now = answer.ledger;
    out.push({ run: holder.run, message: answer.grant });
  }
  while (out.length < most) {
    const next = admitted(now);
    if (next === null) break;
    now = next.ledger;
    out.push({ run: next.holder.run, message: turnOf(now, next.holder) });
  }
  return { ledger: now, out };
}

/** What is used and reserved of each budget. */
export function budgetsOf(
  ledger: TenantLedger,
): readonly { readonly limit: Limit; readonly used: number; readonly reserved: number }[] {
  return dayLimitsOf(ledger.settings).map((limit) => {
    const used = usedIn(ledger, limit.key);
    return { limit, used, reserved: committedIn(ledger, limit.key) - used };
  });
}

/** The next run of the queue with its turn; null if there is no run or no room. */
function admitted(
  ledger: TenantLedger,
): { readonly ledger: TenantLedger; readonly holder: TurnHolder } | null {
  const { queue, holders, settings } = ledger;
  const [run] = queue;
  if (run === undefined || holders.length >= (settings.concurrency ?? Infinity)) return null;
  if (!hasRoom(ledger, run, MAX_HOLDERS)) return null;
  const granted: Record<string, number> = {};
  for (const { key, max } of dayLimitsOf(settings)) {
    const rest = max - committedIn(ledger, key);
    if (rest < 1) return null;
    granted[key] = Math.min(rest, shareOf(ledger, rest));
  }
  const holder: TurnHolder = { run, totals: {}, base: {}, granted };
  const next = { ...ledger, queue: queue.slice(1), holders: withRun(holders, holder) };
  return { ledger: committedTo(ledger, next, { after: holder }), holder };
}

/** The answer to what a run has asked; null if it has asked nothing, or must wait (T2). */
function answered(
  ledger: TenantLedger,
  holder: TurnHolder,
): { readonly ledger: TenantLedger; readonly grant: LeaseGrant } | null {
  const { asked, ...rest } = holder;
  if (asked === undefined) return null;
  const before = holder.answered;
  if (before !== undefined && before.number === asked.number) {
    return { ledger: withHolder(ledger, holder, rest), grant: before };
  }
  const leases: LeaseAnswer[] = [];
  let { granted } = holder;
  for (const id of asked.wants) {
    const answer = answerTo(ledger, holder, id, asked.missing?.[id]);
    if (answer === null) return null;
    leases.push(answer.lease);
    if (answer.key !== undefined && 'granted' in answer.lease) {
      granted = { ...granted, [answer.key]: answer.lease.granted };
    }
  }
  const grant: LeaseGrant = { v: 1, kind: 'lease-grant', number: asked.number, leases };
  return { ledger: withHolder(ledger, holder, { ...rest, granted, answered: grant }), grant };
}

/** The answer about one lease; null: it must wait. */
function answerTo(
  ledger: TenantLedger,
  holder: TurnHolder,
  id: string,
  missing: number | undefined,
): { readonly lease: LeaseAnswer; readonly key?: string } | null {
  const limit = dayLimitsOf(ledger.settings).find((one) => idOf(ledger, one) === id);
  if (limit === undefined) return { lease: { id, lifted: true } };
  const { key, max } = limit;
  const before = holder.granted[key] ?? 0;
  const held = Math.max(before, holder.totals[key] ?? 0);
  const committed = committedIn(ledger, key);
  const rest = max - committed;
  // What is asked for in advance need not wait: there is nothing now.
  if (missing === undefined && rest < 1) return { lease: { id, granted: before }, key };
  const need = Math.max(1, before + (missing ?? 1) - held);
  if (need > max) {
    const refused = { value: committed, max };
    return { lease: { id, granted: before, refused }, key };
  }
  if (rest < need) return null;
  const more = Math.min(rest, Math.max(need, shareOf(ledger, rest)));
  return { lease: { id, granted: held + more }, key };
}

/** A part of what is left, so that other runs get some too. */
function shareOf({ settings }: TenantLedger, rest: number): number {
  return Math.ceil(rest / ((settings.concurrency ?? USUAL_RUNS) + 1));
}

function turnOf(ledger: TenantLedger, { granted }: TurnHolder): TenantTurn {
  const leases = dayLimitsOf(ledger.settings).flatMap((limit): readonly Lease[] => {
    const part = granted[limit.key];
    if (part === undefined) return [];
    const origin = { runId: ledgerIdOf(ledger.tenant), agent: `tenant ${ledger.tenant}` };
    return [{ id: idOf(ledger, limit), origin, limit, granted: part }];
  });
  return { v: 1, leases };
}

function idOf({ tenant }: TenantLedger, { key }: Limit): string {
  return leaseIdOf(tenant, key);
}

/** The id of the part of a budget that a run has. */
export function leaseIdOf(tenant: string, key: string): string {
  return leaseId(ledgerIdOf(tenant), { key });
}

/** What is asked of the ledger itself: it grants no other limits, and keeps no word of them. */
function ownPart(tenant: string, { number, wants, missing = {} }: Asked): Asked {
  const ids = DAY_KEYS.map((key) => leaseIdOf(tenant, key)).filter((id) => wants.includes(id));
  const lacks = ids.flatMap((id) => {
    const amount = missing[id];
    return amount === undefined ? [] : [[id, Math.min(amount, MOST)] as const];
  });
  const asked = { number, wants: ids };
  return lacks.length === 0 ? asked : { ...asked, missing: Object.fromEntries(lacks) };
}

/** Whether `run` may be one of at most `most` holders (T5). */
function hasRoom({ holders }: TenantLedger, run: string, most: number): boolean {
  if (holders.length >= most) return false;
  return bytesOfIds(holders) + bytesOfId(run) <= MAX_HOLDER_BYTES;
}

function withHolder(ledger: TenantLedger, before: TurnHolder, after: TurnHolder): TenantLedger {
  const all = ledger.holders.map((one) => (one === before ? after : one));
  const holders = withSameIds(ledger.holders, all);
  return committedTo(ledger, { ...ledger, holders }, { before, after });
}

function without(
  ledger: TenantLedger,
  run: string,
  costOf: (holder: TurnHolder) => Numbers,
): TenantLedger {
  const queue = ledger.queue.filter((waiting) => waiting !== run);
  const holder = ledger.holders.find((one) => one.run === run);
  if (holder === undefined) return { ...ledger, queue };
  const holders = ledger.holders.filter((one) => one !== holder);
  return { ...ledger, queue, holders, spent: sumOf(ledger.spent, costOf(holder)) };
}

/** The keys of `totals` that a ledger counts, none lower than it was (T3). */
function grown({ totals }: Pick<TurnHolder, 'totals'>, reported: Numbers): Numbers {
  return Object.fromEntries(
    DAY_KEYS.map((key) => {
      const most = Math.max(totals[key] ?? 0, Math.min(reported[key] ?? 0, MOST));
      return [key, most];
    }),
  );
}

/** What a run has spent of the day. */
function usedOf({ totals, base }: TurnHolder): Numbers {
  return Object.fromEntries(DAY_KEYS.map((key) => [key, (totals[key] ?? 0) - (base[key] ?? 0)]));
}

/** What a run may have spent of the day. */
function heldOf(holder: TurnHolder): Numbers {
  return Object.fromEntries(DAY_KEYS.map((key) => [key, heldIn(holder, key)]));
}

function heldIn({ totals, base, granted }: TurnHolder, key: string): number {
  return Math.max(0, Math.max(granted[key] ?? 0, totals[key] ?? 0) - (base[key] ?? 0));
}

function usedIn({ spent, holders }: TenantLedger, key: string): number {
  return holders.reduce((sum, holder) => sum + (usedOf(holder)[key] ?? 0), spent[key] ?? 0);
}

/**
 * What is committed of each budget, by the ledger. A sum over thousands of runs for each of thousands
 * that wait would take minutes, and a workflow task has seconds.
 */
const committed = new WeakMap<TenantLedger, ReadonlyMap<string, number>>();

function committedIn(ledger: TenantLedger, key: string): number {
  const known = committed.get(ledger);
  const found = known?.get(key);
  if (found !== undefined) return found;
  const { spent, holders } = ledger;
  const sum = holders.reduce((before, one) => before + heldIn(one, key), spent[key] ?? 0);
  committed.set(ledger, new Map(known).set(key, sum));
  return sum;
}

/** `next`, in which one holder came or changed; what is committed follows from what was. */
function committedTo(
  ledger: TenantLedger,
  next: TenantLedger,
  { before, after }: { readonly before?: TurnHolder; readonly after: TurnHolder },
): TenantLedger {
  const sums = [...(committed.get(ledger) ?? [])].map(([key, sum]) => {
    const held = before === undefined ? 0 : heldIn(before, key);
    return [key, sum - held + heldIn(after, key)] as const;
  });
  committed.set(next, new Map(sums));
  return next;
}

function sumOf(a: Numbers, b: Numbers): Numbers {
  return Object.fromEntries(DAY_KEYS.map((key) => [key, (a[key] ?? 0) + (b[key] ?? 0)]));
}
