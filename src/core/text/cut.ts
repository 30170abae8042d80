/** Shortens text: to a number of bytes with a mark for what is missing, or to a few characters. */
import { utf8Length } from '../base/json.ts';

/** How much of a text is shown, in UTF-8 bytes. */
export interface CutSizes {
  readonly shown: number;
  readonly total: number;
}

/** A text that may have been shortened; `cut` is set exactly when something is missing. */
export interface CutText {
  readonly text: string;
  readonly cut?: CutSizes;
}

/**
 * At most `maxBytes` UTF-8 bytes of `text`, ending at a whole code point, and the sizes. If
 * something is missing, a line `[cut: {shown} of {total} bytes shown]` follows, beyond the limit.
 */
export function cutWithSizes(text: string, maxBytes: number): CutText {
  // A UTF-16 unit takes at most 3 bytes, so most texts need no counting.
  if (text.length * 3 <= maxBytes) return { text };
  const total = utf8Length(text);
  if (total <= maxBytes) return { text };
  const head = firstBytes(text, maxBytes);
  const shown = utf8Length(head);
  return {
    text: `${head}\n[cut: ${shown} of ${total} bytes shown]`,
    cut: { shown, total },
  };
}

/** The text of {@link cutWithSizes}. */
export function cut(text: string, maxBytes: number): string {
  return cutWithSizes(text, maxBytes).text;
}

/** The longest prefix of whole code points that fits into `maxBytes` UTF-8 bytes; no mark. */
export function firstBytes(text: string, maxBytes: number): string {
  return text.slice(0, endWithin(text, maxBytes));
}

/** The first `maxCharacters` UTF-16 units of `text`, one fewer if that would split a pair. */
export function clip(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const last = text.charCodeAt(maxCharacters - 1);
  const splitsPair = last >= 0xd800 && last < 0xdc00;
  return text.slice(0, splitsPair ? maxCharacters - 1 : maxCharacters);
}

/** The end of the longest prefix of whole code points that fits into `maxBytes`. */
function endWithin(text: string, maxBytes: number): number {
  let bytes = 0;
  let index = 0;
  while (index < text.length) {
    const codePoint = text.codePointAt(index) ?? 0;
    bytes += codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;
    if (bytes > maxBytes) return index;
    index += codePoint < 0x10000 ? 1 : 2;
  }
  return index;
}
