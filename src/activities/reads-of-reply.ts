/**
 * The reads that a model activity runs beside its reply, as a tool activity would run them. Their
 * activity is that of the model: it has the heartbeat, and its end is theirs.
 */
import { ApplicationFailure, Context } from '@temporalio/activity';
import { defined } from '../core/base/defined.ts';
import { sizesOf } from '../core/base/size-limits.ts';
import type { ModelOrder } from '../core/contract/host-order.ts';
import type { BesideRead, ToolOrder } from '../core/contract/outcome.ts';
import type { TranscriptView } from '../core/contract/transcript.ts';
import { callTopics } from '../core/streaming/topic-stream.ts';
import type { ChunkPublisher } from '../core/streaming/chunk-stream.ts';
import { HIDE_NOTHING, type HideText } from '../core/text/hide.ts';
import type { RegisteredAgent, Registry } from '../define/definition/definitions.ts';
import { NO_WATCH, type CallObserver } from '../telemetry/call-observer.ts';
import type { ToolPlaces } from '../tools/isolation.ts';
import { createReadsBeside, type ReadsBeside } from '../tools/reads-beside.ts';
import { runTool } from '../tools/run-tool.ts';
import type { ToolRun } from '../tools/tool-call.ts';
import type { ToolFigures } from '../tools/tool-figures.ts';
import { withFigures } from '../tools/watch-figures.ts';
import { isStoppedByService } from './heartbeat.ts';

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

/** The reads beside the reply that the current activity asks for. */
export function readsOfReply(
  parts: ReadsOfReplyParts,
  order: ModelOrder,
  { view, signal }: { readonly view: TranscriptView | null; readonly signal: AbortSignal },
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
export function lostReads(beside: ReadsBeside): { readonly lostReads?: readonly BesideRead[] } {
  const lost = beside.stop();
  return defined({ lostReads: lost.length === 0 ? undefined : lost });
}

/** The failure of a call, with what ran beside its reply. */
export function withLostReads(failure: Error, beside: ReadsBeside): Error {
  const lost = lostReads(beside);
  if (lost.lostReads === undefined || !(failure instanceof ApplicationFailure)) return failure;
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
