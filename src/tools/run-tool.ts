/**
 * One attempt of a tool call. Knows nothing of Temporal: the tool activity and the memory host use
 * it.
 *
 * I1  Arguments are checked before the tool runs, by the schema of the tool on this worker,
 *     and again after a middleware changed them.
 * I2  A `once` tool runs in the first attempt only. When it may have taken effect, its outcome is
 *     `unknown` and never a failure.
 * I3  The result is JSON within the bounds of the tool, whatever the tool returned.
 */
import { defined } from '../core/base/defined.ts';
import { canonicalJson, isJsonObject, type Json, type JsonObject } from '../core/base/json.ts';
import type { ToolOrder, ToolResult } from '../core/contract/outcome.ts';
import {
  busyText,
  canceledCallText,
  notJsonText,
  toolErrorText,
  toolTimeoutText,
  unfitArgumentsText,
  unknownOutcomeText,
} from '../core/toolchain/call-texts.ts';
import { toJsonResult } from '../core/base/json-result.ts';
import { capForProgram, capOutput } from '../core/toolchain/result-text.ts';
import { measuringToolchain } from '../core/toolchain/toolchain-of.ts';
import { cut } from '../core/text/cut.ts';
import { isToolError } from '../core/base/tool-error.ts';
import { unreachable } from '../core/base/unreachable.ts';
import { INLINE_SIZES, type SizeLimits } from '../core/base/size-limits.ts';
import { isUsageError } from '../core/base/usage-error.ts';
import { asCaller } from './caller.ts';
import { DEATHS_BEFORE_APART } from '../core/contract/attempts.ts';
import { LostIsolateError, type Isolation, type ToolPlaces } from './isolation.ts';
import {
  attempt,
  STOP_GRACE_MS,
  type AttemptOutcome,
  type AttemptOptions,
  type Settled,
} from './attempt.ts';
import type {
  IsolatedTool,
  RegisteredAgent,
  ToolContext,
  ToolDefinition,
} from '../define/definition/definitions.ts';
import { isExternalReturn, MAX_DETAILS_BYTES, readExternal } from '../define/tool/external.ts';
import { fitValue } from './fit-value.ts';
import { layered, type ToolMiddlewareCall } from '../define/definition/middleware.ts';
import { redactedErrorText } from '../core/text/redact.ts';
import { reporter, type Reporter } from './reporter.ts';
import { isToolReturn, mediaSizeProblemsOf, type ToolReturn } from '../define/tool/tool-result.ts';

/** What an attempt needs besides the order. */
export interface ToolRunOptions extends AttemptOptions {
  /** The id of the run. */
  readonly run: string;
  /** The context of the run, for a tool that reads it. Default: none. */
  readonly context?: JsonObject | undefined;
  /** Attempts that ended because a worker was lost, beside `attempt`. Default 0. */
  readonly losses?: number;
  /** Those of the losses whose worker died: the call may have ended it. Default 0. */
  readonly deaths?: number;
  /** Whether the signal was aborted by a shutdown of the worker and not by a user. */
  readonly isShutdown?: () => boolean;
  /** Called with each event that the tool emits, at once. Must neither wait nor throw. */
  readonly onEvent?: (topic: string, data: Json) => void;
  /** Where isolated tools, and calls that may have ended many workers, run. Absent: here. */
  readonly places?: ToolPlaces;
  /** How large a result may be. Default: in a run without a blob store. */
  readonly sizes?: SizeLimits;
}

/** The result of an attempt: the call has a result, or must be retried. */
export type ToolRun =
  | { readonly kind: 'result'; readonly result: ToolResult }
  /** This worker lacks the tool; `what` names it in words. Nothing was begun. */
  | { readonly kind: 'not_here'; readonly what: string }
  /** The tool threw and has attempts left. */
  | { readonly kind: 'retry'; readonly message: string }
  /** The worker stops: the call is to be retried on another one. A `once` tool did not begin. */
  | { readonly kind: 'shutdown' };

/** One attempt of a call: order, agent, tool and options. */
interface Call {
  readonly agent: RegisteredAgent;
  readonly tool: ToolDefinition;
  readonly order: ToolOrder;
  readonly options: ToolRunOptions;
  /** The code of the tool, here or in a place of its own. */
  readonly work: (args: unknown, context: ToolContext) => unknown;
}

