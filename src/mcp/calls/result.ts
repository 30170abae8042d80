/**
 * What the answer of a server to a call means: the output for the model, its media, and what is for
 * the user only. Pure, and never throws: the answer may be anything.
 */
import {
  canonicalJson,
  isDeeperThan,
  isPlainObject,
  MAX_JSON_DEPTH,
} from '../../core/base/json.ts';
import type { Json } from '../../core/base/json.ts';
import type { MediaPart } from '../../core/base/message.ts';
import { clip, firstBytes } from '../../core/text/cut.ts';
import { shown } from '../../core/text/shown.ts';

/** Base64 of one part, and of all parts together; runs without a blob store hold no more. */
const MAX_MEDIA = 1_048_576;

/** Parts of one answer that are read. */
const MAX_PARTS = 1_000;

/** UTF-8 bytes of a failure that a model reads. */
const MAX_ERROR_BYTES = 2_000;

/** How many times longer than the compact form a JSON text may be that repeats a value. */
const MAX_INDENTED = 10;

/** Characters of names, types and addresses in notes. */
const MAX_LABEL = 500;

/** What a call came to. */
export type CallReading =
  | {
      readonly kind: 'ok';
      /** Absent: the server returned nothing. */
      readonly output?: Json;
      readonly media: readonly MediaPart[];
      /** Texts that the model does not see. */
      readonly forUser: readonly string[];
    }
  | { readonly kind: 'error'; readonly message: string; readonly forUser: readonly string[] };

interface Parts {
  readonly texts: string[];
  readonly media: MediaPart[];
  readonly forUser: string[];
  mediaSize: number;
}

/** Reads what a server returned from `tools/call`. */
export function readResult(result: unknown): CallReading {
  const answer = isPlainObject(result) ? result : {};
  const { texts, media, forUser } = partsOf(answer['content']);
  const structured = structuredOf(answer['structuredContent']);
  if (answer['isError'] === true) {
    const joined = texts.join('\n\n').trim();
    const text = joined === '' && structured !== undefined ? shown(structured) : joined;
    const message = firstBytes(text || 'the server gave no reason', MAX_ERROR_BYTES);
    return { kind: 'error', message, forUser };
  }
  const output = outputOf(structured, texts);
  return output === undefined
    ? { kind: 'ok', media, forUser }
    : { kind: 'ok', output, media, forUser };
}

/** The parts of a list of contents, as the messages of a prompt have them, too. */
export function partsOf(content: unknown): Omit<Parts, 'mediaSize'> {
  const parts: Parts = { texts: [], media: [], forUser: [], mediaSize: 0 };
  const list: readonly unknown[] = Array.isArray(content) ? content : [];
  for (const part of list.slice(0, MAX_PARTS)) addPart(parts, part);
  if (list.length > MAX_PARTS) parts.texts.push(`[${list.length - MAX_PARTS} more parts left out]`);
  return parts;
}

function structuredOf(value: unknown): Json | undefined {
  if (value === undefined || value === null) return undefined;
  if (isDeeperThan(value, MAX_JSON_DEPTH))
    return '[structured content left out: it nests too deep]';
  return value as Json;
}

function outputOf(structured: Json | undefined, texts: readonly string[]): Json | undefined {
  if (structured === undefined) return texts.length === 0 ? undefined : texts.join('\n\n');
  if (texts.length === 0) return structured;
  const repeated = canonicalJson(structured);
  const others = texts.filter((text) => !isJsonText(text, repeated));
  return others.length === 0 ? structured : { result: structured, text: others.join('\n\n') };
}

/** Whether `text` is the JSON value whose canonical text is `canonical`. */
function isJsonText(text: string, canonical: string): boolean {
  // Indented JSON is a few times as long. A longer text is another one, and need not be read.
  if (text.length > MAX_INDENTED * canonical.length + 1_000) return false;
  try {
    const value = JSON.parse(text) as Json;
    return !isDeeperThan(value, MAX_JSON_DEPTH) && canonicalJson(value) === canonical;
  } catch {
    return false;
  }
}

function addPart(parts: Parts, part: unknown): void {
  if (!isPlainObject(part)) {
    parts.texts.push('[part that is no object left out]');
    return;
  }
  const into: Parts = isForUser(part) ? { texts: [], media: [], forUser: [], mediaSize: 0 } : parts;
  addContent(into, part);
  if (into === parts) return;
  parts.forUser.push(...into.texts, ...into.media.map(({ mediaType }) => `[${mediaType}]`));
}

function isForUser({ annotations }: { readonly [key: string]: unknown }): boolean {
  const audience = isPlainObject(annotations) ? annotations['audience'] : undefined;
  return Array.isArray(audience) && audience.length === 1 && audience[0] === 'user';
}

function addContent(parts: Parts, part: { readonly [key: string]: unknown }): void {
  const { type } = part;
  switch (type) {
    case 'text':
      parts.texts.push(typeof part['text'] === 'string' ? part['text'] : '');
      return;
    case 'image':
    case 'audio':
      addMedia(parts, part['mimeType'], part['data']);
      return;
    case 'resource':
      addResource(parts, part['resource']);
      return;
    case 'resource_link':
      parts.texts.push(linkLine(part));
      return;
    default:
      parts.texts.push(`[part of type ${label(type)} left out]`);
  }
}

/** The contents of a resource: its text, or a medium. */
export function addResource(parts: Parts, resource: unknown): void {
  const { uri, text, blob, mimeType } = isPlainObject(resource) ? resource : {};
  if (typeof text === 'string') {
    parts.texts.push(`Resource ${label(uri)}:\n${text}`);
    return;
  }
  const isShown =
    typeof mimeType === 'string' && /^(image|audio)\/|^application\/pdf$/.test(mimeType);
  if (isShown) addMedia(parts, mimeType, blob);
  else parts.texts.push(`[resource ${label(uri)}${sizeNote(mimeType, blob)} left out]`);
}

function sizeNote(mimeType: unknown, blob: unknown): string {
  const type = typeof mimeType === 'string' ? ` of type ${label(mimeType)}` : '';
  return typeof blob === 'string' ? `${type}, ${megabytes(blob.length)}` : type;
}

function addMedia(parts: Parts, mimeType: unknown, data: unknown): void {
  const isFit =
    typeof mimeType === 'string' &&
    /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/.test(mimeType) &&
    typeof data === 'string' &&
    data !== '' &&
    /^[A-Za-z0-9+/_-]*={0,2}$/.test(data);
  if (!isFit) {
    parts.texts.push(`[medium of type ${label(mimeType)} left out: it is no base64]`);
    return;
  }
  if (parts.mediaSize + data.length > MAX_MEDIA) {
    parts.texts.push(`[${mimeType} of ${megabytes(data.length)} left out]`);
    return;
  }
  parts.mediaSize += data.length;
  parts.media.push({ type: 'media', mediaType: mimeType, data });
}

/** A line for a resource that the answer points to. */
export function linkLine({ name, uri, mimeType }: { readonly [key: string]: unknown }): string {
  const type = typeof mimeType === 'string' ? ` (${label(mimeType)})` : '';
  return `- ${label(name)}: ${label(uri)}${type}`;
}

function label(value: unknown): string {
  return clip(typeof value === 'string' ? value : shown(value), MAX_LABEL);
}

/** The size of base64 of `length` characters, which hold six bits each. */
function megabytes(length: number): string {
  const bytes = (length * 3) / 4;
  return bytes < 100_000 ? `${Math.ceil(bytes / 1000)} KB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
