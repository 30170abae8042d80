/** Turns the elements of action blocks into calls: the rules that all toolchains share. */
import type { ToolSpec } from '../contract/spec.ts';
import { isJsonObject, type Json, type JsonObject, jsonType, type JsonType } from '../base/json.ts';
import type { ToolCall } from '../base/message.ts';
import type { ReplyProblem } from '../base/problem.ts';
import { readJson } from '../section/json-reader.ts';
import { payloadOf } from '../section/payload.ts';
import type { CallContext, CallsReading } from './toolchain.ts';

/** One block of calls, as far as its text could be read. */
export type RawBlock =
  | { readonly kind: 'absent' }
  | { readonly kind: 'problems'; readonly problems: readonly ReplyProblem[] }
  | {
      readonly kind: 'elements';
      /** Whether they were in a list; a single call is one element. */
      readonly isList: boolean;
      readonly elements: readonly RawElement[];
    };

/** One element of a block: a mapping that may be a call, or something else. */
export type RawElement =
  | {
      readonly kind: 'call';
      /** Undefined if the field is missing. */
      readonly tool: Json | undefined;
      /** The arguments, read by the tool's schema if there is one; undefined if missing. */
      readonly args: (schema: JsonObject | undefined) => RawArgs;
    }
  | { readonly kind: 'other'; readonly type: JsonType };

/** Arguments before their type is checked. */
export type RawArgs =
  | { readonly kind: 'value'; readonly value: Json | undefined }
  | { readonly kind: 'problems'; readonly problems: readonly ReplyProblem[] };

/** A reader for the content of action blocks; `read` gets the payload. */
export function payloadReader(read: (payload: string) => RawBlock): (content: string) => RawBlock {
  return (content) => {
    const payload = payloadOf(content);
    if (payload.kind === 'absent') return payload;
    if (payload.kind === 'problem') return { kind: 'problems', problems: [payload.problem] };
    return read(payload.text);
  };
}

/** All calls of `blocks`, or all problems of their elements together. */
export function readBatch(blocks: readonly RawBlock[], context: CallContext): CallsReading {
  const problems: ReplyProblem[] = [];
  const calls: ToolCall[] = [];
  let index = 0;
  for (const block of blocks) {
    if (block.kind === 'absent') continue;
    if (block.kind === 'problems') {
      problems.push(...block.problems);
      continue;
    }
    for (const element of block.elements) {
      index += 1;
      const reading = readElement(element, index, block.isList, context);
      if (reading.kind === 'call') calls.push(reading.call);
      else problems.push(...reading.problems);
    }
  }
  if (index > context.maxCallsPerTurn) problems.push(tooManyCalls(index, context.maxCallsPerTurn));
  if (problems.length > 0) return { kind: 'problems', problems };
  return calls.length === 0 ? { kind: 'none' } : { kind: 'calls', calls };
}

/** `too_many_calls`, the same for every toolchain. */
export function tooManyCalls(count: number, max: number): ReplyProblem {
  const message = `${count} calls in one step, at most ${max} are allowed`;
  return { code: 'too_many_calls', message };
}

/** The id of the call at `index`, from 1 over the batch of one iteration. */
export function callIdAt(iteration: number, index: number): string {
  return `${iteration}.${index}`;
}

type ElementReading =
  | { readonly kind: 'call'; readonly call: ToolCall }
  | { readonly kind: 'problems'; readonly problems: readonly ReplyProblem[] };

function readElement(
  element: RawElement,
  index: number,
  isList: boolean,
  context: CallContext,
): ElementReading {
  if (element.kind === 'other') {
    const said = `expected a call with "tool" and "args", or a list of calls, got ${element.type}`;
    const message = isList ? `call ${index}: ${said}` : said;
    return { kind: 'problems', problems: [{ code: 'call_shape', message }] };
  }
  const { tool } = element;
  if (typeof tool !== 'string' || tool.trim() === '') {
    return { kind: 'problems', problems: [callWithoutTool(index)] };
  }
  const name = tool.trim();
  const spec = context.tools.find((candidate: ToolSpec) => candidate.name === name);
  const reading = element.args(spec?.parameters ?? undefined);
  if (reading.kind === 'problems') return reading;
  const args = argsOf(reading.value, index, name);
  if (args.kind === 'problem') return { kind: 'problems', problems: [args.problem] };
  const call = { callId: callIdAt(context.iteration, index), tool: name, args: args.args };
  return { kind: 'call', call };
}

/** `call_without_tool`: the field is missing, empty or not text. */
export function callWithoutTool(index: number): ReplyProblem {
  return { code: 'call_without_tool', message: `call ${index}: the field "tool" is missing` };
}

/**
 * `value` as arguments: missing and null are `{}`, text that holds an object is that object, other
 * types are problem `call_args_shape`.
 */
export function argsOf(
  value: Json | undefined,
  index: number,
  tool: string,
):
  | { readonly kind: 'args'; readonly args: JsonObject }
  | { readonly kind: 'problem'; readonly problem: ReplyProblem } {
  if (value === undefined || value === null) return { kind: 'args', args: {} };
  if (isJsonObject(value)) return { kind: 'args', args: value };
  const written = typeof value === 'string' ? readJson(value) : undefined;
  if (written?.kind === 'value' && isJsonObject(written.value)) {
    return { kind: 'args', args: written.value };
  }
  const message = `call ${index} (${tool}): "args" must be a mapping, got ${jsonType(value)}`;
  return { kind: 'problem', problem: { code: 'call_args_shape', message } };
}
