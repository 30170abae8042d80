/** Media and files that a model does not take become a text that says so. */
import type {
  MediaPart,
  Message,
  Part,
  TextPart,
  WrittenFilePart,
} from '../../core/base/message.ts';
import type { Traits, UrlRule } from './traits.ts';

/** Called with what was left out, in words. */
export type LeaveOut = (what: string) => void;

/** `message` with the media that the model takes where it takes them. */
export function fitMedia(message: Message, traits: Traits, leaveOut: LeaveOut): readonly Message[] {
  const fit = (part: Part): Part =>
    part.type === 'media' ? fitPart(part, traits, leaveOut) : part;
  if (message.role === 'assistant') {
    return [{ ...message, parts: message.parts.map((part) => fitFile(part, traits, leaveOut)) }];
  }
  const moved: Part[] = [];
  const parts = message.parts.map((part): Part => {
    if (part.type !== 'tool_result') return fit(part);
    const inner = part.parts.map(fit);
    if (traits.resultMedia) return { ...part, parts: inner };
    const stays = inner.filter(({ type }) => type !== 'media');
    moved.push(...inner.filter(({ type }) => type === 'media'));
    return { ...part, parts: stays };
  });
  return [{ ...message, parts }, ...(moved.length === 0 ? [] : [userMessage(moved)])];
}

function userMessage(parts: readonly Part[]): Message {
  return { role: 'user', parts };
}

function fitPart(part: MediaPart, traits: Traits, leaveOut: LeaveOut): Part {
  const { mediaType, url } = part;
  if (!takesMedia(part, traits))
    return textIn(part) ?? told(mediaType, `media of type ${mediaType}`, leaveOut);
  if (url === undefined || takesByUrl(part, url, traits)) return part;
  return told(mediaType, `media of type ${mediaType} by their URL`, leaveOut);
}

/** Whether a model takes the type of `part`, as a medium or as text. */
export function takesType(part: MediaPart, traits: Traits): boolean {
  return takesMedia(part, traits) || TEXT.test(part.mediaType);
}

function takesMedia({ mediaType }: MediaPart, { media }: Traits): boolean {
  return media === undefined || media.test(mediaType);
}

/** Types of files that every model reads as text. */
const TEXT = /^(?:text\/|application\/(?:json|xml|yaml)$)/;

/** A file of text as text; undefined: it is none, or its bytes are not here. */
function textIn({ mediaType, data }: MediaPart): TextPart | undefined {
  if (!TEXT.test(mediaType) || data === undefined) return undefined;
  return { type: 'text', text: Buffer.from(data, 'base64').toString('utf8') };
}

/** Whether a provider loads media of the type of `part` from `url` itself. */
export function takesByUrl(
  { mediaType }: MediaPart,
  url: string,
  { urls, mediaUrls }: Traits,
): boolean {
  if (!URL.canParse(url)) return false;
  if (mediaUrls?.test(mediaType) === true && /^https?:/i.test(url)) return true;
  return urls.some((rule) => isOf(rule, mediaType) && rule.urls.some((known) => known.test(url)));
}

function isOf({ mediaType: wanted }: UrlRule, mediaType: string): boolean {
  if (wanted === '*' || wanted === '*/*') return true;
  return wanted.endsWith('/*') ? mediaType.startsWith(wanted.slice(0, -1)) : wanted === mediaType;
}

/** A file that the assistant wrote goes back only to models that take files of an assistant. */
function fitFile(part: Part, traits: Traits, leaveOut: LeaveOut): Part {
  if ((part.type !== 'file' && part.type !== 'media') || traits.assistantFiles) return part;
  return told(part.mediaType, `files of an assistant (${part.mediaType})`, leaveOut);
}

function told(mediaType: string, what: string, leaveOut: LeaveOut): TextPart {
  leaveOut(what);
  return { type: 'text', text: `[${mediaType} left out: this model does not take ${what}.]` };
}

/** A file of another model. */
export function foreignFile(part: WrittenFilePart): MediaPart {
  const { mediaType, url, data } = part;
  return url === undefined
    ? { type: 'media', mediaType, data: data ?? '' }
    : { type: 'media', mediaType, url };
}
