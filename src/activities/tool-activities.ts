/** The activities that load agents, run tools and judge answers, and their failures. */
import { setTimeout } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { defined } from '../core/base/defined.ts';
import { nearestName } from '../core/text/nearest.ts';
import { unreachable } from '../core/base/unreachable.ts';
import type { RegisteredAgent, Registry } from '../define/definition/definitions.ts';
import type { ToolOrder, ToolResult } from '../core/contract/outcome.ts';
import { canceledCallText, unknownOutcomeText } from '../core/toolchain/call-texts.ts';
import type {
  ActivityRuntime,
  EverloopActivities,
  NoAgentDetails,
  HeartbeatDetails,
} from './activity-types.ts';
import { beginOnce, hasBegun } from './begin-once.ts';
import {
  agentNotHere,
  attemptFailed,
  notHere,
  operatorNeeded,
  retryable,
  stoppedBeforeOnce,
  workerShutdown,
} from './failures.ts';
import { NO_TENANTS, type TenantPort } from './tenant-activities.ts';
import type { AgentInput } from '../core/contract/input.ts';
import { foreignIdProblem } from '../core/tenant/tenant.ts';
import { deathsAllowed } from '../core/attempt/attempts.ts';
import { heldText, tellHeld } from './held-worker.ts';
import type { HeardCancels } from './heard-cancels.ts';
import { withHeartbeat, isStoppedByService } from './heartbeat.ts';
import { checkLocalResult, checkLocalTry } from './local-try.ts';
import { endsWithAttempt, triesOf } from './tries.ts';
import type { ChunkPublisher } from '../core/streaming/chunk-stream.ts';
import { callTopics } from '../core/streaming/topic-stream.ts';
import type { ContextSource } from './run-context.ts';
import type { ToolPlaces } from '../tools/isolation.ts';
import { NO_WATCH, type CallObserver } from '../telemetry/call-observer.ts';
import type { McpProgress, McpTools } from '../define/mcp/mcp-tools.ts';
import { listedTools } from '../registry/listed-tools.ts';
import { boundTool } from '../tools/bind-tool.ts';
import { runTool } from '../tools/run-tool.ts';
import { createToolFigures, type ToolFigures } from '../tools/tool-figures.ts';
import { withFigures } from '../tools/watch-figures.ts';
import type { ToolRun, ToolRunOptions } from '../tools/tool-call.ts';
import { runJudge } from '../tools/run-judge.ts';
import { checkLiterals, checkProgramLiterals } from '../tools/check-literals.ts';
import { HIDE_NOTHING, type HideText } from '../core/text/hide.ts';
import { redactedErrorText } from '../core/text/redact.ts';
import { isApprovalNeeded } from '../tools/needs-approval.ts';
import { sizesOf } from '../core/base/size-limits.ts';
import { loadAgent } from '../registry/load-agent.ts';
import { keyRefusal } from '../registry/required-keys.ts';
import { ApplicationFailure } from '@temporalio/common';

/** What tool activities need; all of it lives as long as the worker. */
export interface ToolActivityParts {
  readonly registry: Registry;
  readonly places: ToolPlaces;
  readonly readContext: ContextSource;
  /** The servers that this worker reaches. Default: none. */
  readonly mcp?: McpTools | undefined;
  readonly chunks?: ChunkPublisher;
  /** Watches the calls. Default: nothing does. */
  readonly watch?: CallObserver;
  /** Whether this worker has a blob store; default false. */
  readonly hasBlobs?: boolean;
  /** Takes values out of results; default: nothing does. */
  readonly hide?: HideText;
  /** How quick the tools of this worker are. Default: the calls are not noted. */
  readonly figures?: ToolFigures;
  /** Cancels that workflows of this process tell; default: none. */
  readonly cancels?: HeardCancels;
}

/**
 * The activity `callTool`. Returns the outcome of the call, canceled ones included. Throws only
 * when the service should retry, that is, while the tool's retry policy has attempts left.
 */
