/**
 * Reads what a model function returns as a {@link Reply}. It is loosely typed, so many forms are
 * read; a field that cannot be read is an error that names it. Parts that mean nothing in a reply
 * are dropped.
 */
import { defined } from '../base/defined.ts';
import { isDeeperThan, isPlainObject, MAX_JSON_DEPTH, type Json } from '../base/json.ts';
import { UsageError } from '../base/usage-error.ts';
import { shown } from '../text/shown.ts';
import { priceUsage } from './cost.ts';
import { hasUsageFields } from './usage.ts';
import type { FinishReason, NativeCall, Price, Reply, ReplyItem } from '../contract/model.ts';

type Fields = { readonly [key: string]: unknown };

const finishReasons: readonly string[] = [
  'stop',
  'length',
  'tool_calls',
  'content_filter',
  'error',
  'other',
] satisfies readonly FinishReason[];

/** Replaces arguments that have no JSON form. It is not JSON, so the call is malformed. */
const unreadableArgs = '(not JSON)';

/** The fields of a reply; those in snake case are read as their camel-case forms. */
const FIELDS: readonly string[] = [
  'parts',
  'content',
  'reasoning',
  'toolCalls',
  'finishReason',
  'usage',
  'model',
  'raw',
];

/**
 * Reads a `ModelReply` or a string as a reply of the model entry `id`.
 *
 * `parts` come first in their order, then `reasoning`, `content` and `toolCalls`. Content that is a list of
 * `{ text }` is read as its texts, other JSON as its JSON text. `args` of a call takes precedence
 * over `arguments`; a call may have the form of OpenAI, with both under `function`. Text in either
 * stays text, so that the mode reads it as JSON and can report its problems to the model. Without a
 * finish reason it is `tool_calls` or `stop`. Fields may be in snake case, and `tokens: { input,
 * output }` stands for `usage`. Usage: {@link priceUsage}.
 *
 * Throws a `UsageError` that names the field if a field cannot be read, or if there is no field of
 * a reply at all.
 *
 * @example
 * readReply('Done.', { id: 'mine' }).parts // [{ type: 'text', text: 'Done.' }]
 */
export function readReply(
  raw: unknown,
  entry: { readonly id: string; readonly price?: Price | undefined },
): Reply {
  const fields = fieldsOf(raw, entry.id);
  const list = (name: string): readonly unknown[] => listOf(fields, name, entry.id);
  const given = list('parts');
  const loose = list('toolCalls');
  loose.forEach((call, index) => {
    if (!isPlainObject(call)) throw unreadable(entry.id, `toolCalls[${index}]`, 'an object', call);
  });
  const parts = [
    ...given.flatMap(toReplyPart),
    ...textParts('reasoning', jsonField(fields, 'reasoning', entry.id)),
    ...textParts('text', jsonField(fields, 'content', entry.id)),
    ...loose.flatMap(toCall),
  ];
  const calls = parts.filter(({ type }) => type === 'call');
  const finishReason = readFinishReason(fields['finishReason'], calls.length > 0, entry.id);
  const { usage, known, problem: usageProblem } = priceUsage(fields['usage'], entry.price);
  if (!known && usageProblem === undefined) checkUsage(fields['usage'], entry.id);
  return {
    parts: finishReason === 'length' ? parts : parts.map(withArguments),
    finishReason,
    usage,
    usageKnown: known,
    ...defined({ usageProblem }),
    model: entry.id,
  };
}

function unreadable(id: string, field: string, wanted: string, got: unknown): UsageError {
  return new UsageError(
    'model_reply',
    `Expected \`${field}\` of the reply of model \`${id}\` to be ${wanted}, got ${shown(got)}. Change what the model function returns.`,
  );
}

function fieldsOf(raw: unknown, id: string): Fields {
  if (typeof raw === 'string') return { content: raw };
  if (!isPlainObject(raw)) {
    const message = `Expected the reply of model \`${id}\` to be a text or an object with \`content\`, got ${shown(raw)}. Return one from the model function.`;
    throw new UsageError('model_reply', message);
  }
  const tokens = raw['tokens'] === undefined ? undefined : { tokens: raw['tokens'] };
  const fields: Fields = {
    ...raw,
    toolCalls: raw['toolCalls'] ?? raw['tool_calls'],
    finishReason: raw['finishReason'] ?? raw['finish_reason'],
    usage: raw['usage'] ?? tokens,
  };
  if (FIELDS.some((name) => fields[name] !== undefined)) return fields;
  const [unknown] = Object.keys(raw);
  if (unknown === undefined) return fields;
  const message = `Expected the reply of model \`${id}\` to have \`content\`, \`parts\` or \`toolCalls\`, got \`${unknown}\`. Change what the model function returns.`;
  throw new UsageError('model_reply', message);
}

