/**
 * Effects: turns calls of the program into requests, and results into values.
 *
 * I1  The id of an effect is its position in the program, so a replay makes the same ids.
 * I2  A branch waits for at most one effect. Requests beyond `limits.inFlight` are queued and
 *     opened in the order in which they were made.
 * I3  Fuel: a fixed price for each effect, plus the size of its arguments and of its result.
 * I4  Only failures in `RECOVERABLE` can be caught by `attempt`.
 */
import { propertiesOf, outgoingName } from '../analyzer/tool-arguments.ts';
import { emptyObject, isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import { toJson, fromJson } from '../json/to-json.ts';
import { wrongValue } from '../builtins/arguments/expect.ts';
import { flexibleGet } from '../builtins/arguments/lookup.ts';
import { itemsOfSeqable } from '../builtins/arguments/seqable.ts';
import { defined } from '../base/defined.ts';
import { Fault } from '../base/problem.ts';
import type { Span } from '../base/source.ts';
import { describeValue, shortText, textOf } from '../value/print.ts';
import { treeKeys, treeVals } from '../value/tree-walk.ts';
import {
  UNMETERED,
  isKeyword,
  isMap,
  isNumber,
  keyword,
  truthy,
  type TreeMap,
  type Value,
} from '../value/value.ts';
import { EMPTY_MAP, mapOf } from '../value/tree.ts';
import { pay } from '../value/context.ts';
import { jsonSize } from './json-size.ts';
import { beginParallel } from './parallel.ts';
import type { Branch, Effect, EffectCall, EffectRequest, EffectResult, Machine } from './state.ts';

/** Fuel of an effect, without its arguments and result. */
const EFFECT_COST = 10;
const BYTES_PER_UNIT = 64;
const MAX_SLEEP_MS = 2_592_000_000;

/** Begins the effect of a call of a tool or an effect builtin. The branch waits. */
export function performEffect(m: Machine, branch: Branch, fn: Value, call: EffectCall): void {
  if (typeof fn !== 'object' || fn === null) return;
  if (fn.kind === 'tool') {
    callTool(m, branch, fn.name, call);
    return;
  }
  if (fn.kind !== 'builtin' || fn.work.kind !== 'effect') return;
  switch (fn.work.effect) {
    case 'ask':
      ask(m, branch, askOptions(call.args), call.span);
      return;
    case 'sleep':
      sleep(m, branch, call.args[0] ?? null, call.span);
      return;
    case 'pmap':
    case 'pcalls':
      beginParallel(m, branch, fn.work.effect, call);
  }
}

/** The id of the next effect of `branch`. */
function nextId(branch: Branch): string {
  branch.effects += 1;
  return `${branch.path}${branch.effects}`;
}

function request(
  m: Machine,
  branch: Branch,
  made: EffectRequest,
  asked: { options?: readonly Value[]; fallback?: Value | undefined } = {},
): void {
  const { options = [], fallback } = asked;
  const since = m.ctx.now;
  m.effects.set(made.id, {
    request: made,
    branch: branch.path,
    state: 'queued',
    since,
    options,
    fallback,
  });
  m.queue.push(made.id);
  branch.state = 'waiting';
  branch.waitsFor = made.id;
  branch.stack.stopped = true;
}

/** Opens queued requests up to the limit, in order (I2). */
export function openRequests(m: Machine): void {
  while (m.open < m.ctx.limits.inFlight) {
    const id = m.queue.shift();
    if (id === undefined) return;
    const effect = m.effects.get(id);
    if (effect === undefined || effect.state !== 'queued') continue;
    effect.state = 'open';
    effect.since = m.ctx.now;
    m.open += 1;
    m.requests.push(effect.request);
  }
}

/** Drops an effect of an abandoned branch. The host cancels it if it has the request. */
export function abandonEffect(m: Machine, id: string): void {
  const effect = m.effects.get(id);
  if (effect === undefined) return;
  if (effect.state === 'open') {
    m.open -= 1;
    const unsent = m.requests.findIndex((one) => one.id === id);
    if (unsent >= 0) m.requests.splice(unsent, 1);
    else m.abandon.push(id);
  }
  if (effect.state === 'open' || effect.state === 'queued') effect.state = 'abandoned';
}

function payFor(m: Machine, json: Json, span: Span): void {
  pay(m.ctx, Math.ceil(jsonSize(json) / BYTES_PER_UNIT), span);
}

/** The arguments of a tool call as one map: a map, or pairs. */
function namedArguments(tool: string, args: readonly Value[], m: Machine): TreeMap {
  const [first] = args;
  if (first === undefined) return EMPTY_MAP;
  if (args.length === 1 && isMap(first)) return first;
  if (args.length % 2 === 0) {
    const keys = args.filter((_, index) => index % 2 === 0);
    if (keys.every((key) => isKeyword(key) || typeof key === 'string')) {
      return mapOf(
        keys,
        args.filter((_, index) => index % 2 === 1),
        m.ctx,
      );
    }
  }
  throw new Fault(
    'invalid_tool_args',
    `\`${tool}\` takes named arguments: \`(tool/${tool} {…})\`, got ${describeValue(first)}.`,
  );
}

function callTool(m: Machine, branch: Branch, name: string, { args, span }: EffectCall): void {
  const { ctx } = m;
  pay(ctx, EFFECT_COST, span);
  const named = namedArguments(name, args, m);
  if (name === 'ask_user') {
    ask(m, branch, named, span);
    return;
  }
  const face = ctx.tools.get(name);
  if (face === undefined) throw new Fault('unknown_tool', `There is no tool \`${name}\`.`);
  const json = outgoing(name, named, face.schema);
  payFor(m, json, span);
  m.toolCalls += 1;
  if (m.toolCalls > ctx.limits.toolCalls) {
    throw new Fault(
      'tool_call_limit_exceeded',
      `the program made more than ${ctx.limits.toolCalls} tool calls. Use \`pmap\` over a filtered list, or a batch tool.`,
    );
  }
  request(m, branch, { id: nextId(branch), kind: 'tool', name, args: json, span });
}

/** The arguments as JSON, with the names that the tool declares. */
function outgoing(name: string, named: TreeMap, schema: JsonObject): JsonObject {
  const properties = propertiesOf(schema);
  const keys = treeKeys(named).map((key) =>
    isKeyword(key) ? keyword(outgoingName(key.name, properties)) : key,
  );
  const object = emptyObject<Json>();
  const vals = treeVals(named);
  for (const [index, key] of keys.entries()) {
    const plain = isKeyword(key) ? key.name : key;
    if (typeof plain !== 'string') {
      throw new Fault('invalid_tool_args', `\`${name}\`: the key ${shortText(key)} is no name.`);
    }
    // In key order, keywords come before strings, so a keyword wins over an equal string.
    if (Object.hasOwn(object, plain)) continue;
    const declared = Object.hasOwn(properties, plain) ? properties[plain] : undefined;
    const value = toJson(vals[index] as Value, { dashes: 'underscore', schema: declared });
    if (!value.ok) {
      const reason = value.reason === 'size_exceeded' ? 'size_exceeded' : 'invalid_tool_args';
      throw new Fault(reason, `\`${name}\`, \`${plain}\`: ${value.message}`);
    }
    object[plain] = value.json;
  }
  return object;
}

/** `(ask question opts?)` as the map that `(tool/ask_user {…})` takes. */
function askOptions(args: readonly Value[]): TreeMap {
  const [question = null, options = null] = args;
  const given = options === null ? EMPTY_MAP : options;
  if (!isMap(given)) throw wrongValue('ask', 'a map of options as argument 2', given);
  const keys = [...treeKeys(given), keyword('question')];
  const unmetered = { ...UNMETERED, maxNesting: 100 };
  return mapOf(keys, [...treeVals(given), question], unmetered);
}

function ask(m: Machine, branch: Branch, given: TreeMap, span: Span): void {
  const { ctx } = m;
  const field = (name: string): Value | undefined => flexibleGet(ctx, given, keyword(name));
  pay(ctx, EFFECT_COST, span);
  const question = field('question') ?? null;
  if (typeof question !== 'string') throw wrongValue('ask', 'text as the question', question);
  const options = field('options') ?? null;
  const values = options === null ? [] : [...itemsOfSeqable(ctx, options, 'ask')];
  const labels = values.map((value) => labelOf(m, value));
  if (new Set(labels.map(folded)).size !== labels.length) {
    throw new Fault('runtime_error', '`ask`: the options need different labels.');
  }
  const timeout = field('timeout-ms') ?? null;
  if (timeout !== null && !isNumber(timeout)) {
    throw wrongValue('ask', 'a number as :timeout-ms', timeout);
  }
  const details = field('details');
  const json = details === undefined ? undefined : toJson(details, { dashes: 'underscore' });
  if (json !== undefined && !json.ok)
    throw new Fault('runtime_error', `\`ask\`, :details: ${json.message}`);
  const made: EffectRequest = defined({
    id: nextId(branch),
    kind: 'ask' as const,
    question,
    options: options === null ? undefined : labels,
    free: options === null || truthy(field('free') ?? null),
    timeoutMs: timeout === null ? undefined : milliseconds(timeout),
    details: json?.json,
    span,
  });
  pay(ctx, Math.ceil((question.length + labels.join('').length) / BYTES_PER_UNIT), span);
  request(m, branch, made, { options: values, fallback: field('default') });
}

function milliseconds(value: Value): number {
  if (typeof value === 'object' && value !== null && value.kind === 'float')
    return Math.trunc(value.value);
  return Number(value);
}

function folded(label: string): string {
  return label.trim().toLowerCase();
}

function labelOf(m: Machine, option: Value): string {
  if (typeof option === 'string') return option;
  if (isKeyword(option)) return option.name;
  if (isMap(option)) {
    for (const name of ['label', 'name', 'title']) {
      const label = flexibleGet(m.ctx, option, keyword(name)) ?? null;
      if (label !== null) return textOf(label, m.ctx);
    }
  }
  return shortText(option);
}

function sleep(m: Machine, branch: Branch, value: Value, span: Span): void {
  pay(m.ctx, EFFECT_COST, span);
  if (!isNumber(value)) throw wrongValue('sleep', 'a number as argument 1', value);
  const ms = milliseconds(value);
  if (!(ms >= 0 && ms <= MAX_SLEEP_MS)) {
    throw new Fault(
      'runtime_error',
      `\`sleep\`: ${shortText(value)} ms is not between 0 and 2,592,000,000 (30 days).`,
    );
  }
  request(m, branch, { id: nextId(branch), kind: 'sleep', ms, span });
}

/** A result as the branch gets it: a value, or a fault to raise there. */
export function receive(
  m: Machine,
  effect: Effect,
  result: EffectResult,
): { readonly value: Value } | { readonly fault: Fault } {
  const { request: made } = effect;
  if (!result.ok) {
    if (made.kind === 'ask' && result.reason === 'ask_timeout' && effect.fallback !== undefined) {
      return { value: effect.fallback };
    }
    return { fault: failureOf(m, effect, result) };
  }
  if (made.kind === 'sleep') return { value: null };
  if (made.kind === 'ask') return answerOf(effect, result.value);
  payFor(m, result.value, made.span);
  return { value: fromJson(result.value) };
}

function answerOf(
  effect: Effect,
  json: Json,
): { readonly value: Value } | { readonly fault: Fault } {
  const { request: made, options } = effect;
  if (made.kind !== 'ask' || made.options === undefined) return { value: fromJson(json) };
  const text = typeof json === 'object' ? '' : String(json);
  const wanted = folded(text);
  const byLabel = made.options.findIndex((label) => folded(label) === wanted);
  const number = /^[0-9]+$/.test(wanted) ? Number(wanted) - 1 : -1;
  const chosen = byLabel >= 0 ? byLabel : number;
  const option = options[chosen];
  if (option !== undefined) return { value: option };
  if (made.free) return { value: text };
  // The host checks answers before it sends them, so this is its bug.
  const message = '`ask`: the answer is none of the options.';
  return { fault: new Fault('runtime_error', message, { span: made.span }) };
}

const RECOVERABLE: ReadonlySet<string> = new Set([
  'tool_error',
  'tool_denied',
  'invalid_tool_args',
  'ask_timeout',
]);

function failureOf(m: Machine, effect: Effect, result: EffectResult & { ok: false }): Fault {
  const { request: made } = effect;
  const recoverable = RECOVERABLE.has(result.reason);
  if (made.kind !== 'tool') {
    const message =
      result.reason === 'ask_timeout' && made.kind === 'ask'
        ? `Nobody answered "${made.question.slice(0, 200)}"${within(made.timeoutMs)}.`
        : result.message.slice(0, 2_000);
    return new Fault(result.reason, message, { span: made.span, recoverable });
  }
  const done = [...m.effects.values()]
    .filter((other) => other.state === 'done' && other.request.kind === 'tool')
    .map((other) => other.request.id);
  const given = isJsonObject(result.details) ? result.details : {};
  const reason = typeof given['reason'] === 'string' ? given['reason'] : 'error';
  const details = { ...given, tool: made.name, effect: made.id, reason, done };
  const message =
    result.reason === 'tool_error' || result.reason === 'tool_denied'
      ? `\`${made.name}\` failed: ${result.message.slice(0, 2_000)}`
      : result.message.slice(0, 2_000);
  return new Fault(result.reason, message, { details, span: made.span, recoverable });
}

function within(ms: number | undefined): string {
  if (ms === undefined) return '';
  const units: readonly (readonly [number, string])[] = [
    [3_600_000, 'h'],
    [60_000, 'min'],
    [1_000, 's'],
  ];
  for (const [size, name] of units)
    if (ms >= size && ms % size === 0) return ` within ${ms / size} ${name}`;
  return ` within ${ms} ms`;
}