export function callToolActivity(parts: ToolActivityParts): EverloopActivities['callTool'] {
  return async (order) => {
    const agent = agentOf(parts.registry, order.agent);
    checkLocalTry(agent, order);
    const { attempt, losses, givenBack, added } = triesOf(order);
    const deaths = losses - givenBack;
    if (endsWithAttempt(order) && deaths >= deathsAllowed(order)) throw operatorNeeded(order);
    const details: HeartbeatDetails = {
      attempts: attempt,
      ...defined({ givenBack: added.givenBack }),
    };
    const tries = { attempt, losses, deaths };
    const run = await runWatched(parts, { agent, order, details, tries });
    checkLocalResult(order, run);
    if (run.kind === 'shutdown') noteGivenBack(details);
    return { ...resultOf(order, run), ...defined({ losses: added.losses }) };
  };
}

/**
 * The activity `callToolOnce`: as `callTool`, but the service knows that the tool begins before it
 * does. So a loss before that is tried again, and nothing runs twice.
 */
export function callToolOnceActivity(parts: ToolActivityParts): EverloopActivities['callToolOnce'] {
  return async (order) => {
    const agent = agentOf(parts.registry, order.agent);
    await checkTool(parts, agent, order);
    const { added } = triesOf(order);
    const lost = defined({ losses: added.losses });
    if (hasBegun()) {
      const error = unknownOutcomeText(order.tool);
      return { outcome: 'unknown', error, attempts: 1, started: true, ...lost };
    }
    const details: HeartbeatDetails = { attempts: 1, began: true };
    switch (await beginOnce(details)) {
      case 'gone':
        throw workerShutdown();
      case 'canceled':
        return { outcome: 'canceled', error: canceledCallText, attempts: 0, started: false };
      case 'began': {
        const tries = { attempt: 1, isOnce: true };
        const run = await runWatched(parts, { agent, order, details, tries });
        if (run.kind === 'shutdown') throw stoppedBeforeOnce();
        return { ...resultOf(order, run), ...lost };
      }
    }
  };
}

/** Throws `not_here` for a tool that this worker lacks, or whose server it cannot reach. */
async function checkTool(
  { mcp }: ToolActivityParts,
  agent: RegisteredAgent,
  order: ToolOrder,
): Promise<void> {
  const { info, cancellationSignal: signal } = Context.current();
  const bound = boundTool({ agent, mcp, isOnce: true }, order, { attempt: 1, signal });
  // No heartbeat is sent before the mark. The connection goes on, for the next worker that asks.
  const late = setTimeout((info.heartbeatTimeoutMs ?? Infinity) * CONNECT_PART, undefined, {
    ref: false,
  });
  const found = await Promise.race([bound, late]);
  if (found?.kind === 'bound' || found?.kind === 'result') return;
  const what = order.mcp === undefined ? `tool ${order.tool}` : `MCP server ${order.mcp.server}`;
  throw toolNotHere(order, what);
}

/** The part of the time of a heartbeat in which a server must be reached. */
const CONNECT_PART = 0.7;

/**
 * Tells the next attempt of this activity, if the service makes it, that this one was given back and
 * did not end its worker. The SDK sends what is last noted before the attempt ends.
 */
function noteGivenBack(details: HeartbeatDetails): void {
  Context.current().heartbeat({ ...details, givenBack: (details.givenBack ?? 0) + 1 });
}

/**
 * Runs an attempt with heartbeats. If they could not be sent, run and log are told that the worker
 * was held.
 */
function runWatched(
  parts: ToolActivityParts,
  { agent, order, details, tries }: WatchedRun,
): Promise<ToolRun> {
  const { log, info } = Context.current();
  let heldMs = 0;
  const onHeld = (ms: number): void => {
    heldMs = ms;
  };
  const onLate = async (lateMs: number): Promise<void> => {
    if (!(await tellHeld(order.callId, details, lateMs))) return;
    log.warn(heldText(order.tool, { lateMs, isOwn: heldMs > lateMs / 2 }));
  };
  const { places, mcp, chunks, hasBlobs = false, hide = HIDE_NOTHING, cancels } = parts;
  const { figures = createToolFigures() } = parts;
  const sizes = sizesOf({ blobs: hasBlobs && order.blobs === true });
  const { rootRunId = order.runId, runId, agentPath, callId } = order;
  const { attempt, losses = 0 } = tries;
  const origin = { rootRunId, runId, agentPath, callId, attempt: attempt + losses };
  const onEvent = chunks === undefined ? undefined : callTopics(chunks, origin);
  let reported: McpProgress | undefined;
  const onProgress = (progress: McpProgress): void => {
    reported = progress;
  };
  const watched = defined({ onEvent, isShutdown: isStoppedByService, onHeld, onProgress });
  const run = info.workflowExecution?.workflowId ?? '';
  const options = { ...tries, ...watched, places, mcp, run, sizes, hide };
  const runOnce = async (signal: AbortSignal, traceparent?: string): Promise<ToolRun> => {
    try {
      const context = await contextOf(parts, order);
      const traced = { ...options, signal, context, ...defined({ traceparent }) };
      return await withFigures(figures, agent, order, () => runTool(agent, order, traced));
    } catch (error) {
      // `runTool` never rejects. Nothing was begun, so the call is given back.
      log.warn(`The context for ${order.tool} could not be read: ${redactedErrorText(error)}`);
      return { kind: 'shutdown' };
    }
  };
  const { watch = NO_WATCH } = parts;
  const more = (): object => reported ?? {};
  return withHeartbeat(
    ({ signal }) => watch.tool(order, (traceparent) => runOnce(signal, traceparent)),
    { details, more, onLate, ...defined({ cancels }), abortId: callId },
  );
}

