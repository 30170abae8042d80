/**
 * Media by URL whose provider does not load them itself: the worker fetches them for the call.
 *
 * I1  All media of one call have at most {@link MAX_MEDIA_BYTES}, and take {@link MEDIA_TIMEOUT_MS}
 *     together; each is fetched once.
 * I2  What cannot be had is told to the model in its place. It ends no call.
 */
import { errorText } from '../../core/base/error-text.ts';
import type { MediaPart, Message, Part } from '../../core/base/message.ts';
import { VERSION } from '../../core/base/version.ts';
import { mediaTypeOfBytes } from '../../core/text/media-type.ts';
import { getBounded } from '../../http/get-bounded.ts';
import { takesByUrl, takesType, type LeaveOut } from './fit-media.ts';
import type { Traits } from './traits.ts';

/** The most bytes that are fetched for one call. */
export const MAX_MEDIA_BYTES: number = 20 * 1024 * 1024;

/** How long fetching may take for one call, in ms. */
const MEDIA_TIMEOUT_MS = 30_000;

/** How many media are fetched at once. */
const MAX_AT_ONCE = 4;

/** Where media are fetched from. */
export interface MediaSource {
  /** Ends what is under way. */
  readonly signal: AbortSignal;
  /** The hosts that may be asked, also at private addresses; undefined: any at a public address. */
  readonly hosts: readonly string[] | undefined;
  /** How long all of them may take. Default: {@link MEDIA_TIMEOUT_MS}. */
  readonly timeoutMs?: number;
}

/** Fetches media for one call. */
export interface MediaFetcher {
  /** `part` with its data, or why it cannot be had. */
  fetch(part: MediaPart): Promise<MediaPart | string>;
  /** The part of the transcript that a fetched one stands for; any other part itself. */
  originalOf(part: MediaPart): MediaPart;
}

/** A fetcher for one call. */
export function createMediaFetcher({
  signal,
  hosts,
  timeoutMs = MEDIA_TIMEOUT_MS,
}: MediaSource): MediaFetcher {
  const fetched = new Map<string, Promise<MediaPart | string>>();
  const originals = new WeakMap<MediaPart, MediaPart>();
  let deadline: AbortSignal | undefined;
  let left = MAX_MEDIA_BYTES;
  const take = (bytes: number): void => {
    left -= bytes;
    if (left < 0) throw new Error(`media of one request have more than ${MAX_MEDIA_BYTES} bytes`);
  };
  const get = async (part: MediaPart): Promise<MediaPart | string> => {
    const { mediaType, url = '' } = part;
    deadline ??= AbortSignal.timeout(timeoutMs);
    try {
      if (left <= 0) take(1);
      const userAgent = `everloop/${VERSION}`;
      const ends = AbortSignal.any([signal, deadline]);
      const got = url.startsWith('data:')
        ? readDataUrl(url)
        : await getBounded(urlOf(url), { signal: ends, hosts, userAgent, take });
      const found = typeOf(mediaType, got.bytes, got.mediaType);
      if (found === undefined) {
        return `it is ${mediaTypeOfBytes(got.bytes) ?? got.mediaType}, not ${mediaType}`;
      }
      const whole = {
        type: 'media',
        mediaType: found,
        data: got.bytes.toString('base64'),
      } as const;
      originals.set(whole, part);
      return whole;
    } catch (error) {
      if (deadline.aborted) return `media of one request took longer than ${timeoutMs / 1000} s`;
      return errorText(error) || 'no answer';
    }
  };
  return {
    fetch: (part) => {
      const key = `${part.mediaType} ${part.url}`;
      const known = fetched.get(key);
      if (known !== undefined) return known;
      const pending = get(part);
      fetched.set(key, pending);
      return pending;
    },
    originalOf: (part) => originals.get(part) ?? part,
  };
}

function urlOf(text: string): URL {
  if (!URL.canParse(text)) throw new Error('its address is not absolute');
  return new URL(text);
}

