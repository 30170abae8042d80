/**
 * The ledger of a tenant as others see it: a workflow `~tenant:{name}`, which gives runs their turns
 * and grants them parts of the budgets of a day. Requests and grants of budgets are the messages of
 * trees (tree-messages.ts), with the ledger in the place of the parent.
 */
import { defined } from '../base/defined.ts';
import { idProblem, ownId } from '../base/ids.ts';
import { isPlainObject } from '../base/json.ts';
import type { Lease } from '../contract/lease.ts';
import type { Rate } from '../base/rate.ts';
import type { Numbers } from '../contract/stats.ts';
import type { LeaseRequest } from '../contract/tree-messages.ts';
import { readLeaseRequest } from '../tree/read-message.ts';

/** Name of the workflow that keeps the ledger of a tenant. */
export const TENANT_WORKFLOW = 'tenant';

/** The id of the ledger of a tenant. */
export function ledgerIdOf(tenant: string): string {
  return ownId('ledger', tenant);
}

/** The key of the memo of a ledger that holds its settings: a list needs no worker. */
export const TENANT_MEMO = 'tenantSettings';

/** Names of its signals, updates and queries. */
export const TENANT_MESSAGES = {
  join: 'tenant-join',
  leave: 'tenant-leave',
  request: 'lease-request',
  set: 'tenant-set',
  view: 'tenant-view',
  /** From the ledger to a run. */
  turn: 'tenant-turn',
  /** From an operator of a fleet; see `nudge` of a run. */
  nudge: 'nudge',
} as const;

/** From a run: it waits for its turn. */
export interface TenantJoin {
  readonly v: 1;
  /** Workflow id of the run. */
  readonly run: string;
}

/** From a run: it has ended, or waits no longer. */
export interface TenantLeave extends TenantJoin {
  /** What it and its children have spent in all; of a fork, since its moment. */
  readonly totals: Numbers;
}

/** To a run: it is its turn, with its parts of the budgets of the day. */
export interface TenantTurn {
  readonly v: 1;
  readonly leases: readonly Lease[];
}

/** What an operator has set for a tenant. */
export interface TenantSettings {
  /** Runs at once, without their children; absent: any number. */
  readonly concurrency?: number;
  /** Its share of a busy task queue beside others, from 0.001 to 1000; absent: 1. */
  readonly weight?: number;
  /** What its runs may spend in a day, by key of statistics; absent: anything. */
  readonly perDay?: Numbers;
  /** What its runs may ask of all providers in a minute; absent: anything. */
  readonly rate?: Rate;
  /** IANA name of the zone in which a day begins at midnight. */
  readonly timeZone: string;
}

/** A change of settings: null removes one, what is absent stays. */
export interface TenantChange {
  readonly concurrency?: number | null;
  readonly weight?: number | null;
  readonly perDay?: Numbers | null;
  readonly rate?: Rate | null;
  readonly timeZone?: string;
}

/** A budget of a day, and how much of it is used. */
export interface TenantBudget {
  readonly key: string;
  readonly max: number;
  /** By runs that have ended, and by live ones as of their last reports. */
  readonly used: number;
  /** Granted to live runs, beyond what they have reported. */
  readonly reserved: number;
}

/** How a tenant stands. */
export interface TenantView {
  readonly tenant: string;
  readonly settings: TenantSettings;
  /** The day in its time zone, `2026-11-25`; null: no budget needs one. */
  readonly day: string | null;
  /** When it ends, in milliseconds since 1970. */
  readonly dayEndsAt: number | null;
  readonly budgets: readonly TenantBudget[];
  /** Runs that have their turn, and those that wait for it, each in order; the first 100. */
  readonly running: readonly string[];
  readonly waiting: readonly string[];
  readonly runs: number;
  readonly waits: number;
  /** Runs that have their turn and wait for a budget. */
  readonly short: number;
}

/** A join, or null if it is none. */
export function readJoin(payload: unknown): TenantJoin | null {
  const run = isPlainObject(payload) && payload['v'] === 1 ? payload['run'] : undefined;
  return isRun(run) ? { v: 1, run } : null;
}

/** A request for more of the budgets of a day, or null if it is none. */
export function readRequest(payload: unknown): LeaseRequest | null {
  const request = readLeaseRequest(payload);
  return request !== null && isRun(request.childId) ? request : null;
}

/** The service fails the whole task of a ledger that signals an id which none can have. */
function isRun(run: unknown): run is string {
  return idProblem(run) === undefined;
}

/** A leave, or null if it is none. */
export function readLeave(payload: unknown): TenantLeave | null {
  const join = readJoin(payload);
  const totals = isPlainObject(payload) ? payload['totals'] : undefined;
  if (join === null || !isPlainObject(totals)) return null;
  return Object.values(totals).every(isCount) ? { ...join, totals: totals as Numbers } : null;
}

/** A turn, or null if it is none. */
export function readTurn(payload: unknown): TenantTurn | null {
  if (!isPlainObject(payload) || payload['v'] !== 1 || !Array.isArray(payload['leases'])) {
    return null;
  }
  const leases = payload['leases'] as readonly unknown[];
  return leases.every(isLease) ? { v: 1, leases: leases as readonly Lease[] } : null;
}

function isLease(value: unknown): value is Lease {
  if (!isPlainObject(value) || !isPlainObject(value['limit'])) return false;
  const { id, origin, limit, granted } = value;
  const isNamed = typeof id === 'string' && isPlainObject(origin);
  return isNamed && isCount(granted) && isCount(limit['max']) && typeof limit['key'] === 'string';
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** `settings` after `change`. */
export function changedSettings(settings: TenantSettings, change: TenantChange): TenantSettings {
  const { concurrency = settings.concurrency, weight = settings.weight } = change;
  const { perDay = settings.perDay, timeZone = settings.timeZone, rate = settings.rate } = change;
  return defined({
    concurrency: concurrency ?? undefined,
    weight: weight ?? undefined,
    perDay: perDay ?? undefined,
    rate: rate ?? undefined,
    timeZone,
  });
}