/** One attempt of the call; never rejects. */
export async function runTool(
  agent: RegisteredAgent,
  order: ToolOrder,
  options: ToolRunOptions,
): Promise<ToolRun> {
  const tool = agent.tools.get(order.tool);
  // A run keeps its specification during an upgrade, while this worker may lack the tool.
  if (tool === undefined) return { kind: 'not_here', what: `tool ${order.tool}` };
  const work: Call['work'] = (args, context) => tool.execute(args, context);
  const call: Call = { agent, tool, order, options, work };
  if (tool.spec.effect === 'once' && triesOf(options) > 1) {
    return ended(options, true, 'unknown', unknownOutcomeText(tool.spec.name));
  }
  if (options.signal.aborted) return unstarted(call);
  const checked = await checkArguments(call);
  if ('run' in checked) return checked.run;
  const target = targetOf(call);
  return target === null ? execute(call, checked.args) : executeIn(call, checked.args, target);
}

/** The checked arguments for `execute`, or what the model must correct. */
async function checkArguments(
  call: Call,
): Promise<{ readonly args: unknown } | { readonly run: ToolRun }> {
  const { tool, order, options } = call;
  const { parameters } = tool.spec;
  if (parameters === null) return { args: {} };
  try {
    const fit = await fitValue({ json: parameters, standard: tool.standard }, order.args);
    if (fit.kind === 'fits') return { args: fit.value };
    const text = unfitArgumentsText(tool.spec, fit.lines);
    return { run: ended(options, false, 'rejected', text) };
  } catch (error) {
    // The schema library itself threw: a bug in the schema, reported like an error of the tool.
    return { run: failed(call, redactedErrorText(error), false) };
  }
}

/** Where a call runs, other than here and at once. */
interface Target {
  readonly isolation: Isolation;
  /** Null: here, but only once a place is free. */
  readonly tool: IsolatedTool | null;
}

/**
 * Where the call runs; null: here. A call that many workers died with may have ended them, so its code
 * runs in a process, if there is a module that has it, and alone in any case.
 */
function targetOf({ agent, tool, order, options }: Call): Target | null {
  const { places, deaths = 0 } = options;
  if (places === undefined) return null;
  const { isolate } = tool;
  if (deaths < DEATHS_BEFORE_APART) {
    return isolate === undefined ? null : { isolation: places.isolation, tool: isolate };
  }
  const { isolation, agentsModule: module } = places.apart;
  if (isolate !== undefined) return { isolation, tool: { ...isolate, place: 'process' } };
  const { name } = agent.definition;
  if (module === undefined || !agent.definition.tools.includes(tool)) {
    return { isolation, tool: null };
  }
  const definedAs = { agent: name, tool: order.tool };
  return { isolation, tool: { place: 'process', module, heapMb: APART_HEAP_MB, definedAs } };
}

/** Heap of the process in which a call runs that may have ended many workers. */
const APART_HEAP_MB = 512;

/** Runs the tool once a place is free. */
async function executeIn(
  call: Call,
  args: unknown,
  { tool: isolated, isolation }: Target,
): Promise<ToolRun> {
  const { options, tool, order } = call;
  const { name, timeoutMs, effect } = tool.spec;
  const { gauges, isWithoutGauges } = order;
  const place = await isolation.enter(options.signal, timeoutMs);
  if (place === 'stopped') return unstarted(call);
  if (place === 'busy') return ended(options, false, 'error', busyText(name, timeoutMs));
  // As long as its result would still count; a late end of other calls changes nothing.
  const graceMs = (reason: unknown): number =>
    isTimeout(reason) && effect !== 'once' ? LATE_GRACE_MS : (options.graceMs ?? STOP_GRACE_MS);
  const work: Call['work'] =
    isolated === null
      ? call.work
      : (changed, context) =>
          place.run({
            name,
            tool: isolated,
            args: changed,
            context,
            known: defined({ gauges, isWithoutGauges }),
            graceMs,
          });
  try {
    return await execute({ ...call, work }, args);
  } finally {
    place.leave();
  }
}

/** How long isolated code may tidy up after its time is up, in ms. */
const LATE_GRACE_MS = 500;