/** One attempt that is watched. */
interface WatchedRun {
  readonly agent: RegisteredAgent;
  readonly order: ToolOrder;
  readonly details: HeartbeatDetails;
  readonly tries: Pick<ToolRunOptions, 'attempt' | 'losses' | 'deaths' | 'isOnce'>;
}

/** The context that the order says its tool reads; rejects while the run does not answer. */
async function contextOf(
  { readContext }: ToolActivityParts,
  { readsContext }: ToolOrder,
): Promise<ToolRunOptions['context']> {
  return readsContext === true ? readContext() : undefined;
}

function resultOf(order: ToolOrder, run: ToolRun): ToolResult {
  switch (run.kind) {
    case 'result':
      return run.result;
    case 'not_here':
      throw toolNotHere(order, run.what);
    case 'retry':
      throw attemptFailed(order, 'tool_failed', run.message);
    case 'shutdown':
      throw workerShutdown();
    default:
      return unreachable(run);
  }
}

/**
 * The activity `judgeAnswer`. An error of a validator fails the attempt with `validator_failed`,
 * which is retried; when canceled, it ends as canceled.
 */
export function judgeAnswerActivity(
  registry: Registry,
  {
    hide = HIDE_NOTHING,
    cancels,
    readContext,
  }: Pick<ToolActivityParts, 'hide' | 'cancels'> &
    Partial<Pick<ToolActivityParts, 'readContext'>> = {},
): EverloopActivities['judgeAnswer'] {
  return async (order) => {
    const agent = agentOf(registry, order.agent);
    const context = Context.current();
    const { attempt } = triesOf(order);
    const run = context.info.workflowExecution?.workflowId ?? '';
    const judged = await withHeartbeat(
      async ({ signal }) => {
        const ended = await runJudge(agent, order, {
          attempt,
          signal,
          run,
          hide,
          ...defined({ readContext }),
        });
        // A judgement ends as canceled, which the service must have asked for.
        if (ended.kind === 'stopped') await untilCanceled(context);
        return ended;
      },
      { details: { attempts: attempt }, ...defined({ cancels }), abortId: undefined },
    );
    switch (judged.kind) {
      case 'judged':
        return judged.result;
      case 'not_here':
        throw notHere({ what: judged.what, agent: order.agent }, judged.message);
      case 'threw':
        throw attemptFailed(order, 'validator_failed', judged.message);
      case 'stopped':
        if (isStoppedByService()) throw workerShutdown();
        return context.cancelled;
      default:
        return unreachable(judged);
    }
  };
}

/** Beats until the service tells the cancel that this process has heard before it. */
async function untilCanceled(context: Context): Promise<void> {
  while (!context.cancellationSignal.aborted) {
    context.heartbeat({ attempts: 1 });
    await setTimeout(CONFIRM_MS);
  }
}

/** The workflow task that decided a cancel ends within milliseconds. */
const CONFIRM_MS = 50;

/** The local activity `checkLiterals`. */
export function checkLiteralsActivity(registry: Registry): EverloopActivities['checkLiterals'] {
  return async (order) => {
    const agent = agentOf(registry, order.agent);
    const verdicts = await unlessCanceled(() => checkLiterals(agent, order));
    return [...verdicts, ...checkProgramLiterals(agent, order.literals)];
  };
}

