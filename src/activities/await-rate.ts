/**
 * The layer of a model call that waits for its permit, and for its moment under the rates of its
 * tenant and its entry: short waits are made here, longer ones by the run, which then is seen to wait
 * and holds no worker.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { defined } from '../core/base/defined.ts';
import type { ModelOrder } from '../core/contract/host-order.ts';
import type { Rate } from '../core/base/rate.ts';
import { tenantCounter } from '../core/rate/rate.ts';
import { requestTokens } from '../core/ask/context-tokens.ts';
import type { UnfailedOutcome } from '../core/contract/host-outcome.ts';
import type { TokenUsage } from '../core/contract/model.ts';
import { givenBack, PERMIT_ENDED, rateWait } from './failures.ts';
import type { AskedAttempt } from './model-attempt.ts';
import type { Permit } from './permits/entry-permits.ts';
import type { Permits } from './permits/permits.ts';
import { hasPassed, type Asked, type Moment, type Rates } from './rates.ts';
import type { TenantPort } from './tenant-activities.ts';

/** How long an activity waits for its moment or its permit, in milliseconds. */
const HOLD_MS = 5_000;

/** A run comes back so long before its moment: it needs a worker by then. */
const EARLY_MS = 1_000;

/** When a counter is asked again that did not answer, in milliseconds: doubling from the first. */
const SILENT_MS = { first: 2_000, most: 300_000 } as const;

/** A request that is about to be sent. */
type AskedProvider = Pick<AskedAttempt, 'order' | 'entry' | 'request' | 'signal'>;

/** What paces the requests of a worker. */
export interface PaceParts {
  /** The rates of model entries; default: nothing paces requests. */
  readonly rates?: Rates | undefined;
  /** The permits of model entries; default: nothing bounds the requests under way. */
  readonly permits?: Permits | undefined;
  /** Tenants with rates of their own; default: there are none. */
  readonly tenants?: TenantPort | undefined;
}

/** A counter that a request needs a moment of. */
interface Pace {
  readonly counted: string;
  readonly rate: Rate;
  readonly of?: 'tenant';
}

/** Tells a counter what a request has taken of its provider. */
type Ended = (usage: TokenUsage) => void;

/**
 * Makes a request once there is room for it. An attempt whose permit ended is given back: its request
 * was closed, and no user has stopped it.
 */
export async function paced<Attempt extends AskedAttempt>(
  parts: PaceParts,
  attempt: Attempt,
  next: (attempt: Attempt) => Promise<UnfailedOutcome>,
): Promise<UnfailedOutcome> {
  const { permit, ended } = await awaitRate(parts, attempt);
  const { signal } = attempt;
  const closed = permit === undefined ? signal : AbortSignal.any([signal, permit.ended]);
  try {
    const outcome = await next({ ...attempt, signal: closed });
    if (outcome.kind === 'aborted' && permit?.ended.aborted === true && !signal.aborted) {
      throw givenBack(attempt, outcome.usage, PERMIT_ENDED);
    }
    if (outcome.kind === 'reply' && outcome.reply.usageKnown) {
      for (const tell of ended) tell(outcome.reply.usage);
    }
    return outcome;
  } finally {
    permit?.release();
  }
}

/**
 * Waits until a request may be sent; at once if neither its tenant nor its entry has a rate. The
 * tenant's comes first: its requests queue for it before they queue for the provider. A permit comes
 * before the moment of the entry, which does not wait. Returns early when the call is aborted. Fails
 * with `rate_wait` if the run is to wait.
 */
