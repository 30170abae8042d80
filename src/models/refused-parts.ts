/**
 * Refusals that are about one sample of the model, or about one kind of item in the conversation: neither
 * ends a run, and no fallback is needed.
 *
 * I1  What a provider could not use of a sample is a reply that says so: the model writes another one.
 * I2  A medium that is refused, a choice that forces a call, and reasoning of earlier replies that no
 *     longer verifies or is not taken, are left out, and the model is asked again. Each medium and each
 *     choice has a word in its place. After {@link SINGLE_MEDIA} media, all others are left out at once.
 */
import { isPlainObject, isJsonObject, type JsonObject } from '../core/base/json.ts';
import { textMessage, type MediaPart, type Message, type Part } from '../core/base/message.ts';
import type { ModelRequest, Reply } from '../core/contract/model.ts';
import { noUsage } from '../core/model/usage.ts';
import { mediaIn } from './fit/fetch-media.ts';
import { mediumKey, withoutMedia } from './fit/left-out-media.ts';
import { classifyModelError, errorLayers } from './model-failures.ts';
import { refusedMedium } from './refused-medium.ts';

/** Codes of Groq for samples that it could not read: a call that is none, JSON that does not fit. */
const SAMPLE_CODES: readonly unknown[] = [
  'tool_use_failed',
  'json_validate_failed',
  'output_parse_failed',
];

/** The reply of model `id` that its provider could not use; undefined for any other error. */
export function refusedSample(error: unknown, id: string): Reply | undefined {
  const layers = errorLayers(error);
  if (!layers.some(({ code }) => SAMPLE_CODES.includes(code))) return undefined;
  const written = layers.map((layer) => layer['failed_generation']);
  const text = written.find((one) => typeof one === 'string') ?? '';
  return {
    parts: text === '' ? [] : [{ type: 'text', text }],
    finishReason: 'error',
    unusable: classifyModelError(error).message.replace(/^HTTP \d+: /, ''),
    usage: noUsage,
    usageKnown: false,
    model: id,
  };
}

/** A request without what was refused of it, and the warning about that. */
export interface ReducedRequest {
  readonly request: ModelRequest;
  readonly warning: string;
  /** The keys of the media that it no longer has. */
  readonly media: readonly string[];
}

/** A request as it went to its provider. */
export interface SentRequest {
  readonly messages: readonly Message[];
  /** The part of the transcript that a sent one stands for. */
  originalOf(part: MediaPart): MediaPart;
  /** How many media have been left out one by one. */
  readonly leftOut: number;
}

/** How many media are left out one by one. */
const SINGLE_MEDIA = 3;

/** `request` without what `error` is about; undefined if that is nothing which can be left out. */
export function withoutRefused(
  request: ModelRequest,
  error: unknown,
  sent: SentRequest,
): ReducedRequest | undefined {
  const { code, message } = classifyModelError(error);
  if (code !== 'model_request_refused') return undefined;
  const warningOf = (what: string): string =>
    `The provider did not take ${what}: ${message.replace(/\.$/, '')}. The model was asked again without.`;
  if (FORCED.test(message)) {
    const reduced = withoutForcedCall(request);
    const warning = warningOf('a choice that forces a call');
    if (reduced !== request) return { request: reduced, warning, media: [] };
  }
  if (REASONING.test(message)) {
    const reduced = withoutReasoning(request);
    const warning = warningOf('the reasoning of earlier replies');
    if (reduced !== request) return { request: reduced, warning, media: [] };
  }
  const codes = errorLayers(error).flatMap(({ code }) => (typeof code === 'string' ? [code] : []));
  const isAboutMedia = MEDIA.test(message) || codes.some((code) => MEDIA_CODE.test(code));
  if (!isAboutMedia || !FAULT.test(message)) return undefined;
  const all = request.messages.flatMap(mediaIn);
  if (all.length === 0) return undefined;
  const found = sent.leftOut < SINGLE_MEDIA ? refusedMedium(sent.messages, error) : undefined;
  const medium = found && sent.originalOf(found);
  const media = medium !== undefined && all.includes(medium) ? [medium] : all;
  const keys = new Set(media.map(mediumKey));
  return {
    request: { ...request, messages: withoutMedia(request.messages, keys) },
    warning: warningOf(
      medium === undefined ? 'the media of the conversation' : `a ${medium.mediaType}`,
    ),
    media: [...keys],
  };
}

