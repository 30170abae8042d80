/**
 * What the end of an attempt means for its call: a result, another attempt, or an outcome that is not
 * known.
 *
 * I1  A `once` tool that may have taken effect has the outcome `unknown`, never a failure.
 * I2  The result is JSON within the bounds of the tool, whatever the tool returned.
 * I3  What a tool returns or throws may itself throw when it is read: a getter, a proxy. That is an
 *     error of the tool.
 */
import { isBlocked } from '../core/base/blocked.ts';
import { defined } from '../core/base/defined.ts';
import { toJsonResult } from '../core/base/json-result.ts';
import { isToolError } from '../core/base/tool-error.ts';
import { unreachable } from '../core/base/unreachable.ts';
import { INLINE_SIZES } from '../core/base/size-limits.ts';
import { isUsageError } from '../core/base/usage-error.ts';
import { byteSize } from '../core/base/json.ts';
import type { CallInput } from '../core/contract/call-input.ts';
import type { ToolOrder, ToolResult } from '../core/contract/outcome.ts';
import { cut } from '../core/text/cut.ts';
import { hideIn, HIDE_NOTHING } from '../core/text/hide.ts';
import { redactedErrorText } from '../core/text/redact.ts';
import { shown } from '../core/text/shown.ts';
import {
  canceledCallText,
  notJsonText,
  toolErrorText,
  toolTimeoutText,
  unknownOutcomeText,
} from '../core/toolchain/call-texts.ts';
import { capForProgram, capOutput } from '../core/toolchain/result-text.ts';
import { measuringToolchain } from '../core/toolchain/toolchain-of.ts';
import { isExternalReturn, MAX_DETAILS_BYTES, readExternal } from '../define/tool/external.ts';
import { isCallInput } from '../define/tool/call-input.ts';
import { isNotSent, type NotSentError } from '../define/mcp/not-sent.ts';
import { isToolReturn, mediaSizeProblemsOf, type ToolReturn } from '../define/tool/tool-result.ts';
import type { AttemptOutcome, Settled } from './attempt.ts';
import { LostIsolateError } from './isolation.ts';
import {
  ended,
  failed,
  unstarted,
  type ToolAttempt,
  type ToolRun,
  type ToolRunOptions,
} from './tool-call.ts';

/** Reads how an attempt ended. */
export function readAttempt(call: ToolAttempt, outcome: AttemptOutcome): ToolRun {
  const run = readEnd(call, outcome);
  const { hide = HIDE_NOTHING } = call.options;
  if (run.kind === 'retry') return { ...run, message: hide(run.message) };
  if (run.kind !== 'result' || run.result.error === undefined) return run;
  return { ...run, result: { ...run.result, error: hide(run.result.error) } };
}

function readEnd(call: ToolAttempt, outcome: AttemptOutcome): ToolRun {
  switch (outcome.kind) {
    case 'returned':
      return readReturn(call, outcome.value);
    case 'threw':
      return readable(
        () => readThrow(call, outcome.error),
        () => failed(call, 'it threw what cannot be read', true),
      );
    case 'timed_out':
    case 'stopped':
      return readCutOff(call, outcome);
    case 'unstarted':
      return unstarted(call);
    default:
      return unreachable(outcome);
  }
}

/** What `read` gives, or `otherwise` if the value of the tool throws meanwhile. */
function readable<Read>(read: () => Read, otherwise: () => Read): Read {
  try {
    return read();
  } catch {
    return otherwise();
  }
}

function readThrow(call: ToolAttempt, error: unknown): ToolRun {
  const unfit = unfitRun(error);
  if (unfit !== undefined) return unfit;
  if (isToolError(error) || isUsageError(error) || isBlocked(error)) {
    return ended(call.options, true, 'error', toolErrorText(error.message));
  }
  // The request never left, so even `once` may say that it did not start.
  if (isNotSent(error)) return readNotSent(call, error);
  const { name, effect } = call.tool.spec;
  const isLost = error instanceof LostIsolateError;
  const started = !isLost || error.started;
  if (isLost && started && effect === 'once') {
    return ended(call.options, true, 'unknown', unknownOutcomeText(name));
  }
  return failed(call, redactedErrorText(error, call.options.hide), started);
}

function readNotSent(call: ToolAttempt, error: NotSentError): ToolRun {
  const { what } = error;
  if (what !== undefined) return { kind: 'not_here', what };
  return failed(call, redactedErrorText(error, call.options.hide), false);
}

