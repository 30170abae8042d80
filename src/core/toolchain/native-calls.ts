/**
 * Native tool calls of a provider. Every call in a transcript needs a result, so a batch that
 * cannot be read keeps all its calls, with an answer for each.
 */
import { defined } from '../base/defined.ts';
import type { ToolSpec } from '../contract/spec.ts';
import type { Json, JsonObject } from '../base/json.ts';
import type { ToolCall, ToolCallPart } from '../base/message.ts';
import type { NativeCall } from '../contract/model.ts';
import type { ReplyProblem } from '../base/problem.ts';
import { readLoosely } from '../section/loose-json.ts';
import { cut } from '../text/cut.ts';
import { argsOf, callIdAt, callWithoutTool, tooManyCalls } from './call-reading.ts';
import type { CallContext, Toolchain } from './toolchain.ts';

/** UTF-8 bytes of unreadable arguments that a transcript keeps. */
const maxRawArgsBytes = 8 * 1024;

/** The answer to a good call in a reply in which another call cannot be read. */
export const batchNotRunText =
  'Error: not run, because another call in this reply could not be read.';

/** The native calls of a reply; `parts` go to the transcript in either case. */
export type NativeReading =
  | {
      readonly kind: 'calls';
      readonly calls: readonly ToolCall[];
      readonly parts: readonly ToolCallPart[];
    }
  | {
      readonly kind: 'problems';
      /** All problems, in the order of the calls. */
      readonly problems: readonly ReplyProblem[];
      readonly parts: readonly ToolCallPart[];
      /** The answer to each part. */
      readonly answers: readonly string[];
      /** Whether the arguments of a call could not be read as JSON. */
      readonly isUnreadable: boolean;
    };

/** The toolchain of native calls: nothing is written in sections. */
export function nativeToolchain(): Toolchain {
  return {
    guidance: () => '',
    readCalls: () => ({ kind: 'none' }),
    write: (value) => JSON.stringify(value),
    writeParameters: (schema) => ` ${JSON.stringify(schema)}`,
  };
}

/** The name of a tool as providers accept it: `_` for `-`. */
export function nativeName(name: string): string {
  return name.replaceAll('-', '_');
}

/** Reads the calls of one reply, at least one. Text in `args` is read as JSON. Never throws. */
export function readNativeCalls(calls: readonly NativeCall[], context: CallContext): NativeReading {
  const seen = new Set<string>();
  const readings = calls.map((call, position) => readCall(call, position + 1, context, seen));
  const parts = readings.map((reading) => reading.part);
  const max = context.maxCallsPerTurn;
  if (calls.length > max) {
    const problem = tooManyCalls(calls.length, max);
    const answers = parts.map(() => `Error: ${problem.message}.`);
    return { kind: 'problems', problems: [problem], parts, answers, isUnreadable: false };
  }
  const problems = readings.flatMap(({ problem }) => (problem === undefined ? [] : [problem]));
  if (problems.length === 0) {
    return { kind: 'calls', calls: readings.map((reading) => reading.call), parts };
  }
  return {
    kind: 'problems',
    problems,
    parts,
    answers: readings.map(({ problem }) =>
      problem === undefined ? batchNotRunText : `Error: ${problem.message}`,
    ),
    isUnreadable: readings.some((reading) => reading.isUnreadable),
  };
}

interface ReadArgs {
  readonly args: JsonObject;
  readonly problem: ReplyProblem | undefined;
  readonly isUnreadable: boolean;
}

interface ReadCall extends Omit<ReadArgs, 'args'> {
  readonly call: ToolCall;
  readonly part: ToolCallPart;
}

function readCall(
  native: NativeCall,
  index: number,
  context: CallContext,
  seen: Set<string>,
): ReadCall {
  const callId = callIdAt(context.iteration, index + (context.callsBefore ?? 0));
  const tool = toolNameOf(native.tool, context.tools);
  const { args, problem, isUnreadable } = readArgs(
    native.args,
    index,
    tool,
    context.isCut === true,
  );
  const providerData = providerDataOf(native, seen);
  return {
    call: { callId, tool, args },
    part: defined({ type: 'tool_call' as const, callId, tool, args, providerData }),
    problem: tool === '' ? callWithoutTool(index) : problem,
    isUnreadable,
  };
}

/**
 * What templates of models put around a name, which their servers leave there: `functions.look`,
 * `look<|channel|>commentary`.
 */
const TEMPLATE_MARKS = /^(?:functions|default_api|tools?)[.:]|<\|[^]*$/g;

/** The agent's name of a tool; an unknown name is unchanged. */
function toolNameOf(name: string, tools: readonly ToolSpec[]): string {
  const known = (wanted: string): string | undefined =>
    (
      tools.find((tool) => tool.name === wanted) ??
      tools.find((tool) => nativeName(tool.name) === wanted)
    )?.name;
  return known(name) ?? known(name.trim().replaceAll(TEMPLATE_MARKS, '')) ?? name.trim();
}

function isBlank(args: Json): boolean {
  return typeof args === 'string' && args.trim() === '';
}

function readArgs(args: Json, index: number, tool: string, isCut: boolean): ReadArgs {
  if (isCut && isBlank(args)) {
    const message = `call ${index} (${tool}): the reply was cut off before its arguments`;
    return { args: {}, problem: { code: 'truncated_reply', message }, isUnreadable: true };
  }
  const text = typeof args === 'string' ? readLoosely(isBlank(args) ? 'null' : args) : null;
  if (text?.kind === 'problem') {
    const message = `call ${index} (${tool}): ${text.problem.message}`;
    return { args: rawArgs(args), problem: { ...text.problem, message }, isUnreadable: true };
  }
  const reading = argsOf(text === null ? args : text.value, index, tool);
  return reading.kind === 'args'
    ? { args: reading.args, problem: undefined, isUnreadable: false }
    : { args: rawArgs(args), problem: reading.problem, isUnreadable: false };
}

/** Providers accept only objects, so any other value goes back to the model inside one. */
function rawArgs(args: Json): JsonObject {
  const text = typeof args === 'string' ? args : JSON.stringify(args);
  return { rawInvalidInput: cut(text, maxRawArgsBytes) };
}

/**
 * What the provider's next request needs of a native call: `{ id?, data? }`. An id that is missing
 * or repeated is left out, and the call's own id replaces it.
 */
function providerDataOf(native: NativeCall, seen: Set<string>): JsonObject | undefined {
  const id =
    native.id === undefined || native.id === '' || seen.has(native.id) ? undefined : native.id;
  if (id !== undefined) seen.add(id);
  const data = native.providerData;
  if (id === undefined && data === undefined) return undefined;
  return defined({ id, data });
}