function isTimeout(reason: unknown): boolean {
  return reason instanceof DOMException && reason.name === 'TimeoutError';
}

/** Runs the tool and reads the outcome. */
async function execute(call: Call, args: unknown): Promise<ToolRun> {
  const { tool, options } = call;
  const { order, agent } = call;
  const { prices } = agent;
  const { onEvent, run } = options;
  const { reports, ...reporting } = reporter({ prices, onEvent, known: order });
  const { callId } = order;
  const name = `tool ${tool.spec.name}`;
  const outcome = await attempt(
    (signal) =>
      asCaller({ name, run, callId }, () =>
        runLayered(call, args, toolContext(call, reporting, signal)),
      ),
    {
      signal: options.signal,
      timeoutMs: tool.spec.timeoutMs,
      // A little more time may tell whether a `once` tool took effect. Other calls are just late.
      graceAtDeadline: tool.spec.effect === 'once',
      ...defined({ graceMs: options.graceMs, onHeld: options.onHeld }),
    },
  );
  const ran = readAttempt(call, outcome);
  if (ran.kind !== 'result') return ran;
  return { kind: 'result', result: { ...ran.result, ...reports() } };
}

/** Runs the tool within the middleware of its agent, and checks arguments that it changed. */
function runLayered(call: Call, args: unknown, context: ToolContext): unknown {
  const { agent, tool, order, work } = call;
  const around = agent.definition.middleware?.tool ?? [];
  if (around.length === 0) return work(args, context);
  const asked = canonicalJson(order.args);
  const run = async (changed: ToolMiddlewareCall): Promise<unknown> => {
    const json = toJsonResult(changed.args);
    if (json.kind === 'not_json' || !isJsonObject(json.value)) {
      throw new Error(`a middleware of ${tool.spec.name} made arguments that are no JSON object`);
    }
    if (canonicalJson(json.value) === asked) return work(args, context);
    const checked = await checkArguments({ ...call, order: { ...order, args: json.value } });
    if ('run' in checked) throw unfitArguments(checked.run);
    return work(checked.args, context);
  };
  const { signal, idempotencyKey, callId, runId, agentPath, attempt: tries } = context;
  const { run: runAddress } = context;
  return layered(
    around,
    run,
  )({
    tool: order.tool,
    // A copy, since a middleware may change it in place.
    args: structuredClone(order.args),
    callId,
    idempotencyKey,
    run: runAddress,
    runId,
    agentPath,
    attempt: tries,
    signal,
  });
}

/**
 * Thrown to the middleware that changed the arguments; it may catch this and give another result.
 */
function unfitArguments(run: ToolRun): Error {
  const error = new Error('The changed arguments do not fit.');
  return Object.assign(error, { name: 'UnfitArguments', run });
}

function unfitRun(error: unknown): ToolRun | undefined {
  if (!(error instanceof Error) || error.name !== 'UnfitArguments') return undefined;
  return (error as { readonly run?: ToolRun }).run;
}

function toolContext(
  { order, options }: Call,
  reporting: Omit<Reporter, 'reports'>,
  signal: AbortSignal,
): ToolContext {
  const { callId, runId, agentPath, conversation } = order;
  const { run, context } = options;
  return {
    ...reporting,
    signal,
    idempotencyKey: `${runId}/${callId}`,
    callId,
    run,
    runId,
    ...defined({ conversation, context }),
    agentPath,
    attempt: triesOf(options),
  };
}

/** How often the code of the tool may have begun, this time included. */
function triesOf({ attempt: attempts, losses = 0 }: ToolRunOptions): number {
  return attempts + losses;
}

function readAttempt(call: Call, outcome: AttemptOutcome): ToolRun {
  switch (outcome.kind) {
    case 'returned':
      return readReturn(call, outcome.value);
    case 'threw':
      return readThrow(call, outcome.error);
    case 'timed_out':
    case 'stopped':
      return readCutOff(call, outcome);
    case 'unstarted':
      return unstarted(call);
    default:
      return unreachable(outcome);
  }
}