function listOf(fields: Fields, name: string, id: string): readonly unknown[] {
  const value = fields[name] ?? [];
  if (Array.isArray(value)) return value as readonly unknown[];
  throw unreadable(id, name, 'a list', value);
}

/** A field that may be text or any JSON. */
function jsonField(fields: Fields, name: string, id: string): unknown {
  const value = fields[name];
  const isReadable = value === undefined || toJson(value) !== undefined;
  if (!isReadable) throw unreadable(id, name, 'text or JSON', value);
  return value;
}

/** Usage that is not reported is no mistake; usage in no known form would not be counted. */
function checkUsage(usage: unknown, id: string): void {
  if (usage === undefined || usage === null) return;
  const isEmpty = isPlainObject(usage) && Object.values(usage).every((count) => count == null);
  if (isEmpty || hasUsageFields(usage)) return;
  throw unreadable(id, 'usage', 'counts such as { inputTokens, outputTokens }', usage);
}

function readFinishReason(value: unknown, hasCalls: boolean, id: string): FinishReason {
  if (value === undefined || value === null) return hasCalls ? 'tool_calls' : 'stop';
  if (typeof value !== 'string') throw unreadable(id, 'finishReason', 'text', value);
  const reason = value.replaceAll('-', '_');
  return finishReasons.includes(reason) ? (reason as FinishReason) : 'other';
}

function toReplyPart(part: unknown): ReplyItem[] {
  if (!isPlainObject(part)) return [];
  const { type, text, tool, args } = part;
  if (type === 'tool_call' || type === 'call') {
    const id = part['id'] ?? part['callId'];
    return [nativeCall({ id, tool, args, providerData: part['providerData'] })];
  }
  if ((type !== 'text' && type !== 'reasoning') || typeof text !== 'string') return [];
  const providerData = toJson(part['providerData']);
  // Encrypted reasoning has no text, only data for its provider.
  return providerData === undefined ? textParts(type, text) : [{ type, text, providerData }];
}

function toCall(call: unknown): NativeCall[] {
  if (!isPlainObject(call)) return [];
  const named = isPlainObject(call['function']) ? call['function'] : call;
  const args = named['args'] === undefined ? named['arguments'] : named['args'];
  return [nativeCall({ id: call['id'], tool: named['name'], args })];
}

function nativeCall(call: {
  readonly id: unknown;
  readonly tool: unknown;
  readonly args: unknown;
  readonly providerData?: unknown;
}): NativeCall {
  const providerData = toJson(call.providerData);
  return defined({
    type: 'call' as const,
    id: typeof call.id === 'string' && call.id !== '' ? call.id : undefined,
    tool: typeof call.tool === 'string' ? call.tool : '',
    args: readArgs(call.args),
    providerData,
  });
}

/** Some providers write nothing when there are no arguments; a reply that was cut has lost them. */
function withArguments(item: ReplyItem): ReplyItem {
  return item.type === 'call' && item.args === NO_ARGS ? { ...item, args: {} } : item;
}

const NO_ARGS = '';

function readArgs(args: unknown): Json {
  if (args === undefined || args === null) return NO_ARGS;
  if (typeof args === 'string' && args.trim() === '') return NO_ARGS;
  const json = toJson(args);
  if (json !== undefined) return json;
  // Text is read again later, and the model learns how deep it nests.
  return jsonText(args) ?? unreadableArgs;
}

function textParts(type: 'text' | 'reasoning', content: unknown): ReplyItem[] {
  const text = toText(content);
  return text === '' ? [] : [{ type, text }];
}

function toText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (content === undefined || content === null) return '';
  if (Array.isArray(content) && content.every(isTextItem)) {
    return content.map((item) => item.text).join('');
  }
  const json = toJson(content);
  return json === undefined ? '' : JSON.stringify(json);
}

function isTextItem(item: unknown): item is { readonly text: string } {
  return isPlainObject(item) && typeof item['text'] === 'string';
}

/** A JSON copy of `value`, or undefined if it has no JSON form. */
function toJson(value: unknown): Json | undefined {
  const text = jsonText(value);
  if (text === undefined) return undefined;
  const json = JSON.parse(text) as Json;
  return isDeeperThan(json, MAX_JSON_DEPTH) ? undefined : json;
}

function jsonText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    // A cycle, a BigInt, a getter that throws, nesting deeper than the stack: all are "no JSON".
    return undefined;
  }
}
