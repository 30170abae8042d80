/**
 * Takes values out of texts.
 *
 * I1  A value is found as it is, escaped as in JSON, percent-encoded, and in base64 of either
 *     alphabet, also where the base64 is of a longer text: of `user:password` for example.
 * I2  One compiled expression finds all of them in one pass.
 * I3  A text that was cut in the middle of a value does not keep its beginning.
 */
import { HIDE_NOTHING, type HideText } from '../core/text/hide.ts';

/** Shorter values stand in too many texts that are no secrets. */
export const MIN_CHARACTERS = 8;

const HIDDEN = '[redacted]';

/** Hides `values`, which have at least {@link MIN_CHARACTERS} each. */
export function hiderOf(values: readonly string[]): HideText {
  const forms = [...new Set(values.flatMap(formsOf))].toSorted((a, b) => b.length - a.length);
  if (forms.length === 0) return HIDE_NOTHING;
  const pattern = new RegExp(forms.map(escaped).join('|'), 'g');
  return (text) => withoutPart(text.replace(pattern, HIDDEN), forms);
}

/** The texts as which a value may stand in another text. */
function formsOf(value: string): readonly string[] {
  const bytes = Buffer.from(value, 'utf8');
  const forms = [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)];
  for (const alphabet of ['base64', 'base64url'] as const) {
    forms.push(bytes.toString(alphabet));
    for (const before of [0, 1, 2]) forms.push(insideBase64(bytes, before, alphabet));
  }
  return forms.filter((form) => form.length >= MIN_CHARACTERS);
}

/** The characters of the base64 of a longer text that depend on `bytes` alone, which begin there. */
function insideBase64(bytes: Buffer, before: number, alphabet: 'base64' | 'base64url'): string {
  const text = Buffer.concat([Buffer.alloc(before), bytes]).toString(alphabet);
  const [first, end] = [before, before + bytes.length].map((at) => (at * 8) / 6) as [
    number,
    number,
  ];
  return text.slice(Math.ceil(first), Math.floor(end));
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
}

/** What stands where a text was cut. */
const CUT_MARK = /(?:…|\n\[cut: \d+ of \d+ bytes shown\])$/;

/** `text` without the beginning of a form that it was cut in. */
function withoutPart(text: string, forms: readonly string[]): string {
  const mark = CUT_MARK.exec(text);
  if (mark === null) return text;
  const body = text.slice(0, mark.index);
  for (const form of forms) {
    const head = form.slice(0, MIN_CHARACTERS);
    let at = body.indexOf(head, Math.max(0, body.length - form.length));
    while (at >= 0) {
      if (form.startsWith(body.slice(at))) return `${body.slice(0, at)}${HIDDEN}${mark[0]}`;
      at = body.indexOf(head, at + 1);
    }
  }
  return text;
}