function readThrow(call: Call, error: unknown): ToolRun {
  const unfit = unfitRun(error);
  if (unfit !== undefined) return unfit;
  if (isToolError(error) || isUsageError(error)) {
    return ended(call.options, true, 'error', toolErrorText(error.message));
  }
  const { name, effect } = call.tool.spec;
  const isLost = error instanceof LostIsolateError;
  const started = !isLost || error.started;
  if (isLost && started && effect === 'once') {
    return ended(call.options, true, 'unknown', unknownOutcomeText(name));
  }
  return failed(call, redactedErrorText(error), started);
}

/** The tool timed out or was stopped. A result within the grace time counts. */
function readCutOff(
  call: Call,
  outcome: { readonly kind: 'timed_out' | 'stopped'; readonly late?: Settled },
): ToolRun {
  const { tool, options } = call;
  const { name, effect, timeoutMs } = tool.spec;
  const timedOut = outcome.kind === 'timed_out';
  // A tool that finished has taken effect. Reporting it as canceled would invite a second call.
  const finished = outcome.late?.kind === 'returned' && (!timedOut || effect === 'once');
  if (finished && outcome.late?.kind === 'returned') {
    return readReturn(call, outcome.late.value);
  }
  const isShutdown = !timedOut && options.isShutdown?.() === true;
  // After a cancel, a tool that threw has stopped; one that still runs may yet take effect.
  const mayTakeEffect = timedOut || isShutdown || outcome.late === undefined;
  if (effect === 'once' && mayTakeEffect) {
    return ended(options, true, 'unknown', unknownOutcomeText(name));
  }
  if (isShutdown) return { kind: 'shutdown' };
  return timedOut
    ? ended(options, true, 'error', toolTimeoutText(name, timeoutMs))
    : ended(options, true, 'canceled', canceledCallText);
}

/** Stopped before the tool began. */
function unstarted({ options }: Call): ToolRun {
  if (options.isShutdown?.() === true) return { kind: 'shutdown' };
  return ended(options, false, 'canceled', canceledCallText);
}

/** The result as JSON within its bounds. */
function readReturn({ agent, tool, order, options }: Call, value: unknown): ToolRun {
  const { name } = tool.spec;
  const { sizes = INLINE_SIZES } = options;
  const maxResultBytes = Math.min(tool.spec.maxResultBytes, sizes.result);
  if (isExternalReturn(value)) {
    const read = readExternal(value);
    if (read.kind === 'not_json') {
      return ended(options, true, 'error', notJsonText(name, read.path, read.type));
    }
    if (read.kind === 'too_large') {
      const message = `the details of its outside work have ${read.bytes} bytes, at most ${MAX_DETAILS_BYTES} are allowed`;
      return ended(options, true, 'error', toolErrorText(message));
    }
    const { attempt: attempts } = options;
    const result = { outcome: 'ok', external: read.work, attempts, started: true } as const;
    return { kind: 'result', result };
  }
  const returned: ToolReturn = isToolReturn(value) ? value : { output: value };
  const read = toJsonResult(returned.output);
  if (read.kind === 'not_json') {
    return ended(options, true, 'error', notJsonText(name, read.path, read.type));
  }
  const capped =
    order.inProgram === true
      ? capForProgram(name, read.value, maxResultBytes)
      : capOutput(read.value, maxResultBytes, measuringToolchain(agent.definition.spec.toolchain));
  const { media, instructions, importance } = returned;
  const [tooLarge] = mediaSizeProblemsOf(media ?? [], sizes.media);
  if (tooLarge !== undefined) return ended(options, true, 'error', toolErrorText(tooLarge.message));
  const result: ToolResult = {
    outcome: 'ok',
    ...capped,
    ...defined({
      media: media?.length === 0 ? undefined : media,
      instructions: instructions === undefined ? undefined : cut(instructions, maxResultBytes),
      importance,
    }),
    attempts: options.attempt,
    started: true,
  };
  return { kind: 'result', result };
}

/** A failure that may pass: retried while there are attempts left, then reported to the model. */
function failed({ tool, options }: Call, message: string, started: boolean): ToolRun {
  if (options.attempt < tool.spec.retry.attempts) return { kind: 'retry', message };
  return ended(options, started, 'error', toolErrorText(message));
}

function ended(
  options: ToolRunOptions,
  started: boolean,
  outcome: Exclude<ToolResult['outcome'], 'ok'>,
  error: string,
): ToolRun {
  return { kind: 'result', result: { outcome, error, attempts: options.attempt, started } };
}
