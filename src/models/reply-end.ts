/**
 * What the end of a reply means. Adapters have six reasons for a stop, and put most of what providers
 * say into `other` or `error`; so the provider's own word is read first.
 */
import { isPlainObject } from '../core/base/json.ts';
import type { FinishReason } from '../core/contract/model.ts';

/** The end of a reply. */
export type ReplyEnd =
  /** The provider ended it, or cut it at its length. */
  | { readonly kind: 'ended'; readonly finishReason: FinishReason }
  /** The provider or the model refused to answer. */
  | { readonly kind: 'refused' }
  /** The provider failed while it wrote. */
  | { readonly kind: 'failed' }
  /** The provider could not use what the model wrote; another sample may be better. */
  | { readonly kind: 'unusable' }
  /** The provider gave no reason. */
  | { readonly kind: 'unfinished' };

/** The reason for a stop, as adapters give it: one of theirs, and the provider's own. */
export interface StopReason {
  readonly unified: string;
  readonly raw?: string | undefined;
}

const UNIFIED: { readonly [unified: string]: FinishReason } = {
  stop: 'stop',
  length: 'length',
  'content-filter': 'content_filter',
  'tool-calls': 'tool_calls',
  error: 'error',
  other: 'other',
};

/** The words of providers for their stops, by what they mean; the first that fits decides. */
const RAW: readonly (readonly [RegExp, ReplyEnd])[] = [
  // Gemini: a call that is no call, one of a tool that is not there, and the like.
  [
    /^(?:malformed_(?:function_call|response)|unexpected_tool_call|too_many_tool_calls|missing_thought_signature|no_image)$/,
    { kind: 'unusable' },
  ],
  [
    /safety|filter|refus|blocklist|blocked|prohibited|recitation|\bspii\b|guardrail|moderation|sensitive/,
    { kind: 'refused' },
  ],
  [/length|max_?(?:output_?)?tokens|token_limit|context_window/, ended('length')],
  [
    /^(?:error|failed|failure|abort|aborted|cancelled|canceled|interrupted|timeout|network_error|engine_error|engine_overloaded|overloaded|unavailable|insufficient_system_resource)$/,
    { kind: 'failed' },
  ],
];

function ended(finishReason: FinishReason): ReplyEnd {
  return { kind: 'ended', finishReason };
}

/** What `reason` means. */
export function replyEnd({ unified, raw }: StopReason): ReplyEnd {
  const known = UNIFIED[unified] ?? 'other';
  if (known === 'content_filter') return { kind: 'refused' };
  // An adapter knows better than its provider's word what these are.
  if (known === 'stop' || known === 'tool_calls' || known === 'length') return ended(known);
  if (unified === 'interrupted' || raw === undefined) return { kind: 'unfinished' };
  const word = raw.toLowerCase().replaceAll('-', '_');
  const meant = RAW.find(([pattern]) => pattern.test(word))?.[1];
  return meant ?? (known === 'error' ? { kind: 'failed' } : ended('other'));
}

/** What the raw chunks of a stream say about its end, which adapters leave out. */
export interface EndNotes {
  /** The stream ended as its protocol says, whatever its reason. */
  readonly isDone?: true;
  /** Why it stopped, in the provider's words. */
  readonly words?: string;
  /** What the model says in place of an answer, where refusals have a field of their own. */
  readonly refusal?: string;
  /** The error that a chunk of the reply carries. */
  readonly error?: unknown;
}

/** Characters of the provider's words that are kept. */
const MAX_WORDS = 2_000;

/** `notes` with what `chunk` says. `hasContent`: whether something of the reply came before it. */
export function withEndIn(chunk: unknown, notes: EndNotes, hasContent: boolean): EndNotes {
  if (!isPlainObject(chunk)) return notes;
  const { choices, type } = chunk;
  if (Array.isArray(choices)) return withChatEnd(chunk, choices, notes, hasContent);
  if (type === 'message_stop' && hasContent) return { ...notes, isDone: true };
  if (type === 'response.refusal.delta') return withRefusal(notes, chunk['delta']);
  const said = [
    inner(chunk, 'promptFeedback', 'blockReasonMessage'),
    inner(firstOf(chunk['candidates']), 'finishMessage'),
    inner(chunk, 'delta', 'stop_details', 'explanation'),
  ].find((text) => typeof text === 'string' && text.trim() !== '');
  return typeof said === 'string' ? { ...notes, words: said.slice(0, MAX_WORDS) } : notes;
}

/** Servers of OpenAI's protocol end with usage in a chunk of its own, or with an error in one. */
function withChatEnd(
  chunk: Readonly<Record<string, unknown>>,
  choices: readonly unknown[],
  notes: EndNotes,
  hasContent: boolean,
): EndNotes {
  const error = [chunk['error'], inner(choices[0], 'error')].find((one) => isPlainObject(one));
  if (error !== undefined) return { ...notes, error };
  if (choices.length === 0) {
    return isPlainObject(chunk['usage']) && hasContent ? { ...notes, isDone: true } : notes;
  }
  return withRefusal(notes, inner(choices[0], 'delta', 'refusal'));
}

function withRefusal(notes: EndNotes, more: unknown): EndNotes {
  if (typeof more !== 'string' || more === '') return notes;
  return { ...notes, refusal: ((notes.refusal ?? '') + more).slice(0, MAX_WORDS) };
}

function inner(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (found, key) => (isPlainObject(found) ? found[key] : undefined),
    value,
  );
}

function firstOf(list: unknown): unknown {
  return Array.isArray(list) ? (list as readonly unknown[])[0] : undefined;
}

/** The code of a reply that the provider or the model refused. */
export const MODEL_REFUSED = 'model_refused';

/** The error of a reply that was refused; `raw` is the provider's reason. */
export function refusedReply(raw: string | undefined, words: string | undefined): Error {
  const why = words?.trim() || raw || 'no reason was given';
  const named = raw === undefined || why.includes(raw) ? why : `${raw}: ${why}`;
  const message = `The model or its provider refused to answer: ${named}`;
  return Object.assign(new Error(message), { name: 'RefusedReplyError', code: MODEL_REFUSED });
}

/** The error of a reply during which the provider failed. */
export function failedReply(raw: string | undefined, words: string | undefined): Error {
  const why = words ?? `its reason is \`${raw ?? 'error'}\``;
  return Object.assign(new Error(`The provider failed during the reply: ${why}`), {
    name: 'ModelStreamError',
    code: 'failed_reply',
  });
}
