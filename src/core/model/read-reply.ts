/**
 * Reads any answer of a model as a {@link Reply}. What model functions return is loosely typed and
 * must not break a run. Parts that mean nothing in a reply are dropped.
 */
import { defined } from '../base/defined.ts';
import { isDeeperThan, isPlainObject, MAX_JSON_DEPTH, type Json } from '../base/json.ts';
import { priceUsage } from './cost.ts';
import type { FinishReason, NativeCall, Price, Reply } from '../contract/model.ts';

type ReplyPart = Reply['parts'][number];
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

/**
 * Reads a `ModelReply` or a string as a reply of the model entry `id`; never throws.
 *
 * `parts` come first, then `reasoning` and `content`, then `toolCalls`. Content that is a list of
 * `{ text }` is read as its texts, other JSON as its JSON text. `args` of a call takes precedence
 * over `arguments`. Text in either stays text, so that the mode reads it as JSON and can report its
 * problems to the model. Without a finish reason it is `tool_calls` or `stop`. Usage: {@link
 * priceUsage}.
 *
 * @example
 * readReply('Done.', { id: 'mine' }).parts // [{ type: 'text', text: 'Done.' }]
 */
export function readReply(
  raw: unknown,
  entry: { readonly id: string; readonly price?: Price | undefined },
): Reply {
  const fields: Fields = typeof raw === 'string' ? { content: raw } : isPlainObject(raw) ? raw : {};
  const given = Array.isArray(fields['parts']) ? (fields['parts'] as readonly unknown[]) : [];
  const loose = Array.isArray(fields['toolCalls'])
    ? (fields['toolCalls'] as readonly unknown[])
    : [];
  const parts = [
    ...given.flatMap(toReplyPart),
    ...textParts('reasoning', fields['reasoning']),
    ...textParts('text', fields['content']),
  ];
  const calls = [...given.flatMap(toCallOfPart), ...loose.flatMap(toCall)];
  const { usage, known } = priceUsage(fields['usage'], entry.price);
  return {
    parts,
    calls,
    finishReason: readFinishReason(fields['finishReason'], calls),
    usage,
    usageKnown: known,
    model: entry.id,
  };
}

function readFinishReason(value: unknown, calls: readonly NativeCall[]): FinishReason {
  if (typeof value !== 'string') return calls.length > 0 ? 'tool_calls' : 'stop';
  const reason = value.replaceAll('-', '_');
  return finishReasons.includes(reason) ? (reason as FinishReason) : 'other';
}

function toReplyPart(part: unknown): ReplyPart[] {
  if (!isPlainObject(part) || typeof part['text'] !== 'string') return [];
  if (part['type'] === 'text') return textParts('text', part['text']);
  if (part['type'] !== 'reasoning') return [];
  const providerData = toJson(part['providerData']);
  // Encrypted reasoning has no text, only data for its provider.
  if (providerData === undefined) return textParts('reasoning', part['text']);
  return [{ type: 'reasoning', text: part['text'], providerData }];
}

function toCallOfPart(part: unknown): NativeCall[] {
  if (!isPlainObject(part) || part['type'] !== 'tool_call') return [];
  const { callId: id, tool, args, providerData } = part;
  return [nativeCall({ id, tool, args, providerData })];
}

function toCall(call: unknown): NativeCall[] {
  if (!isPlainObject(call)) return [];
  const args = call['args'] === undefined ? call['arguments'] : call['args'];
  return [nativeCall({ id: call['id'], tool: call['name'], args })];
}

function nativeCall(call: {
  readonly id: unknown;
  readonly tool: unknown;
  readonly args: unknown;
  readonly providerData?: unknown;
}): NativeCall {
  const providerData = toJson(call.providerData);
  return defined({
    id: typeof call.id === 'string' && call.id !== '' ? call.id : undefined,
    tool: typeof call.tool === 'string' ? call.tool : '',
    args: readArgs(call.args),
    providerData,
  });
}

function readArgs(args: unknown): Json {
  if (args === undefined || args === null) return {};
  // Some providers write empty text when there are no arguments.
  if (typeof args === 'string' && args.trim() === '') return {};
  const json = toJson(args);
  if (json !== undefined) return json;
  // Text is read again later, and the model learns how deep it nests.
  return jsonText(args) ?? unreadableArgs;
}

function textParts(type: 'text' | 'reasoning', content: unknown): ReplyPart[] {
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
