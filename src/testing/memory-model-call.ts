/** A model call of the memory host: attempts, waits between them, and what they cost. */
import { defined } from '../core/base/defined.ts';
import { hasNextModelAttempt } from '../core/contract/attempts.ts';
import type { ModelLoss, ModelOutcome } from '../core/contract/host-outcome.ts';
import { cappedOrder, type ModelOrder } from '../core/contract/host-order.ts';
import type { TranscriptView } from '../core/contract/transcript.ts';
import { addUsage, noUsage } from '../core/model/usage.ts';
import type { ModelCallOptions } from '../core/run/host.ts';
import { openChunkStream, type ChunkPublisher } from '../core/streaming/chunk-stream.ts';
import type { Registry, RegisteredAgent } from '../define/definition/definitions.ts';
import { entryFor } from '../define/model/model-entry.ts';
import { findEntry } from '../define/model/provider-models.ts';
import { callLayeredModel } from '../models/call-layered-model.ts';
import type { ModelCallResult } from '../models/model-adapter.ts';
import {
  classifyModelError,
  hasCost,
  retryDelayMs,
  type ModelFailure,
} from '../models/model-failures.ts';
import { requestFor } from '../models/prompt-texts.ts';
import { withModel } from '../models/providers/load-model.ts';
import { missingModel } from '../registry/registry.ts';
import type { FakeClock } from './fake-clock.ts';

/** What model calls need of a memory host. */
export interface ModelCallParts {
  readonly registry: Registry;
  readonly agent: RegisteredAgent;
  readonly clock: FakeClock;
  readonly chunks: ChunkPublisher;
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
  for (let attempts = 1; ; attempts++) {
    const outcome = await attemptOf(parts, { ...call, order }, attempts, signal);
    if (outcome.kind === 'aborted') {
      return { ...outcome, usage: addUsage(spent, outcome.usage), attempts };
    }
    if (outcome.kind === 'reply') {
      const usage = addUsage(spent, outcome.reply.usage);
      return { kind: 'reply', reply: { ...outcome.reply, usage }, attempts };
    }
    const { failure } = outcome;
    spent = addUsage(spent, failure.usage ?? noUsage);
    const { code, message, status } = failure;
    const cost = { usage: spent, usageKnown: hasCost(spent), attempts };
    const lost: ModelLoss = defined({ kind: 'failed', code, message, status, ...cost });
    const retryInMs = retryDelayMs(failure, attempts);
    const hasNext = failure.retryable && hasNextModelAttempt(attempts, retryInMs, hasFallback);
    const canRetry = hasNext && !signal.aborted;
    const hadCost = hasCost(failure.usage ?? noUsage);
    if (!canRetry || (hadCost && !mayRetry(lost))) return lost;
    onFailedAttempt?.(defined({ attempt: attempts, code, message, status, retryInMs }));
    await parts.clock.sleep(retryInMs);
    if (signal.aborted) return { kind: 'aborted', ...cost };
    // The limits may have changed during the wait.
    if (hadCost && !mayRetry(lost)) return lost;
    if (hadCost) order = cappedOrder(order, maxOutputAfter?.(lost));
  }
}

async function attemptOf(
  { registry, agent, clock, chunks }: ModelCallParts,
  { order, view }: ModelCall,
  attempts: number,
  signal: AbortSignal,
): Promise<ModelCallResult | { readonly kind: 'failed'; readonly failure: ModelFailure }> {
  const entry = findEntry(registry.models, order.model);
  if (entry === undefined) return { kind: 'failed', failure: missingModel(registry, order) };
  // Only replies stream.
  const publisher = order.purpose === 'reply' ? chunks : { publish: () => undefined };
  const attempt = order.triesBefore + attempts;
  const { runId, iteration, agentPath, rootRunId = runId } = order;
  const stream = openChunkStream(publisher, { rootRunId, runId, agentPath, iteration, attempt });
  try {
    const called = await withModel(entry, registry.packageFolders);
    const request = await requestFor(registry, order, view, attempt);
    const around = agent.definition.middleware?.model ?? [];
    const io = { signal, onChunk: stream.write };
    const outcome = await callLayeredModel(around, entryFor(called, order), request, io);
    stream.end();
    return outcome;
  } catch (error) {
    stream.fail();
    return { kind: 'failed', failure: classifyModelError(error, clock.now()) };
  }
}
