/**
 * Runs one attempt of a tool call. Knows nothing of Temporal: the tool activity and the memory host
 * use it. `read-outcome.ts` reads how it ended.
 *
 * I1  Arguments are checked before the tool runs, by the schema of the tool on this worker,
 *     and again after a middleware changed them.
 * I2  A `once` tool runs in the first attempt only.
 */
import { defined } from '../core/base/defined.ts';
import { canonicalJson, isJsonObject } from '../core/base/json.ts';
import { toJsonResult } from '../core/base/json-result.ts';
import { DEATHS_BEFORE_APART } from '../core/attempt/attempts.ts';
import type { ToolOrder } from '../core/contract/outcome.ts';
import { infoOf } from '../core/calls/run-info.ts';
import { redactedErrorText } from '../core/text/redact.ts';
import { busyText, unfitArgumentsText, unknownOutcomeText } from '../core/toolchain/call-texts.ts';
import type {
  IsolatedTool,
  RegisteredAgent,
  ToolContext,
} from '../define/definition/definitions.ts';
import { layered, type ToolMiddlewareCall } from '../define/definition/middleware.ts';
import { ANSWER_KEY } from '../define/tool/call-input.ts';
import { attempt, STOP_GRACE_MS } from './attempt.ts';
import { boundTool } from './bind-tool.ts';
import { asCaller } from './caller.ts';
import { fitValue } from './fit-value.ts';
import type { Isolation } from './isolation.ts';
import { lastOf } from './last-of.ts';
import { readAttempt, unfitArguments } from './read-outcome.ts';
import { reporter, type Reporter } from './reporter.ts';
import {
  ended,
  failed,
  triesOf,
  unstarted,
  type ToolAttempt,
  type ToolRun,
  type ToolRunOptions,
} from './tool-call.ts';

/** One attempt of the call; never rejects. */
export async function runTool(
  agent: RegisteredAgent,
  order: ToolOrder,
  options: ToolRunOptions,
): Promise<ToolRun> {
  const { mcp, isOnce = false } = options;
  const bound = await boundTool({ agent, mcp, isOnce }, order, options);
  if (bound.kind !== 'bound') return bound;
  const { tool } = bound;
  const work: ToolAttempt['work'] = (args, context) =>
    lastOf(tool.spec.name, tool.execute(args, context), context);
  const call: ToolAttempt = { agent, tool, order, options, work };
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
  call: ToolAttempt,
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
function targetOf({ agent, tool, order, options }: ToolAttempt): Target | null {
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
  call: ToolAttempt,
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
  const work: ToolAttempt['work'] =
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
async function execute(call: ToolAttempt, args: unknown): Promise<ToolRun> {
  const { tool, options } = call;
  const { order, agent } = call;
  const { prices } = agent;
  const { onEvent, run, hide } = options;
  const { reports, ...reporting } = reporter({ prices, onEvent, known: order, hide });
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
function runLayered(call: ToolAttempt, args: unknown, context: ToolContext): unknown {
  const { agent, tool, order, work } = call;
  const around = agent.definition.middleware?.tool ?? [];
  if (around.length === 0 || order.asks === true) return work(args, context);
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
    infoOf(order, call.options),
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

function toolContext(
  { order, options }: ToolAttempt,
  reporting: Omit<Reporter, 'reports'>,
  signal: AbortSignal,
): ToolContext {
  const { callId, runId, resume } = order;
  const response = resume?.responses[ANSWER_KEY];
  const answer = response?.action === 'accept' ? response.content : undefined;
  return {
    ...reporting,
    ...infoOf(order, options),
    ...defined({ answer, state: resume?.state }),
    signal,
    idempotencyKey: `${runId}/${callId}`,
    callId,
    attempt: triesOf(options),
  };
}
