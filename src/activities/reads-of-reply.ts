/**
 * The layer of a model call that runs reads beside its reply, as a tool activity would run them. Their
 * activity is that of the model: it has the heartbeat, and its end is theirs.
 */
import { ApplicationFailure, Context } from '@temporalio/activity';
import { defined } from '../core/base/defined.ts';
import { sizesOf } from '../core/base/size-limits.ts';
import type { AttemptFacts, UnfailedOutcome } from '../core/contract/host-outcome.ts';
import type { Reply } from '../core/contract/model.ts';
import type { ToolOrder } from '../core/contract/outcome.ts';
import type { TranscriptView } from '../core/contract/transcript.ts';
import { callTopics } from '../core/streaming/topic-stream.ts';
import type { ChunkPublisher } from '../core/streaming/chunk-stream.ts';
import { HIDE_NOTHING, type HideText } from '../core/text/hide.ts';
import type { RegisteredAgent, Registry } from '../define/definition/definitions.ts';
import { NO_WATCH, type CallObserver } from '../telemetry/call-observer.ts';
import type { ToolPlaces } from '../tools/isolation.ts';
import { quickTools } from '../tools/quick-tools.ts';
import { createReadsBeside, type ReadsBeside, type SettledReads } from '../tools/reads-beside.ts';
import { runTool } from '../tools/run-tool.ts';
import type { ToolRun } from '../tools/tool-call.ts';
import type { ToolFigures } from '../tools/tool-figures.ts';
import { withFigures } from '../tools/watch-figures.ts';
import { thrownFailure } from './failures.ts';
import { isStoppedByService } from './heartbeat.ts';
import type { FoundAttempt } from './model-attempt.ts';

/** What reads beside a reply need; all of it lives as long as the worker. */
export interface ReadsOfReplyParts {
  readonly registry: Registry;
  readonly chunks: ChunkPublisher;
  readonly watch?: CallObserver;
  readonly hasBlobs?: boolean;
  readonly hide?: HideText;
  /** Absent: nothing runs beside replies. */
  readonly figures?: ToolFigures;
  readonly places?: ToolPlaces;
}

/**
 * Makes an attempt with reads beside its reply. What began is in its outcome, or in its failure. The
 * reply waits for the reads that are open, and the heartbeats have it meanwhile.
 */
export async function readingBeside(
  parts: ReadsOfReplyParts,
  attempt: FoundAttempt,
  next: (onCall: ReadsBeside['offer']) => Promise<UnfailedOutcome>,
): Promise<UnfailedOutcome> {
  const beside = readsOfReply(parts, attempt);
  try {
    const outcome = await next(beside.offer);
    if (outcome.kind === 'aborted') return { ...outcome, ...lostReads(beside) };
    const { reply } = outcome;
    const shown = { ...outcome, ...localIn(parts, attempt, reply) };
    beside.complete(reply);
    return { ...shown, ...(await settleKept(beside, shown, attempt)) };
  } catch (error) {
    throw withLostReads(thrownFailure(attempt.order, error), beside);
  }
}

/** The tools of a reply that this worker expects to be quick. */
function localIn(
  { figures }: ReadsOfReplyParts,
  { order, view }: FoundAttempt,
  reply: Reply,
): Pick<AttemptFacts, 'local'> {
  if (figures === undefined || order.purpose !== 'reply' || view === null) return {};
  return defined({ local: quickTools(figures, view.head.spec, reply) });
}

/**
 * How long reads may be open after their reply before a heartbeat is sent that has it. Most reads end
 * before, and each heartbeat is a request and an action on a bill.
 */
const KEPT_BEAT_MS = 300;

async function settleKept(
  beside: ReadsBeside,
  shown: Extract<UnfailedOutcome, { readonly kind: 'reply' }>,
  { keep, beat }: FoundAttempt,
): Promise<SettledReads> {
  if (!beside.isOpen()) return beside.settle(shown.reply);
  keep(shown, beside.ended);
  const timer = setTimeout(beat, KEPT_BEAT_MS);
  try {
    return await beside.settle(shown.reply);
  } finally {
    clearTimeout(timer);
  }
}

/** The reads beside the reply that the current activity asks for. */
function readsOfReply(
  parts: ReadsOfReplyParts,
  { order, view, signal }: FoundAttempt,
): ReadsBeside {
  const { registry, figures } = parts;
  const agent = registry.agents.get(order.agent);
  if (figures === undefined || view === null || agent === undefined) {
    return createReadsBeside(null);
  }
  return createReadsBeside({
    order,
    head: view.head,
    agent,
    figures,
    signal,
    now: () => performance.now(),
    schedule: (ms, due) => {
      const timer = setTimeout(due, ms);
      return () => clearTimeout(timer);
    },
    run: (call, stopped) => runRead({ ...parts, figures }, { agent, view, call }, stopped),
  });
}

interface ReadCall {
  readonly agent: RegisteredAgent;
  readonly view: TranscriptView;
  readonly call: ToolOrder;
}

/** One attempt of a read, watched and noted as in an activity of its own. */
function runRead(
  parts: ReadsOfReplyParts & { readonly figures: ToolFigures },
  { agent, view, call }: ReadCall,
  signal: AbortSignal,
): Promise<ToolRun> {
  const { chunks, watch = NO_WATCH, hasBlobs = false, hide = HIDE_NOTHING, figures } = parts;
  const { info } = Context.current();
  const { rootRunId = call.runId, runId, agentPath, callId } = call;
  const options = {
    attempt: 1,
    signal,
    hide,
    run: info.workflowExecution?.workflowId ?? '',
    sizes: sizesOf({ blobs: hasBlobs && call.blobs === true }),
    isShutdown: isStoppedByService,
    onEvent: callTopics(chunks, { rootRunId, runId, agentPath, callId, attempt: 1 }),
    ...defined({ places: parts.places }),
    context: call.readsContext === true ? view.head.context : undefined,
  };
  return watch.tool(call, (traceparent) =>
    withFigures(figures, agent, call, () =>
      runTool(agent, call, { ...options, ...defined({ traceparent }) }),
    ),
  );
}

/** What ran beside a reply that is thrown away. */
function lostReads(beside: ReadsBeside): Pick<AttemptFacts, 'lostReads'> {
  const lost = beside.stop();
  return defined({ lostReads: lost.length === 0 ? undefined : lost });
}

/** The failure of a call, with what ran beside its reply. */
function withLostReads(failure: ApplicationFailure, beside: ReadsBeside): ApplicationFailure {
  const lost = lostReads(beside);
  if (lost.lostReads === undefined) return failure;
  const [first = {}, ...others] = failure.details ?? [];
  const details = [{ ...(first as object), ...lost }, ...others];
  const { message, type, nonRetryable, nextRetryDelay, cause } = failure;
  return ApplicationFailure.create({
    message,
    ...defined({ type: type ?? undefined, nonRetryable: nonRetryable ?? undefined }),
    ...defined({ nextRetryDelay: nextRetryDelay ?? undefined, cause }),
    details,
  });
}
