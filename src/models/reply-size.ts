/** The size of a reply while it is written, so that one without end is left before it fills a worker. */
import { byteSize, MAX_JSON_DEPTH, utf8Length, type Json } from '../core/base/json.ts';
import { BLOB_SIZES } from '../core/base/size-limits.ts';
import { replyTooLong } from './bodies/reply-bounds.ts';

/** The bytes of a reply so far. */
export interface ReplySize {
  /** Counts a text; throws when the reply is too long. */
  readonly text: (text: string) => void;
  /** Counts another block or call; throws when the reply is too long. */
  readonly item: (name: string) => void;
  /** Counts what is not text; throws when the reply is too long. */
  readonly bytes: (more: number) => void;
  /** Whether the reply may have so many bytes more. */
  readonly has: (more: number) => boolean;
  /** Counts data of the provider in the place of what it replaces; throws when the reply is too long. */
  readonly data: (now: Json | undefined, before?: Json) => void;
}

/** The longest reply that any run keeps. */
export const MAX_REPLY_BYTES: number = BLOB_SIZES.reply;

/** What a block or a call takes beside its texts, here and in the adapter of its provider. */
const ITEM_BYTES = 256;

/** A reply of at most `maxBytes`, of which nothing has come. */
export function createReplySize(maxBytes: number = MAX_REPLY_BYTES): ReplySize {
  let bytes = 0;
  const add = (more: number): void => {
    bytes += more;
    if (bytes > maxBytes) throw replyTooLong(maxBytes);
  };
  const sizeOfText = (text: string): number =>
    // One of more characters than there may be bytes need not be measured.
    text.length > maxBytes ? text.length : utf8Length(text);
  return {
    text: (text) => add(sizeOfText(text)),
    bytes: add,
    has: (more) => bytes + more <= maxBytes,
    item: (name) => add(ITEM_BYTES + sizeOfText(name)),
    data: (now, before) => add(sizeOf(now) - sizeOf(before)),
  };
}

function sizeOf(value: Json | undefined): number {
  return value === undefined ? 0 : byteSize(value);
}

/**
 * Whether `value` has at most `maxBytes` of texts and as many values: what a model function returns is
 * not copied before that is known. Stops as soon as it is not so.
 */
export function isWithin(value: unknown, maxBytes: number = MAX_REPLY_BYTES): boolean {
  let left = maxBytes;
  const take = (part: unknown, depth: number): boolean => {
    left -= 1;
    if (typeof part === 'string') left -= part.length;
    if (left < 0) return false;
    // What nests deeper is refused later.
    if (typeof part !== 'object' || part === null || depth > MAX_JSON_DEPTH) return true;
    if (ArrayBuffer.isView(part)) {
      left -= part.byteLength;
      return left >= 0;
    }
    if (Array.isArray(part)) {
      return part.length <= left && part.every((item: unknown) => take(item, depth + 1));
    }
    for (const key in part) {
      left -= key.length;
      if (!take(memberOf(part, key), depth + 1)) return false;
    }
    return left >= 0;
  };
  return take(value, 0);
}

function memberOf(object: object, key: string): unknown {
  try {
    return Reflect.get(object, key);
  } catch {
    // A getter that throws has no JSON form, which is told later.
    return undefined;
  }
}
