/** A model call of the memory host: attempts, waits between them, and what they cost. */
import type { JsonObject } from '../core/base/json.ts';
import type { ToolOrder, BesideRead } from '../core/contract/outcome.ts';
import { createReadsBeside, type SettledReads } from '../tools/reads-beside.ts';
import type { ToolRun } from '../tools/tool-call.ts';
import { defined } from '../core/base/defined.ts';
import type { AttemptFailure } from '../core/attempt/failure.ts';
import {
  afterModelFailure,
  modelEnd,
  nextModelOrder,
  NO_MODEL_TRIED,
  type TriedModel,
} from '../core/attempt/model-attempts.ts';
import type { ModelOutcome } from '../core/contract/host-outcome.ts';
import type { ModelOrder } from '../core/contract/host-order.ts';
import type { TranscriptView } from '../core/contract/transcript.ts';
import { noUsage } from '../core/model/usage.ts';
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
import { infoOf } from '../core/calls/run-info.ts';
import { ownModel } from '../models/own-model.ts';
import { orderFor } from '../models/prepare-request.ts';
import { requestFor } from '../models/prompt-texts.ts';
import { streamed } from '../models/stream-reply.ts';
import { withModel } from '../models/providers/load-model.ts';
import { missingModel } from '../registry/registry.ts';
import type { FakeClock } from './fake-clock.ts';
import { tryInMemory } from './try-in-memory.ts';

/** What model calls need of a memory host. */
export interface ModelCallParts {
  readonly registry: Registry;
  readonly agent: RegisteredAgent;
  readonly clock: FakeClock;
  readonly chunks: ChunkPublisher;
  /** The id of the run. */
  readonly address: string;
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
export function callModel(
  parts: ModelCallParts,
  call: ModelCall,
  signal: AbortSignal,
): Promise<ModelOutcome> {
  return tryInMemory<ModelOutcome, TriedModel>(parts.clock, signal, {
    before: NO_MODEL_TRIED,
    attempt: async (tried) => {
      const order = nextModelOrder(call, call.order, tried);
      const ended = await attemptOf(parts, { ...call, order }, tried.attempts + 1, signal);
      return 'failure' in ended ? ended : modelEnd(tried, { ...ended, attempts: 1 });
    },
    onFailure: (failure, tried) => afterModelFailure(call, tried, failure, parts.clock.now()),
  });
}

/** How an attempt ended, and what ran beside its reply. */
type AttemptEnd = (SettledReads & UnfailedEnd) | { readonly failure: AttemptFailure };

async function attemptOf(
  { registry, agent, clock, chunks, runRead, address }: ModelCallParts,
  { order, view }: ModelCall,
  attempts: number,
  signal: AbortSignal,
): Promise<AttemptEnd> {
  if (findEntry(registry.models, order.model) === undefined) {
    return failed(missingModel(registry, order), attempts);
  }
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
    const info = infoOf(order, { run: address, context: view.head.context });
    const request = await requestFor(registry, order, view, { attempt: number, info });
    const asked = orderFor(order, view.head.spec, request.prepared);
    const entry = findEntry(registry.models, asked.model);
    if (entry === undefined) return failed(missingModel(registry, asked), attempts);
    const called = await ownModel(await withModel(entry, registry.packageFolders), info);
    const around = { layers: agent.definition.middleware?.model ?? [], info };
    const end = await streamed({ chunks, order, number }, (io) => {
      const given = { ...io, signal, onCall: beside.offer };
      return callLayeredModel(around, entryFor(called, asked), request, given);
    });
    if (end.kind === 'aborted') return { ...end, ...lostOf(beside.stop()) };
    beside.complete(end.reply);
    return { ...end, ...(await beside.settle(end.reply)) };
  } catch (error) {
    return failed(classifyModelError(error, clock.now()), attempts, lostOf(beside.stop()));
  }
}

/** A failed attempt, as a worker would tell it. */
function failed(failure: ModelFailure, attempt: number, lost: SettledReads = {}): AttemptEnd {
  const { code, message, retryable, status, usage, estimated } = failure;
  const retryAfterMs = retryable ? retryDelayMs(failure, attempt) : undefined;
  const kind = retryable ? 'failed' : 'final';
  const usageKnown = hasCost(usage ?? noUsage);
  const known = defined({ status, usage, estimated, retryAfterMs });
  return { failure: { kind, message, code, usageKnown, ...known, ...lost } };
}

function lostOf(lostReads: readonly BesideRead[]): SettledReads {
  return defined({ lostReads: lostReads.length === 0 ? undefined : lostReads });
}