/** `messages` with data in place of the addresses that a model with `traits` does not take. */
export async function fetchMedia(
  messages: readonly Message[],
  traits: Traits,
  fetcher: MediaFetcher,
  leaveOut: (source: number, what: string) => void,
): Promise<readonly Message[]> {
  const isWanted = (part: Part): part is MediaPart =>
    part.type === 'media' &&
    part.url !== undefined &&
    takesType(part, traits) &&
    !takesByUrl(part, part.url, traits);
  // The newest first: of too many, the model needs these most.
  const wanted = messages.flatMap(mediaIn).filter(isWanted).toReversed();
  if (wanted.length === 0) return messages;
  const results = new Map<MediaPart, MediaPart | string>();
  const next = wanted.values();
  const lane = async (): Promise<void> => {
    for (const part of next) results.set(part, await fetcher.fetch(part));
  };
  await Promise.all(Array.from({ length: MAX_AT_ONCE }, lane));
  return messages.map((message, source) =>
    withMedia(message, (part) => {
      const result = results.get(part) ?? part;
      return typeof result === 'string'
        ? told(part, result, (what) => leaveOut(source, what))
        : result;
    }),
  );
}

/** The media of a message, in their order; files that a model wrote are none. */
export function mediaIn({ parts }: Message): readonly MediaPart[] {
  return parts.flatMap((part) => {
    const inner = part.type === 'tool_result' ? part.parts : [part];
    return inner.filter((one) => one.type === 'media');
  });
}

/** `message` with what `change` makes of its media; the same message if it has none. */
export function withMedia(message: Message, change: (part: MediaPart) => Part): Message {
  if (mediaIn(message).length === 0) return message;
  const changed = (part: Part): Part => {
    if (part.type === 'media') return change(part);
    return part.type === 'tool_result' ? { ...part, parts: part.parts.map(changed) } : part;
  };
  return { ...message, parts: message.parts.map(changed) };
}

function told({ mediaType, url = '' }: MediaPart, why: string, leaveOut: LeaveOut): Part {
  const from = url.startsWith('data:') ? '' : ` of ${shownUrl(url)}`;
  leaveOut(`${mediaType}${from}: ${why}`);
  return { type: 'text', text: `[${mediaType}${from} left out: it could not be fetched: ${why}.]` };
}

/** What an address is signed with stays out of texts. */
function shownUrl(url: string): string {
  if (!URL.canParse(url)) return JSON.stringify(url.slice(0, MAX_SHOWN));
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`.slice(0, MAX_SHOWN);
}

/** Characters of an address in a text. */
const MAX_SHOWN = 200;

/** What says of any file that it is one. */
const ANY = /^(?:\*|(?:application|binary)\/octet-stream$)/;

/**
 * The type of what was fetched as `wanted`, undefined if it is of another kind: an address of a picture may
 * answer with a page.
 */
function typeOf(wanted: string, bytes: Buffer, header: string | undefined): string | undefined {
  const said = header === undefined || ANY.test(header) ? undefined : header;
  const found = mediaTypeOfBytes(bytes) ?? said ?? wanted;
  if (ANY.test(wanted) || found === wanted) return found;
  const [kind] = wanted.split('/');
  if (kind === 'application' || found.split('/')[0] !== kind) return undefined;
  return kind === 'text' && !wanted.endsWith('*') ? wanted : found;
}

function readDataUrl(url: string): {
  readonly bytes: Buffer;
  readonly mediaType: string | undefined;
} {
  const comma = url.indexOf(',');
  const head = url.slice('data:'.length, comma);
  const body = url.slice(comma + 1);
  const isBase64 = head.endsWith(';base64');
  const bytes = Buffer.from(
    isBase64 ? body : decodeURIComponent(body),
    isBase64 ? 'base64' : 'utf8',
  );
  return { bytes, mediaType: head.split(';')[0] || undefined };
}
