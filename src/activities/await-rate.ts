/**
 * The wait of a model call for its moment under the rate of its entry: short waits are made here,
 * longer ones by the run, which then is seen to wait and holds no worker.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import type { ModelOrder } from '../core/contract/host-order.ts';
import type { ModelEntry } from '../define/model/model-entry.ts';
import { requestTokens } from '../core/ask/context-tokens.ts';
import type { ModelRequest, TokenUsage } from '../core/contract/model.ts';
import { rateWait } from './failures.ts';
import { hasPassed, type Asked, type Moment, type Rates } from './rates.ts';
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

/**
 * Waits until a request may be sent; at once if its entry has no rate. Returns early when the call
 * is aborted. Fails with `rate_wait` if the run is to wait.
 */
export async function awaitRate(
  rates: Rates | undefined,
  { order, entry: { rate, maxOutputTokens }, request, signal }: AskedProvider,
): Promise<PacedRequest> {
  if (rates === undefined || rate === undefined) return UNPACED;
  const asked: Asked = { promptTokens: requestTokens(request), maxOutputTokens };
  const { info } = Context.current();
  // The workflows of earlier releases know no such failure: their calls wait here.
  const canReturn = endsWithAttempt(order) || info.retryPolicy?.maximumAttempts === 1;
  let { tries = 0, ...ticket } = order.rate ?? {};
  let moment: Moment | null =
    ticket.at === undefined ? null : { kind: 'at', at: ticket.at, tokens: ticket.tokens ?? 0 };
  while (!signal.aborted) {
    if (moment === null || (moment.kind === 'at' && hasPassed(moment.at, Date.now()))) {
      moment = await rates.next(order.model, rate, asked);
    }
    if (moment.kind === 'silent') {
      const inMs = Math.min(SILENT_MS.first * 2 ** tries, SILENT_MS.most);
      tries += 1;
      const { cause } = moment;
      moment = null;
      if (canReturn) throw rateWait({ at: Date.now() + inMs, tries }, cause);
      await pause(inMs, signal);
      continue;
    }
    const { at, tokens } = moment;
    const inMs = at - Date.now();
    if (inMs > HOLD_MS && canReturn) throw rateWait({ at: at - EARLY_MS, moment: at, tokens });
    await pause(inMs, signal);
    if (hasPassed(at, Date.now())) continue;
    return {
      ended: (usage) => rates.ended({ model: order.model, estimated: tokens, asked, usage }),
    };
  }
  return UNPACED;
}

/** Settles early when the call is aborted. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms > 0) await sleep(ms, undefined, { signal }).catch(() => undefined);
}
