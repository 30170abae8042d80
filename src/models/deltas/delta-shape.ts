/**
 * Recognises the server-sent events that carry one piece of a reply and nothing else, and cuts them
 * around the text of the piece.
 *
 * I1  A cut is proven: with another text in its place, the same field has that text. So events that
 *     are equal around their texts differ in nothing else.
 * I2  What an adapter reads besides the text has to be absent: reasons of a stop, usage, logprobs,
 *     names and ids of calls. Any other event is not cut.
 */
import { isPlainObject } from '../../core/base/json.ts';
import type { ModelChunk } from '../../core/contract/model.ts';
import type { LanguageModel } from '../../define/model/language-model.ts';
import { isOpenAiCompatible } from '../../define/model/openai-compatible.ts';

/** How a provider writes the pieces of a reply. */
export type DeltaProtocol = 'chat' | 'responses' | 'anthropic';

/** The piece that an event carries. */
export interface Delta {
  readonly kind: ModelChunk['kind'];
  readonly text: string;
  /** The field that has the text. */
  readonly field: string;
  /** The number of the call whose arguments it continues. */
  readonly call?: number;
}

/** An event, cut around the text of its piece. */
export interface CutEvent {
  readonly delta: Delta;
  /** Up to the first quote of the text, which begins at the first place where `field` stands. */
  readonly before: string;
  /** The text between its quotes, as JSON. */
  readonly body: string;
  /** From the last quote on. */
  readonly after: string;
}

/**
 * The protocol of `model`; undefined for one whose adapter was not checked. Pieces may be joined
 * only where the adapter reads two pieces as it reads one: that of xAI drops repeated ones.
 */
export function protocolOf(model: LanguageModel): DeltaProtocol | undefined {
  const { provider } = model;
  if (/^(?:openai|azure-openai|azure)\.chat$/.test(provider)) return 'chat';
  if (/^(?:openai|azure-openai|azure)\.responses$/.test(provider)) return 'responses';
  if (/(?:^|\.)anthropic\.messages$/.test(provider)) return 'anthropic';
  return isOpenAiCompatible(model) ? 'chat' : undefined;
}

/** A larger event is not worth it. */
const MAX_EVENT_CHARACTERS = 16_384;

const HEAD = /^(?:event: ?[\w.-]+\n)?data: ?(?=\{)/;

/** Cuts the event `text`, which has no empty line at its end; undefined for any other event. */
export function cutEvent(
  protocol: DeltaProtocol,
  text: string,
): { readonly value: unknown; readonly cut?: CutEvent } {
  const head = HEAD.exec(text)?.[0];
  if (head === undefined || text.length > MAX_EVENT_CHARACTERS) return { value: undefined };
  const data = text.slice(head.length);
  const value = parsed(data);
  const delta = deltaOf(protocol, value);
  const cut = delta && cutAt(text, delta.field);
  if (delta === undefined || cut === undefined) return { value };
  const { before, after } = cut;
  const other = deltaOf(protocol, parsed(`${before}${OTHER}${after}`.slice(head.length)));
  const isProven = other?.text === OTHER && other.kind === delta.kind;
  return isProven ? { value, cut: { ...cut, delta } } : { value };
}

/** A text that no event has. */
const OTHER = 'everloop-0f3c9a71';

/** The text of a JSON string, up to its last quote. */
const BODY = /[^"\\\p{Cc}]*(?:\\.[^"\\\p{Cc}]*)*/uy;

/** Cuts `text` around the string in the first `field`. */
export function cutAt(text: string, field: string): Omit<CutEvent, 'delta'> | undefined {
  const key = `"${field}":`;
  const found = text.indexOf(key);
  if (found === -1) return undefined;
  let start = found + key.length;
  if (text[start] === ' ') start += 1;
  if (text[start] !== '"') return undefined;
  start += 1;
  BODY.lastIndex = start;
  const body = BODY.exec(text)?.[0];
  if (body === undefined || text[start + body.length] !== '"') return undefined;
  return { before: text.slice(0, start), body, after: text.slice(start + body.length) };
}

