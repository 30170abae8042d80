/**
 * The characters of text: a character is a code point with its combining marks. The tables are our
 * own, since those of `Intl` change with the JavaScript engine.
 */

/** No unit below this one joins. */
const FIRST_JOINING = 0x300;

/** Ranges of code points that join to the one before them, in order. */
const JOINING: readonly (readonly [number, number])[] = Object.freeze([
  [0x300, 0x36f],
  [0x1ab0, 0x1aff],
  [0x1dc0, 0x1dff],
  [0x200c, 0x200d],
  [0x20d0, 0x20ff],
  [0xfe00, 0xfe0f],
  [0xfe20, 0xfe2f],
  [0x1f3fb, 0x1f3ff],
  [0xe0020, 0xe007f],
  [0xe0100, 0xe01ef],
]);

const ZERO_WIDTH_JOINER = 0x200d;

function joins(codePoint: number): boolean {
  if (codePoint < FIRST_JOINING) return false;
  for (const [low, high] of JOINING) {
    if (codePoint <= high) return codePoint >= low;
  }
  return false;
}

function isPictograph(codePoint: number): boolean {
  return (
    (codePoint >= 0x2190 && codePoint <= 0x2bff) || (codePoint >= 0x1f000 && codePoint <= 0x1faff)
  );
}

function isRegional(codePoint: number): boolean {
  return codePoint >= 0x1f1e6 && codePoint <= 0x1f1ff;
}

/** Whether every UTF-16 unit of `text` is one character. */
export function isSimple(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    if (text.charCodeAt(index) >= FIRST_JOINING) return false;
  }
  return true;
}

/** The UTF-16 offset where the character that starts at `from` ends. */
export function characterEnd(text: string, from: number): number {
  let before = text.codePointAt(from) ?? 0;
  let at = from + (before > 0xffff ? 2 : 1);
  // Two regional indicators make a flag; a third one begins the next flag.
  let halfFlag = isRegional(before);
  while (at < text.length) {
    const next = text.codePointAt(at) ?? 0;
    const flag = halfFlag && isRegional(next);
    if (!joins(next) && !(before === ZERO_WIDTH_JOINER && isPictograph(next)) && !flag) break;
    halfFlag = false;
    before = next;
    at += next > 0xffff ? 2 : 1;
  }
  return at;
}

/** The characters of `text`, in order. */
export function characters(text: string): string[] {
  if (isSimple(text)) return text.split('');
  const found: string[] = [];
  let at = 0;
  while (at < text.length) {
    const end = characterEnd(text, at);
    found.push(text.slice(at, end));
    at = end;
  }
  return found;
}

/** The number of characters of `text`. */
export function characterCount(text: string): number {
  if (isSimple(text)) return text.length;
  let count = 0;
  for (let at = 0; at < text.length; at = characterEnd(text, at)) count += 1;
  return count;
}

/** The UTF-16 offset of character `index`; the length of the text past its end. */
export function offsetOfCharacter(text: string, index: number): number {
  if (isSimple(text)) return Math.min(index, text.length);
  let at = 0;
  for (let count = 0; count < index && at < text.length; count++) at = characterEnd(text, at);
  return at;
}

/** The index of the character at UTF-16 offset `offset`, or −1 when none starts there. */
export function characterAtOffset(text: string, offset: number): number {
  if (isSimple(text)) return offset;
  let count = 0;
  let at = 0;
  while (at < offset) {
    at = characterEnd(text, at);
    count += 1;
  }
  return at === offset ? count : -1;
}

/** Whether `text` has no lone surrogate. */
export function isWellFormed(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if ((unit & 0xf800) !== 0xd800) continue;
    const paired = unit < 0xdc00 && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00;
    if (!paired) return false;
    index += 1;
  }
  return true;
}

/** `text` with U+FFFD for every lone surrogate. */
export function toWellFormed(text: string): string {
  if (isWellFormed(text)) return text;
  let out = '';
  for (const character of text) {
    const lone = character.length === 1 && (character.charCodeAt(0) & 0xf800) === 0xd800;
    out += lone ? '\ufffd' : character;
  }
  return out;
}
