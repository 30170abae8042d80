/** A model call of the memory host: attempts, waits between them, and what they cost. */
import type { JsonObject } from '../core/base/json.ts';
import type { ToolOrder, BesideRead } from '../core/contract/outcome.ts';
import { createReadsBeside, type SettledReads } from '../tools/reads-beside.ts';
import type { ToolRun } from '../tools/tool-call.ts';
import { defined } from '../core/base/defined.ts';
import { hasNextModelAttempt } from '../core/contract/attempts.ts';
import type { ModelLoss, ModelOutcome } from '../core/contract/host-outcome.ts';
import { cappedOrder, type ModelOrder } from '../core/contract/host-order.ts';
import type { TranscriptView } from '../core/contract/transcript.ts';
import type { EstimatedUsage } from '../core/contract/model.ts';
import { addEstimates } from '../core/model/estimated-usage.ts';
import { addUsage, noUsage } from '../core/model/usage.ts';
import type { ModelCallOptions } from '../core/run/host.ts';
import type { ChunkPublisher } from '../core/streaming/chunk-stream.ts';
import type { Registry, RegisteredAgent } from '../define/definition/definitions.ts';
import { entryFor } from '../define/model/model-entry.ts';
import { findEntry } from '../define/model/provider-models.ts';
import { callLayeredModel } from '../models/call-layered-model.ts';
import type { UnfailedEnd } from '../models/model-adapter.ts';
import {
  classifyModelError,
  hasCost,
  retryDelayMs,
  type ModelFailure,
} from '../models/model-failures.ts';
import { requestFor } from '../models/prompt-texts.ts';
import { streamed } from '../models/stream-reply.ts';
import { withModel } from '../models/providers/load-model.ts';
import { missingModel } from '../registry/registry.ts';
import type { FakeClock } from './fake-clock.ts';

/** What model calls need of a memory host. */
export interface ModelCallParts {
  readonly registry: Registry;
  readonly agent: RegisteredAgent;
  readonly clock: FakeClock;
  readonly chunks: ChunkPublisher;
  /** Runs an attempt of a read beside a reply. */
  readonly runRead: (
    order: ToolOrder,
    signal: AbortSignal,
    context: JsonObject | undefined,
  ) => Promise<ToolRun>;
}

/** One model call. */
export interface ModelCall extends ModelCallOptions {
  readonly order: ModelOrder;
  readonly view: TranscriptView;
}

/** Asks the model until an attempt succeeds, fails for good or is aborted. */
export async function callModel(
  parts: ModelCallParts,
  call: ModelCall,
  signal: AbortSignal,
): Promise<ModelOutcome> {
  const { mayRetry, maxOutputAfter, hasFallback = false, onFailedAttempt } = call;
  let { order } = call;
  let spent = noUsage;
  let estimated: EstimatedUsage | undefined;
  let lost: readonly BesideRead[] = [];
  for (let attempts = 1; ; attempts++) {
    const outcome = await attemptOf(parts, { ...call, order }, attempts, signal);
    lost = [...lost, ...(outcome.lostReads ?? [])];
    const lostReads = lost.length === 0 ? undefined : lost;
    if (outcome.kind === 'aborted') {
      const usage = addUsage(spent, outcome.usage);
      return { ...outcome, usage, attempts, ...defined({ estimated, lostReads }) };
    }
    if (outcome.kind === 'reply') {
      const usage = addUsage(spent, outcome.reply.usage);
      const { reads } = outcome;
      const reply = { ...outcome.reply, usage };
      return { kind: 'reply', reply, attempts, ...defined({ estimated, reads, lostReads }) };
    }
    // As on a server: what an attempt after this one would run beside its reply is not asked for.
    order = withoutReads(order);
    const { failure } = outcome;
    spent = addUsage(spent, failure.usage ?? noUsage);
    estimated = addEstimates(estimated, failure.estimated);
    const { code, message, status } = failure;
    const cost = { usage: spent, usageKnown: hasCost(spent), attempts };
    const failed: ModelLoss = defined({
      kind: 'failed',
      code,
      message,
      status,
      ...cost,
      estimated,
      lostReads,
    });
    const retryInMs = retryDelayMs(failure, attempts);
    const hasNext = failure.retryable && hasNextModelAttempt(attempts, retryInMs, hasFallback);
    const canRetry = hasNext && !signal.aborted;
    const hadCost = hasCost(failure.usage ?? noUsage) || failure.estimated !== undefined;
    if (!canRetry || (hadCost && !mayRetry(failed))) return failed;
    onFailedAttempt?.(defined({ attempt: attempts, code, message, status, retryInMs }));
    await parts.clock.sleep(retryInMs);
    if (signal.aborted) return { kind: 'aborted', ...cost, ...defined({ estimated, lostReads }) };
    // The limits may have changed during the wait.
    if (hadCost && !mayRetry(failed)) return failed;
    if (hadCost) order = cappedOrder(order, maxOutputAfter?.(failed));
  }
}

function withoutReads({ reads: _reads, ...order }: ModelOrder): ModelOrder {
  return order;
}

/** How an attempt ended, and what ran beside its reply. */
type AttemptEnd = SettledReads &
  (UnfailedEnd | { readonly kind: 'failed'; readonly failure: ModelFailure });

async function attemptOf(
  { registry, agent, clock, chunks, runRead }: ModelCallParts,
  { order, view }: ModelCall,
  attempts: number,
  signal: AbortSignal,
): Promise<AttemptEnd> {
  const entry = findEntry(registry.models, order.model);
  if (entry === undefined) return { kind: 'failed', failure: missingModel(registry, order) };
  const number = order.triesBefore + attempts;
  const beside = createReadsBeside({
    order,
    head: view.head,
    agent,
    // In memory no tool is known to be slow: the clock moves by hand.
    figures: { usual: () => ({ ms: 0, bytes: 0 }) },
    run: (read, stopped) => runRead(read, stopped, view.head.context),
    signal,
    now: () => clock.now(),
    schedule: (ms, due) => clock.schedule(clock.now() + ms, due),
  });
  try {
    const called = await withModel(entry, registry.packageFolders);
    const request = await requestFor(registry, order, view, number);
    const around = agent.definition.middleware?.model ?? [];
    const end = await streamed({ chunks, order, number }, (io) => {
      const asked = { ...io, signal, onCall: beside.offer };
      return callLayeredModel(around, entryFor(called, order), request, asked);
    });
    if (end.kind === 'aborted') return { ...end, ...lostOf(beside.stop()) };
    beside.complete(end.reply);
    return { ...end, ...(await beside.settle(end.reply)) };
  } catch (error) {
    const failure = classifyModelError(error, clock.now());
    return { kind: 'failed', failure, ...lostOf(beside.stop()) };
  }
}

function lostOf(lostReads: readonly BesideRead[]): SettledReads {
  return defined({ lostReads: lostReads.length === 0 ? undefined : lostReads });
}
