/**
 * Removes hidden values from text for a model. Their keys are known (they begin with `_`), so their
 * values are searched for wherever they may have been printed: in notes, previews and errors. A
 * value that a program has computed from a hidden value is not recognised.
 */
import { isJsonObject, type Json } from '../base/json.ts';
import { isHidden } from '../contract/signature.ts';

/** Replaces a hidden value. */
const HIDDEN_MARK = '<hidden>';

/** Shorter values, such as `1` and `no`, appear in texts by chance. */
const MIN_LENGTH = 4;

/** A longer text may have been shortened when printed; a beginning of this length counts. */
const MIN_PREFIX = 8;

/** Texts that no model may see, as they are and as they are printed, longest first. */
export function hiddenTexts(
  values: readonly Json[],
  known: readonly string[] = [],
): readonly string[] {
  const found = new Set(known);
  for (const value of values) collect(value, false, found);
  return [...found].toSorted((a, b) => b.length - a.length || (a < b ? -1 : 1));
}

/** `text` with `<hidden>` in place of each of `hidden` and of its beginnings. */
export function withoutHidden(text: string, hidden: readonly string[]): string {
  const signs = new Set(hidden.map((secret) => secret.slice(0, MIN_PREFIX)));
  return [...signs].reduce(
    (clean, sign) =>
      withoutSome(
        clean,
        sign,
        hidden.filter((secret) => secret.startsWith(sign)),
      ),
    text,
  );
}

/** `text` without those of `secrets`, which all begin with `sign`, and without their beginnings. */
function withoutSome(text: string, sign: string, secrets: readonly string[]): string {
  let rest = 0;
  let clean = '';
  for (let at = text.indexOf(sign); at >= 0; at = text.indexOf(sign, rest)) {
    const lengths = secrets.map((secret) => sharedLength(text, at, secret));
    clean += text.slice(rest, at) + HIDDEN_MARK;
    rest = at + Math.max(...lengths);
  }
  return clean + text.slice(rest);
}

function sharedLength(text: string, at: number, secret: string): number {
  let length = 0;
  while (length < secret.length && text[at + length] === secret[length]) length += 1;
  return length;
}

/**
 * Whether a text in `value`, names included, contains one of `hidden`, or a number equals one.
 * Beginnings do not count, because data is not shortened as printed text is.
 */
export function holdsHidden(value: Json, hidden: readonly string[]): boolean {
  const holds = (text: string): boolean => hidden.some((secret) => text.includes(secret));
  if (Array.isArray(value)) {
    return (value as readonly Json[]).some((item) => holdsHidden(item, hidden));
  }
  if (isJsonObject(value)) {
    return Object.entries(value).some(([key, item]) => holds(key) || holdsHidden(item, hidden));
  }
  if (typeof value === 'number') return hidden.includes(String(value));
  return typeof value === 'string' && holds(value);
}

function collect(value: Json, isSecret: boolean, found: Set<string>): void {
  if (Array.isArray(value)) {
    for (const item of value as readonly Json[]) collect(item, isSecret, found);
  } else if (isJsonObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      collect(item, isSecret || isHidden(key), found);
    }
  } else if (isSecret && (typeof value === 'string' || typeof value === 'number')) {
    const text = String(value);
    if (text.length < MIN_LENGTH) return;
    found.add(text);
    // As JSON and as the language prints it, if they differ from the text itself.
    found.add(JSON.stringify(text).slice(1, -1));
    found.add(text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n'));
  }
}
