/** What a case of a suite is, and what the cases of all kinds share. */
import { errorText } from '../../core/base/error-text.ts';
import { MAX_OWN_TEXT } from '../../core/extension/guard.ts';
import type { Json } from '../../core/base/json.ts';
import { toJsonResult } from '../../core/base/json-result.ts';
import { shown } from '../../core/text/shown.ts';

/** A law that an own part must keep, as a test of any test runner. */
export interface PartCase {
  /** In words, such as `reads what it describes`. */
  readonly name: string;
  /** Throws an Error with what was expected and what was got. */
  readonly run: () => void;
}

/** Characters of a text that repeats one line or mark. */
const LONG = 32_768;

/** A workflow task that computes for longer is cut off. */
const MAX_MS = 5_000;

/** Fails the case. */
export function broken(wanted: string, got: unknown, text?: string): never {
  const where = text === undefined ? '' : `, for the text ${shown(text)}`;
  throw new Error(`Expected ${wanted}, got ${typeof got === 'string' ? got : shown(got)}${where}.`);
}

/** Fails unless `value` is a text that says something. */
export function wantText(what: string, value: unknown): string {
  if (typeof value !== 'string') broken(`${what} to return a text`, value);
  return value;
}

/** Fails unless both are the same JSON. */
export function wantSame(what: string, wanted: unknown, got: unknown, text?: string): void {
  if (JSON.stringify(got) !== JSON.stringify(wanted)) {
    broken(`${what} to be ${shown(wanted)}`, got, text);
  }
}

/** What a reader did with a text: the JSON that it returned, or the message of what it threw. */
export type Reading =
  | { readonly kind: 'value'; readonly value: Json }
  | { readonly kind: 'threw'; readonly text: string };

/**
 * Reads `text`. Fails if that takes as long as a worker would be cut off for, if it throws something
 * else than an Error with a message, or returns no JSON.
 */
export function readSafely(read: (text: string) => unknown, text: string): Reading {
  const began = Date.now();
  const used = process.cpuUsage();
  const reading = attempt(read, text);
  const { user, system } = process.cpuUsage(used);
  // On a machine that has much else to do, the clock is not the reader's.
  const ms = Math.min(Date.now() - began, Math.round((user + system) / 1_000));
  if (ms > MAX_MS) broken(`to read ${text.length} characters within ${MAX_MS} ms`, `${ms}`, text);
  return reading;
}

function attempt(read: (text: string) => unknown, text: string): Reading {
  let value: unknown;
  try {
    value = read(text);
  } catch (error) {
    const message = errorText(error);
    if (error instanceof Error && message.trim() !== '') return { kind: 'threw', text: message };
    broken('what is thrown to be an Error with a message', error, text);
  }
  const json = toJsonResult(value);
  if (json.kind === 'not_json') broken('JSON to be returned', `${json.type} at ${json.path}`, text);
  return { kind: 'value', value: json.value ?? null };
}

/** `value` with all its objects frozen: a part must not change what it is given. */
export function frozen<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) frozen(inner);
    Object.freeze(value);
  }
  return value;
}

/** Each text that is `text` cut off, at most some 500, at every place of a short one. */
export function cutsOf(text: string): readonly string[] {
  const step = Math.max(1, Math.ceil(text.length / 500));
  const places = Array.from({ length: Math.ceil(text.length / step) }, (_, index) => index * step);
  return places.map((place) => text.slice(0, place));
}

/** `text` with halves of characters: lone surrogates at its ends, and at each of some places. */
export function halvesOf(text: string): readonly string[] {
  const halves = ['\ud83d', '\ude00'];
  const places = [0, 1, Math.floor(text.length / 2), text.length];
  return halves.flatMap((half) =>
    places.map((place) => text.slice(0, place) + half + text.slice(place)),
  );
}

/** Texts that no reader should stumble over, made of the lines and marks of `sample`. */
export function hostileTexts(sample: string): readonly string[] {
  const lines = [...new Set(sample.split('\n').filter((line) => line.trim() !== ''))].slice(0, 12);
  const marks = [...new Set(sample.replaceAll(/[\w\s]/g, ''))].slice(0, 12);
  const filled = (piece: string, length = MAX_OWN_TEXT): string =>
    piece.repeat(Math.floor(length / Math.max(1, piece.length)));
  return [
    '',
    ' ',
    '\n\n\n',
    '\0',
    '\ufeff',
    '__proto__',
    sample.replaceAll('\n', '\r\n'),
    sample + sample,
    Array.from(sample).toReversed().join(''),
    sample.replaceAll(/\w+/g, '__proto__'),
    `${sample}\n\n${sample.toUpperCase()}`,
    ...lines.flatMap((line) => [line, filled(`${line}\n`, LONG), filled(line, LONG)]),
    ...marks.flatMap((mark) => [mark, filled(mark, LONG), filled(`${mark} `, LONG)]),
    ...[sample, 'x', '\n', ' ', '😀'].map((piece) => filled(piece)),
  ];
}