/** The tool timed out or was stopped. A result within the grace time counts. */
function readCutOff(
  call: ToolAttempt,
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
  const { late } = outcome;
  const notSent = (error: unknown): boolean =>
    readable(
      () => isNotSent(error),
      () => false,
    );
  if (late?.kind === 'threw' && notSent(late.error)) {
    const isStopped = options.isShutdown?.() === true && !timedOut;
    if (isStopped) return { kind: 'shutdown' };
    return timedOut
      ? ended(options, false, 'error', toolTimeoutText(name, timeoutMs))
      : ended(options, false, 'canceled', canceledCallText);
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

/** The result as JSON within its bounds. */
function readReturn(call: ToolAttempt, value: unknown): ToolRun {
  const { tool, options } = call;
  const text = notJsonText(tool.spec.name, '(value)', 'what throws when it is read');
  return readable(
    () => readValue(call, value),
    () => ended(options, true, 'error', text),
  );
}

function readValue({ agent, tool, order, options }: ToolAttempt, value: unknown): ToolRun {
  const { name } = tool.spec;
  const { sizes = INLINE_SIZES, hide = HIDE_NOTHING } = options;
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
    const external = hideIn(read.work, hide);
    const result = { outcome: 'ok', external, attempts, started: true } as const;
    return { kind: 'result', result };
  }
  if (isCallInput(value)) return readInput(options, order, value);
  if (order.asks === true) return readNoQuestion(name, options, value);
  const returned: ToolReturn = isToolReturn(value) ? value : { output: value };
  const read = toJsonResult(returned.output);
  if (read.kind === 'not_json') {
    return ended(options, true, 'error', notJsonText(name, read.path, read.type));
  }
  const toolchain = measuringToolchain(agent.definition.spec.toolchain);
  // Before it is cut: a cut in the middle of a value would leave its beginning.
  const output = read.value === undefined ? undefined : hideIn(read.value, hide);
  const capped =
    order.inProgram === true
      ? capForProgram(name, output, maxResultBytes)
      : capOutput(output, maxResultBytes, toolchain);
  const { media, instructions, importance, final } = returned;
  const written = toJsonResult(returned.forModel);
  if (written.kind === 'not_json') {
    const path = `forModel ${written.path}`;
    return ended(options, true, 'error', notJsonText(name, path, written.type));
  }
  const forModel = written.value && hideIn(written.value, hide);
  const [tooLarge] = mediaSizeProblemsOf(media ?? [], sizes.media);
  if (tooLarge !== undefined) return ended(options, true, 'error', toolErrorText(tooLarge.message));
  const result: ToolResult = {
    outcome: 'ok',
    ...capped,
    ...defined({
      media: media?.length === 0 ? undefined : media,
      instructions:
        instructions === undefined ? undefined : cut(hide(instructions), maxResultBytes),
      importance,
      forModel: capOutput(forModel, maxResultBytes, toolchain).output,
      final,
    }),
    attempts: options.attempt,
    started: true,
  };
  return { kind: 'result', result };
}

/** UTF-8 bytes of the questions of a call, and of the note of its tool: the state of the run has both. */
const MAX_INPUT_BYTES = 65_536;

/** What a tool or its server asks, as data within its bounds. */
function readInput(options: ToolRunOptions, { mcp, tool }: ToolOrder, asked: CallInput): ToolRun {
  const who = mcp === undefined ? tool : `the server ${mcp.server}`;
  const read = toJsonResult(asked);
  if (read.kind === 'not_json' || read.value === undefined) {
    return ended(options, true, 'error', toolErrorText(`${who} asked with what is no JSON`));
  }
  const { hide = HIDE_NOTHING, attempt: attempts } = options;
  const { requests, state, timeoutMs } = read.value as unknown as CallInput;
  const visible = hideIn(requests, hide);
  // The note of a server goes back to it as it came: only what people and this run read is changed.
  const note = state === undefined || mcp !== undefined ? state : hideIn(state, hide);
  const input: CallInput = { requests: visible, ...defined({ state: note, timeoutMs }) };
  const bytes = Math.max(byteSize(visible), note === undefined ? 0 : byteSize(note));
  if (bytes > MAX_INPUT_BYTES) {
    const message = `${who} asked with ${bytes} bytes, at most ${MAX_INPUT_BYTES} are allowed`;
    return ended(options, true, 'error', toolErrorText(message));
  }
  // A server has had its request. A tool that asks says that it has not begun.
  const started = mcp !== undefined;
  return { kind: 'result', result: { outcome: 'ok', input, attempts, started } };
}

/** The end of a function that only says what a tool has to ask. */
function readNoQuestion(tool: string, options: ToolRunOptions, value: unknown): ToolRun {
  if (value === undefined) {
    const { attempt: attempts } = options;
    return { kind: 'result', result: { outcome: 'ok', attempts, started: false } };
  }
  const message = `\`asks\` of ${tool} returns \`ask(…)\` or nothing, got ${shown(value)}`;
  return ended(options, false, 'error', toolErrorText(message));
}

/**
 * Thrown to the middleware that changed the arguments; it may catch this and give another result.
 */
export function unfitArguments(run: ToolRun): Error {
  const error = new Error('The changed arguments do not fit.');
  return Object.assign(error, { name: 'UnfitArguments', run });
}

function unfitRun(error: unknown): ToolRun | undefined {
  if (!(error instanceof Error) || error.name !== 'UnfitArguments') return undefined;
  return (error as { readonly run?: ToolRun }).run;
}
