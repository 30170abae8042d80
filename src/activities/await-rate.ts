/**
 * The wait of a model call for its moment under the rates of its tenant and its entry: short waits are made here,
 * longer ones by the run, which then is seen to wait and holds no worker.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { defined } from '../core/base/defined.ts';
import type { ModelOrder, RateTicket } from '../core/contract/host-order.ts';
import type { Rate } from '../core/base/rate.ts';
import type { ModelEntry } from '../define/model/model-entry.ts';
import { tenantCounter } from '../core/rate/rate.ts';
import { requestTokens } from '../core/ask/context-tokens.ts';
import type { ModelRequest, TokenUsage } from '../core/contract/model.ts';
import { rateWait } from './failures.ts';
import { hasPassed, type Asked, type Moment, type Rates } from './rates.ts';
import type { TenantPort } from './tenant-activities.ts';
import { endsWithAttempt } from './tries.ts';

/** How long an activity waits for its moment, in milliseconds. */
const HOLD_MS = 5_000;

/** A run comes back so long before its moment: it needs a worker by then. */
const EARLY_MS = 1_000;

/** When a counter is asked again that did not answer, in milliseconds: doubling from the first. */
const SILENT_MS = { first: 2_000, most: 300_000 } as const;

/** A request that may be sent. */
export interface PacedRequest {
  /** What the request has taken of its provider. */
  readonly ended: (usage: TokenUsage) => void;
}

/** A request that is about to be sent. */
export interface AskedProvider {
  readonly order: ModelOrder;
  readonly entry: Pick<ModelEntry, 'rate' | 'maxOutputTokens'>;
  readonly request: ModelRequest;
  /** Aborts the call. */
  readonly signal: AbortSignal;
}

const UNPACED: PacedRequest = { ended: () => undefined };

/** A counter that a request needs a moment of. */
interface Pace {
  readonly counted: string;
  readonly rate: Rate;
  readonly of?: 'tenant';
}

/**
 * Waits until a request may be sent; at once if neither its tenant nor its entry has a rate. The
 * tenant's comes first: its requests queue for it before they queue for the provider. Returns early
 * when the call is aborted. Fails with `rate_wait` if the run is to wait.
 */
export async function awaitRate(
  parts: { readonly rates?: Rates | undefined; readonly tenants?: TenantPort | undefined },
  call: AskedProvider,
): Promise<PacedRequest> {
  const { rates, tenants } = parts;
  if (rates === undefined) return UNPACED;
  const ended: PacedRequest['ended'][] = [];
  const { of, ...ticket } = call.order.rate ?? {};
  // A ticket of the model says that the tenant's moment has come before.
  const isPassed = call.order.rate !== undefined && of === undefined;
  const tenant = isPassed ? undefined : await paceOfTenant(tenants, call.order);
  const { rate } = call.entry;
  const model: Pace | undefined =
    rate === undefined ? undefined : { counted: call.order.model, rate };
  for (const pace of [tenant, model]) {
    if (pace === undefined) continue;
    const isTicketed = pace.of === of;
    const sent = await awaitMoment(rates, call, { pace, ticket: isTicketed ? ticket : {} });
    if (sent === null) return UNPACED;
    ended.push(sent);
  }
  return { ended: (usage) => ended.forEach((tell) => tell(usage)) };
}

/** The rate of the run's tenant, if it has one. */
async function paceOfTenant(
  tenants: TenantPort | undefined,
  { tenant }: ModelOrder,
): Promise<Pace | undefined> {
  if (tenants === undefined || tenant === undefined) return undefined;
  const rate = await tenants.rateOf(tenant);
  return rate === undefined ? undefined : { counted: tenantCounter(tenant), rate, of: 'tenant' };
}

/** Waits for the moment of one counter; null when the call is aborted. */
async function awaitMoment(
  rates: Rates,
  { order, entry: { maxOutputTokens }, request, signal }: AskedProvider,
  { pace, ticket }: { readonly pace: Pace; readonly ticket: RateTicket },
): Promise<PacedRequest['ended'] | null> {
  const { counted, rate, of } = pace;
  const asked: Asked = { promptTokens: requestTokens(request), maxOutputTokens };
  const { info } = Context.current();
  // The workflows of earlier releases know no such failure: their calls wait here.
  const canReturn = endsWithAttempt(order) || info.retryPolicy?.maximumAttempts === 1;
  let { tries = 0 } = ticket;
  let moment: Moment | null =
    ticket.at === undefined ? null : { kind: 'at', at: ticket.at, tokens: ticket.tokens ?? 0 };
  while (!signal.aborted) {
    if (moment === null || (moment.kind === 'at' && hasPassed(moment.at, Date.now()))) {
      moment = await rates.next(counted, rate, asked);
    }
    if (moment.kind === 'silent') {
      const inMs = Math.min(SILENT_MS.first * 2 ** tries, SILENT_MS.most);
      tries += 1;
      const { cause } = moment;
      moment = null;
      const at = Date.now() + inMs;
      if (canReturn) throw rateWait(defined({ at, tries, of }), cause);
      await pause(inMs, signal);
      continue;
    }
    const { at, tokens } = moment;
    const inMs = at - Date.now();
    if (inMs > HOLD_MS && canReturn) {
      throw rateWait(defined({ at: at - EARLY_MS, moment: at, tokens, of }));
    }
    await pause(inMs, signal);
    if (hasPassed(at, Date.now())) continue;
    return (usage) => rates.ended({ model: counted, estimated: tokens, asked, usage });
  }
  return null;
}

/** Settles early when the call is aborted. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms > 0) await sleep(ms, undefined, { signal }).catch(() => undefined);
}