function deltaOf(protocol: DeltaProtocol, value: unknown): Delta | undefined {
  if (!isPlainObject(value)) return undefined;
  switch (protocol) {
    case 'chat':
      return chatDelta(value);
    case 'responses':
      return responsesDelta(value);
    case 'anthropic':
      return anthropicDelta(value);
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** What an event of a chat may have besides its only choice. */
const CHAT_FIELDS: ReadonlySet<string> = new Set([
  'id',
  'object',
  'created',
  'model',
  'choices',
  'service_tier',
  'system_fingerprint',
  'obfuscation',
]);

const CHAT_KINDS: ReadonlyMap<string, Delta['kind']> = new Map([
  ['content', 'text'],
  ['reasoning_content', 'reasoning'],
  ['reasoning', 'reasoning'],
]);

function chatDelta(value: Fields): Delta | undefined {
  const { choices } = value;
  const isPlain = Object.entries(value).every(
    ([name, field]) => field === null || CHAT_FIELDS.has(name),
  );
  if (!isPlain || !Array.isArray(choices) || choices.length !== 1) return undefined;
  const [choice] = choices as readonly unknown[];
  if (!isPlainObject(choice) || !isPlainObject(choice['delta'])) return undefined;
  const isOpen = Object.entries(choice).every(
    ([name, field]) => field === null || name === 'index' || name === 'delta',
  );
  const [written, ...more] = Object.entries(choice['delta']).filter(
    ([name, field]) => field !== null && name !== 'role',
  );
  if (!isOpen || written === undefined || more.length > 0) return undefined;
  const [field, text] = written;
  if (field === 'tool_calls') return argsDelta(text);
  const kind = CHAT_KINDS.get(field);
  return kind === undefined || typeof text !== 'string' ? undefined : { kind, text, field };
}

/** More of the arguments of one call, whose id and name came before. */
function argsDelta(calls: unknown): Delta | undefined {
  if (!Array.isArray(calls) || calls.length !== 1 || !isPlainObject(calls[0])) return undefined;
  const { index, type = 'function', function: called, ...others } = calls[0];
  if (typeof index !== 'number' || type !== 'function' || !isPlainObject(called)) return undefined;
  const { arguments: text, ...names } = called;
  const isMore = [...Object.values(others), ...Object.values(names)].every((it) => it === null);
  return isMore && typeof text === 'string'
    ? { kind: 'tool_args', text, field: 'arguments', call: index }
    : undefined;
}

const RESPONSES_KINDS: ReadonlyMap<unknown, Delta['kind']> = new Map([
  ['response.output_text.delta', 'text'],
  ['response.reasoning_summary_text.delta', 'reasoning'],
  ['response.function_call_arguments.delta', 'tool_args'],
]);

function responsesDelta({ type, delta: text, logprobs = [] }: Fields): Delta | undefined {
  const kind = RESPONSES_KINDS.get(type);
  const hasNone = logprobs === null || (Array.isArray(logprobs) && logprobs.length === 0);
  if (kind === undefined || typeof text !== 'string' || !hasNone) return undefined;
  return { kind, text, field: 'delta' };
}

const ANTHROPIC_FIELDS: ReadonlyMap<unknown, Pick<Delta, 'kind' | 'field'>> = new Map([
  ['text_delta', { kind: 'text', field: 'text' }],
  ['thinking_delta', { kind: 'reasoning', field: 'thinking' }],
  ['input_json_delta', { kind: 'tool_args', field: 'partial_json' }],
]);

function anthropicDelta({ type, index, delta, ...others }: Fields): Delta | undefined {
  if (type !== 'content_block_delta' || typeof index !== 'number' || !isPlainObject(delta)) {
    return undefined;
  }
  const known = ANTHROPIC_FIELDS.get(delta['type']);
  const text = known && delta[known.field];
  const isAlone = Object.keys(others).length === 0 && Object.keys(delta).length === 2;
  return known !== undefined && isAlone && typeof text === 'string'
    ? { ...known, text }
    : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