async function awaitRate(
  parts: PaceParts,
  call: AskedProvider,
): Promise<{ readonly permit: Permit | undefined; readonly ended: readonly Ended[] }> {
  const { order, entry, signal } = call;
  const tenant = await paceOfTenant(parts, order);
  const tenantEnded = tenant === undefined ? [] : await awaitMoment(parts, call, tenant);
  const { concurrency, ...rate } = entry.rate ?? {};
  const model: Pace | undefined =
    Object.keys(rate).length === 0 ? undefined : { counted: order.model, rate };
  for (;;) {
    const permit = await awaitPermit(parts, call, concurrency);
    try {
      const modelEnded =
        model === undefined || signal.aborted ? [] : await awaitMoment(parts, call, model);
      if (permit?.ended.aborted !== true || signal.aborted) {
        return { permit, ended: [...tenantEnded, ...modelEnded] };
      }
    } catch (error) {
      permit?.release();
      throw error;
    }
    permit.release();
  }
}

/** The rate of the run's tenant, if it has one and the request has not passed it. */
async function paceOfTenant(
  { rates, tenants }: PaceParts,
  { tenant, rate: ticket }: ModelOrder,
): Promise<Pace | undefined> {
  // A ticket of the model says that the tenant's moment has come before.
  const isPassed = ticket !== undefined && ticket.of === undefined;
  if (isPassed || rates === undefined || tenants === undefined || tenant === undefined) {
    return undefined;
  }
  const rate = await tenants.rateOf(tenant);
  return rate === undefined ? undefined : { counted: tenantCounter(tenant), rate, of: 'tenant' };
}

/** Waits for a permit; undefined if the entry needs none, or when the call is aborted. */
async function awaitPermit(
  { permits }: PaceParts,
  { order, signal }: AskedProvider,
  concurrency: number | undefined,
): Promise<Permit | undefined> {
  if (permits === undefined || concurrency === undefined) return undefined;
  const { since = Date.now(), tries = 0 } = order.rate ?? {};
  const taken = await permits.take(order.model, concurrency, { since, holdMs: HOLD_MS, signal });
  if (taken.kind === 'aborted') return undefined;
  if (taken.kind === 'permit') return taken.permit;
  const { againInMs, cause } = taken;
  const wait = { since, for: 'permit' } as const;
  if (cause === undefined) throw rateWait({ at: Date.now() + againInMs, ...wait });
  throw rateWait({ at: Date.now() + silentMs(tries), tries: tries + 1, ...wait }, cause);
}

/** Waits for the moment of one counter; nothing has to hear of the request when it is aborted. */
async function awaitMoment(
  { rates }: PaceParts,
  { order, entry: { maxOutputTokens }, request, signal }: AskedProvider,
  { counted, rate, of }: Pace,
): Promise<readonly Ended[]> {
  if (rates === undefined) return [];
  const asked: Asked = { promptTokens: requestTokens(request), maxOutputTokens };
  const { of: ticketOf, ...given } = order.rate ?? {};
  const { at: kept, tokens: keptFor = 0, tries = 0 } = ticketOf === of ? given : {};
  const { since } = given;
  let moment: Moment | null = kept === undefined ? null : { kind: 'at', at: kept, tokens: keptFor };
  while (!signal.aborted) {
    if (moment === null || (moment.kind === 'at' && hasPassed(moment.at, Date.now()))) {
      moment = await rates.next(counted, rate, asked);
    }
    if (moment.kind === 'silent') {
      const at = Date.now() + silentMs(tries);
      throw rateWait(defined({ at, tries: tries + 1, since, of }), moment.cause);
    }
    const { at, tokens } = moment;
    const inMs = at - Date.now();
    if (inMs > HOLD_MS) {
      throw rateWait(defined({ at: at - EARLY_MS, moment: at, tokens, since, of }));
    }
    await pause(inMs, signal);
    if (hasPassed(at, Date.now())) continue;
    return [(usage) => rates.ended({ model: counted, estimated: tokens, asked, usage })];
  }
  return [];
}

function silentMs(tries: number): number {
  return Math.min(SILENT_MS.first * 2 ** tries, SILENT_MS.most);
}

/** Settles early when the call is aborted. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms > 0) await sleep(ms, undefined, { signal }).catch(() => undefined);
}
