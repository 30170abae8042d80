/** Which medium of a request a provider did not take, so that only this one is left out. */
import { isPlainObject } from '../core/base/json.ts';
import type { MediaPart, Message } from '../core/base/message.ts';
import { mediaIn } from './fit/fetch-media.ts';
import { errorLayers } from './model-failures.ts';

/**
 * The medium of `sent` that `error` is about: the one whose address or place the provider names, else the
 * newest.
 */
export function refusedMedium(sent: readonly Message[], error: unknown): MediaPart | undefined {
  const media = sent.flatMap(mediaIn);
  const words = wordsIn(error);
  const byUrl = media.find(({ url }) => url !== undefined && words.includes(url));
  return byUrl ?? mediumAtPlace(media, words, error) ?? media.at(-1);
}

/** All that the body of an answer says, as text. */
function wordsIn(error: unknown): string {
  const layers = errorLayers(error);
  const texts = layers.flatMap(({ message, responseBody }) => [message, responseBody]);
  return texts
    .filter((text) => typeof text === 'string')
    .join('\n')
    .slice(0, MAX_WORDS);
}

/** Characters of an answer that are read for a place. */
const MAX_WORDS = 16_384;

/** A place in a request, as providers write one: `messages.1.content[0].image_url`, a list of keys, … */
const PLACE = /\b(?:messages|input|contents)(?:[^\w\n]{1,4}(?:\d{1,4}|[a-zA-Z_]{1,32})\b){1,12}/g;

function mediumAtPlace(
  media: readonly MediaPart[],
  words: string,
  error: unknown,
): MediaPart | undefined {
  const body = errorLayers(error)
    .map((layer) => layer['requestBodyValues'])
    .find(isPlainObject);
  if (body === undefined) return undefined;
  const onWire = wirePaths(body, []);
  // Another number of them: they cannot be told apart.
  if (onWire.length !== media.length) return undefined;
  for (const [place] of words.matchAll(PLACE)) {
    const reached = reachedPath(body, place.match(/\w+/g) ?? []);
    const found = onWire.flatMap((path, index) => (isAt(path, reached) ? [index] : []));
    if (found.length === 1 && found[0] !== undefined) return media[found[0]];
  }
  return undefined;
}

/** As much of `place` as `body` has. */
function reachedPath(body: unknown, place: readonly string[]): readonly string[] {
  const reached: string[] = [];
  let at: unknown = body;
  for (const step of place) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) break;
    at = (at as Record<string, unknown>)[step];
    reached.push(step);
  }
  return reached;
}

/** Whether one of two paths leads to the other. */
function isAt(left: readonly string[], right: readonly string[]): boolean {
  const length = Math.min(left.length, right.length);
  return left.slice(0, length).every((step, index) => step === right[index]);
}

/** The types of the parts of requests that are media. */
const TYPES: readonly unknown[] = [
  'image',
  'image_url',
  'input_image',
  'document',
  'document_url',
  'file',
  'input_file',
  'input_audio',
  'audio_url',
  'video_url',
];

/** The fields of such parts without a type. */
const FIELDS: readonly string[] = ['inlineData', 'fileData'];

/** Where the body of a request has media, in their order. */
function wirePaths(node: unknown, path: readonly string[]): readonly (readonly string[])[] {
  if (typeof node !== 'object' || node === null) return [];
  const fields = node as Readonly<Record<string, unknown>>;
  const isMedium = TYPES.includes(fields['type']) || FIELDS.some((name) => name in fields);
  if (isMedium && path.length > 0) return [path];
  return Object.entries(fields).flatMap(([name, inner]) => wirePaths(inner, [...path, name]));
}
