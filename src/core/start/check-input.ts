/** What comes from another process is checked once, here, before anything relies on it. */
import { byteSize, isDeeperThan, isPlainObject, MAX_JSON_DEPTH, type Json } from '../base/json.ts';
import type { MediaPart } from '../base/message.ts';
import type { InputKind } from '../contract/events.ts';
import type { RunInput } from '../run/inbox.ts';
import { wellFormedText } from '../text/well-formed.ts';

/** Bytes of JSON that one input may have; a tool should deliver larger data. */
const MAX_INPUT_BYTES: number = 512 * 1024;

/** Longest id of an input, in characters. */
export const MAX_INPUT_ID = 200;

const KINDS: readonly InputKind[] = ['queue', 'steer', 'interrupt'];

/**
 * An input with what its client may leave out: a bare text is an input too, `kind` is `queue`, and
 * `id` is `freeId`. Anything else stays as it is.
 */
export function completeInput(value: unknown, freeId: string): unknown {
  if (typeof value === 'string') return { id: freeId, kind: 'queue', text: value };
  if (!isPlainObject(value) || (value['text'] === undefined && value['media'] === undefined)) {
    return value;
  }
  const { id = freeId, kind = 'queue', text = '' } = value;
  return { ...value, id, kind, text };
}

/** Longest name of who sends a message, in characters. */
const MAX_ACTOR = 200;

/** Why `by` names nobody, or null if it is right or absent. */
export function actorProblem(by: unknown): string | null {
  if (by === undefined) return null;
  const fits =
    typeof by === 'string' && by.trim() !== '' && by.length <= MAX_ACTOR && isWellFormed(by);
  return fits
    ? null
    : `Expected \`by\` to be text of 1 to ${MAX_ACTOR} characters, got ${typeOf(by)}. Change it or leave it out.`;
}

/** Reads an input that was sent to a live run; never throws. */
export function checkRunInput(
  value: unknown,
):
  | { readonly kind: 'input'; readonly input: RunInput }
  | { readonly kind: 'invalid'; readonly message: string } {
  const message = problemOf(value);
  return message === null
    ? { kind: 'input', input: value as RunInput }
    : { kind: 'invalid', message };
}

function problemOf(value: unknown): string | null {
  if (!isPlainObject(value)) return `Expected an input object, got ${typeOf(value)}.`;
  const { id, kind, text, media = [], by } = value;
  if (typeof id !== 'string' || id === '' || id.length > MAX_INPUT_ID || !isWellFormed(id)) {
    return `Expected the \`id\` of an input to be text of 1 to ${MAX_INPUT_ID} characters, got ${typeOf(id)}.`;
  }
  const actor = actorProblem(by);
  if (actor !== null) return actor;
  if (!KINDS.includes(kind as InputKind)) {
    return `Expected the \`kind\` of an input to be one of ${KINDS.join(', ')}, got ${typeOf(kind)}.`;
  }
  if (typeof text !== 'string') {
    return `Expected the \`text\` of an input to be text, got ${typeOf(text)}.`;
  }
  if (!Array.isArray(media) || !media.every(isMedia)) {
    return 'Expected the `media` of an input to be a list of parts with `mediaType` and one of `url` and `data`.';
  }
  if (text.trim() === '' && media.length === 0) {
    return 'Expected an input with text or media, got an empty one.';
  }
  if (isDeeperThan(value, MAX_JSON_DEPTH)) {
    return `Expected an input that nests at most ${MAX_JSON_DEPTH} levels, got a deeper one. Put such data behind a tool.`;
  }
  const bytes = byteSize(value as Json);
  return bytes <= MAX_INPUT_BYTES
    ? null
    : `Expected an input of at most ${MAX_INPUT_BYTES} bytes, got ${bytes}. Put large data behind a tool.`;
}

/** The service takes no id with half of a surrogate pair. */
function isWellFormed(id: string): boolean {
  return wellFormedText(id) === id;
}

/** Whether `value` is a media part. */
function isMedia(value: unknown): value is MediaPart {
  if (!isPlainObject(value) || typeof value['mediaType'] !== 'string') return false;
  return (typeof value['url'] === 'string') !== (typeof value['data'] === 'string');
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'string' ? `\`${value.slice(0, 80)}\`` : typeof value;
}
