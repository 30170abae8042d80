/**
 * Reads what a page sends: bodies of bounded size, and fields of the types that are expected.
 *
 * I1  No more of a body is kept than {@link MAX_REQUEST_BYTES}, whatever its headers say.
 * I2  A field of another type is refused with its name; unknown fields are refused too.
 * I3  A body is nested no deeper than anything that reads or writes it can take.
 */
import {
  isDeeperThan,
  isPlainObject,
  MAX_JSON_DEPTH,
  type Json,
  type JsonObject,
} from '../core/base/json.ts';
import type { MediaPart } from '../core/base/message.ts';
import type { LimitsInput } from '../core/contract/input.ts';
import { shown } from '../core/text/shown.ts';
import { MAX_REQUEST_BYTES } from './api.ts';
import { ANSWER_MS, within } from './bounded-reads.ts';
import { invalid, ConsoleRefusal } from './refusal.ts';

/** The body of `request` as a JSON object, of which only `fields` may be set. */
export async function readBody(
  request: Request,
  fields: readonly string[],
): Promise<{ readonly [name: string]: unknown }> {
  const text = await within(ANSWER_MS, readText(request), 'Expected the whole body in time.');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid('Expected the body to be JSON, got something else. Send one object.');
  }
  if (!isPlainObject(value)) throw invalid('Expected the body to be one object. Send one.');
  const unknown = Object.keys(value).find((name) => !fields.includes(name));
  if (unknown !== undefined) {
    throw invalid(
      `Expected only the fields ${fields.join(', ')}, got ${shown(unknown)}. Leave it out.`,
    );
  }
  if (!isDeeperThan(value, MAX_JSON_DEPTH)) return value;
  throw invalid(
    `Expected a body of at most ${MAX_JSON_DEPTH} levels, got a deeper one. Make it flatter.`,
  );
}

async function readText(request: Request): Promise<string> {
  const announced = Number(request.headers.get('content-length') ?? 0);
  if (announced > MAX_REQUEST_BYTES) throw tooLarge();
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const piece of (request.body ?? []) as AsyncIterable<Uint8Array>) {
      bytes += piece.byteLength;
      if (bytes > MAX_REQUEST_BYTES) throw tooLarge();
      pieces.push(piece);
    }
  } catch (error) {
    if (error instanceof ConsoleRefusal) throw error;
    throw invalid('Expected a whole body, got a part of one. Send it again.');
  }
  return Buffer.concat(pieces).toString('utf8');
}

function tooLarge(): ConsoleRefusal {
  return new ConsoleRefusal(
    'too_large',
    `Expected a body of at most ${MAX_REQUEST_BYTES} bytes. Send less.`,
  );
}

type Fields = { readonly [name: string]: unknown };

/** A text of `body`, which must be there. */
export function textIn(body: Fields, name: string): string {
  const value = body[name];
  if (typeof value === 'string') return value;
  throw invalid(`Expected \`${name}\` to be a text, got ${shown(value)}. Correct it.`);
}

/** A text of `body`; undefined if it is not set. */
export function optionalText(body: Fields, name: string): string | undefined {
  return body[name] === undefined ? undefined : textIn(body, name);
}

/** True or false of `body`; default false. */
export function flagIn(body: Fields, name: string): boolean {
  const value = body[name] ?? false;
  if (typeof value === 'boolean') return value;
  throw invalid(`Expected \`${name}\` to be true or false, got ${shown(value)}. Correct it.`);
}

/** One of `choices` of `body`; undefined if it is not set. */
export function choiceIn<Choice extends string>(
  body: Fields,
  name: string,
  choices: readonly Choice[],
): Choice | undefined {
  const value = body[name];
  if (value === undefined) return undefined;
  const chosen = choices.find((choice) => choice === value);
  if (chosen !== undefined) return chosen;
  throw invalid(
    `Expected \`${name}\` to be one of ${choices.join(', ')}, got ${shown(value)}. Choose one.`,
  );
}

/** An object of `body`; undefined if it is not set. */
export function objectIn(body: Fields, name: string): JsonObject | undefined {
  const value = body[name];
  if (value === undefined) return undefined;
  if (isPlainObject(value)) return value as JsonObject;
  throw invalid(`Expected \`${name}\` to be an object, got ${shown(value)}. Correct it.`);
}

/** Any JSON of `body`, which must be there. */
export function jsonIn(body: Fields, name: string): Json {
  const value = body[name];
  if (value !== undefined) return value as Json;
  throw invalid(`Expected \`${name}\`, got nothing. Set it.`);
}

/** Limits of a body; the client and the run check them. */
export function limitsIn(body: Fields): LimitsInput | undefined {
  const { limits } = body;
  if (limits === undefined) return undefined;
  if (limits === 'unlimited' || isPlainObject(limits)) return limits as LimitsInput;
  throw invalid('Expected `limits` to be an object or "unlimited". Correct it.');
}

/** Media parts of a body; the client and the worker check what they hold. */
export function mediaIn(body: Fields): readonly MediaPart[] | undefined {
  const { media } = body;
  if (media === undefined) return undefined;
  if (Array.isArray(media) && media.length > 0) return media as readonly MediaPart[];
  throw invalid('Expected `media` to be a list of media parts. Correct it.');
}

/** A whole number in a query; `fallback` if it is not set. */
export function numberIn(
  text: string | undefined,
  name: string,
  { least, most, fallback }: { readonly least: number; readonly most: number; fallback: number },
): number {
  if (text === undefined || text === '') return fallback;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw invalid(
    `Expected \`${name}\` to be a whole number from ${least} to ${most}, got ${shown(text)}. Correct it.`,
  );
}