const MEDIA =
  /\b(?:images?|pictures?|photos?|media|pdf|documents?|files?|videos?|audio|image_url|input_image|input_file|inline_?data|base64)\b/i;

/** OpenAI: `invalid_image_url`, whose words name only the address. */
const MEDIA_CODE = /image|file|audio|media/;

const FAULT =
  /could not|cannot|can't|unable to|fail|invalid|not valid|unsupported|not support|n't support|not allowed|only text|too (?:large|big|small|many)|exceed|larger than|maximum|corrupt|unreadable|not represent|decod|unknown variant|unexpected|timeout|timed out|no endpoints found/i;

/** DeepSeek, Qwen, Claude and others, while they think: "Thinking mode does not support this tool_choice". */
const FORCED = /tool_?choice/i;

/** The choice is the model's, which reads what is wanted of it. */
function withoutForcedCall(request: ModelRequest): ModelRequest {
  const { toolChoice = 'auto', mode, messages } = request;
  // In mode `json` the run asks for the output in another way.
  if (mode !== 'chat' || toolChoice === 'auto' || toolChoice === 'none') return request;
  const what = toolChoice === 'required' ? 'one of the tools' : `the tool ${toolChoice.tool}`;
  const wish = textMessage('user', `Call ${what} now.`);
  return { ...request, toolChoice: 'auto', messages: [...messages, wish] };
}

const REASONING =
  /\bsignatures?\b|thought_?signature|encrypted[ _]content|invalid_encrypted_content|\b(?:redacted_)?thinking\b|reasoning_content|\breasoning\b/i;

/** Without reasoning, and without what was signed of texts, calls and hosted items; ids of calls stay. */
function withoutReasoning(request: ModelRequest): ModelRequest {
  const isThought = ({ type }: Part): boolean => type === 'reasoning' || type === 'reasoning_file';
  const isSigned = (part: Part): boolean => {
    if (isThought(part)) return true;
    if (!('providerData' in part) || part.providerData === undefined) return false;
    return part.type !== 'tool_call' || dataOf(part.providerData) !== null;
  };
  if (!request.messages.some(({ parts }) => parts.some(isSigned))) return request;
  const reduced = withParts(request, (parts) =>
    parts
      .filter((part) => !isThought(part))
      .map((part) => (isSigned(part) ? unsigned(part) : part)),
  );
  return { ...reduced, settings: withoutThinking(request.settings) };
}

function unsigned(part: Part): Part {
  if (part.type !== 'tool_call') {
    const { providerData: _data, ...rest } = part as Extract<Part, { providerData?: unknown }>;
    return rest as Part;
  }
  const { providerData, ...call } = part;
  const { data: _data, ...id } = providerData as JsonObject;
  return Object.keys(id).length === 0 ? call : { ...call, providerData: id };
}

function dataOf(providerData: unknown): unknown {
  return isPlainObject(providerData) ? (providerData['data'] ?? null) : null;
}

/** A Claude that thinks wants its thoughts back beside its calls, so it does not think this once. */
function withoutThinking({ reasoning: _reasoning, ...settings }: JsonObject): JsonObject {
  const { providerOptions } = settings;
  if (!isJsonObject(providerOptions) || !isJsonObject(providerOptions['anthropic']))
    return settings;
  const { thinking: _thinking, ...anthropic } = providerOptions['anthropic'];
  return { ...settings, providerOptions: { ...providerOptions, anthropic } };
}

function withParts(
  request: ModelRequest,
  change: (parts: readonly Part[]) => readonly Part[],
): ModelRequest {
  const messages = request.messages.flatMap((message): readonly Message[] => {
    const parts = change(message.parts);
    return parts.length === 0 ? [] : [{ ...message, parts }];
  });
  return { ...request, messages };
}