/**
 * Ends a check as canceled at once, since its functions get no signal. When the worker stops, the
 * check may finish: a local activity cannot move to another worker.
 */
async function unlessCanceled<Result>(check: () => Promise<Result>): Promise<Result> {
  const { cancelled } = Context.current();
  const checked = check();
  const canceled = cancelled.catch((error: unknown) => {
    if (isStoppedByService()) return checked;
    throw error;
  });
  return Promise.race([checked, canceled]);
}

/** The local activity `needsApproval`; it is retried when the function throws. */
export function needsApprovalActivity(
  registry: Registry,
  mcp?: McpTools,
): EverloopActivities['needsApproval'] {
  return async (order) => {
    const agent = agentOf(registry, order.agent);
    const { cancellationSignal: signal } = Context.current();
    const bound = await boundTool({ agent, mcp, isOnce: false }, order, { attempt: 1, signal });
    // The server lacks the tool now. It may have it again by the call, which binds anew.
    if (bound.kind === 'result') return true;
    if (bound.kind !== 'bound') throw toolNotHere(order, `tool ${order.tool}`);
    return unlessCanceled(async () => {
      try {
        const run = Context.current().info.workflowExecution?.workflowId ?? '';
        return await isApprovalNeeded(bound.tool, order, run);
      } catch (error) {
        throw retryable('tool_failed', redactedErrorText(error));
      }
    });
  };
}

/**
 * The activity `loadAgent`. When the run cannot begin, it fails with the type `agent_not_found`,
 * `extension_not_found`, `mcp_unavailable` or `invalid_input`. As a local activity it asks this worker only. As a
 * regular one it is retried while workers lack the agent.
 */
export function loadAgentActivity(
  registry: Registry,
  runtime: ActivityRuntime,
  { mcp, tenants = NO_TENANTS }: { readonly mcp?: McpTools; readonly tenants?: TenantPort } = {},
): EverloopActivities['loadAgent'] {
  return async (input) => {
    const definition = registry.agents.get(input?.agent)?.definition;
    const listing = await listedTools(definition?.servers, mcp);
    refuseForeignId(input);
    const outcome = loadAgent(registry, input, sizesOf(runtime), listing);
    const waitMs = definition?.elsewhereMs ?? runtime.elsewhereMs;
    if (outcome.kind === 'loaded') {
      const { agent } = outcome;
      // Where a run waits for other workers, one of them may have a key.
      const refused = agent.refusal !== undefined || input.parent !== undefined;
      const awaitsTurn =
        input.tenant === undefined || refused ? false : await tenants.hasLedger(input.tenant);
      const keyless = waitMs === 0 ? await keyRefusal(registry, agent.spec) : undefined;
      return {
        ...agent,
        ...defined({
          awaitsTurn: awaitsTurn || undefined,
          refusal: agent.refusal ?? keyless,
        }),
        runtime: defined({ ...runtime, elsewhereMs: waitMs }),
      };
    }
    const { code: type, message, what } = outcome;
    if (type === 'invalid_input') {
      throw ApplicationFailure.create({ type, message, nonRetryable: true });
    }
    const { agent, parent } = input;
    const details: NoAgentDetails = defined({
      elsewhereMs: parent?.elsewhereMs === undefined ? waitMs : parent.elsewhereMs,
      near: what === undefined ? nearestName(agent, [...registry.agents.keys()]) : undefined,
      what,
    });
    const nonRetryable = Context.current().info.isLocal;
    throw ApplicationFailure.create({ type, message, nonRetryable, details: [details] });
  };
}

/** Any client may start a workflow, under any id. */
function refuseForeignId(input: AgentInput | undefined): void {
  const { workflowExecution } = Context.current().info;
  const message = foreignIdProblem(input?.tenant, workflowExecution?.workflowId ?? '');
  if (message === undefined) return;
  throw ApplicationFailure.create({ type: 'invalid_input', message, nonRetryable: true });
}

/** The agent of a run. If this worker lacks it, another worker may have it. */
function agentOf(registry: Registry, name: string): RegisteredAgent {
  const agent = registry.agents.get(name);
  if (agent !== undefined) return agent;
  throw agentNotHere(name);
}

function toolNotHere({ agent, tool }: ToolOrder, what: string): ApplicationFailure {
  return notHere({ what, agent }, `this worker has no tool ${tool} for agent ${agent}`);
}
