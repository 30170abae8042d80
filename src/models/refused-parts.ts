/**
 * Refusals that are about one sample of the model, or about one kind of item in the conversation: neither
 * ends a run, and no fallback is needed.
 *
 * I1  What a provider could not use of a sample is a reply that says so: the model writes another one.
 * I2  Media that are refused, and reasoning of earlier replies that no longer verifies or is not taken, are
 *     left out, and the model is asked once more. Each medium has a word in its place.
 */
import { isPlainObject, isJsonObject, type JsonObject } from '../core/base/json.ts';
import type { Message, Part } from '../core/base/message.ts';
import type { ModelRequest, Reply } from '../core/contract/model.ts';
import { noUsage } from '../core/model/usage.ts';
import { classifyModelError, errorLayers } from './model-failures.ts';

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
}

/** `request` without what `error` is about; undefined if that is nothing which can be left out. */
export function withoutRefused(request: ModelRequest, error: unknown): ReducedRequest | undefined {
  const { code, message } = classifyModelError(error);
  if (code !== 'model_request_refused') return undefined;
  for (const { what, isAbout, without } of ITEMS) {
    if (!isAbout(message)) continue;
    const reduced = without(request);
    if (reduced === request) continue;
    const warning = `The provider did not take ${what}: ${message.replace(/\.$/, '')}. The model was asked again without.`;
    return { request: reduced, warning };
  }
  return undefined;
}

interface Item {
  readonly what: string;
  readonly isAbout: (message: string) => boolean;
  /** The same request if it has no such item. */
  readonly without: (request: ModelRequest) => ModelRequest;
}

const MEDIA =
  /\b(?:images?|pictures?|photos?|media|pdf|documents?|files?|videos?|audio|image_url|input_image|input_file|inline_?data|base64)\b/i;

const FAULT =
  /could not|cannot|can't|unable to|fail|invalid|not valid|unsupported|not support|n't support|not allowed|only text|too (?:large|big|small|many)|exceed|larger than|maximum|corrupt|unreadable|not represent|decod|unknown variant|unexpected|timeout|timed out|no endpoints found/i;

const REASONING =
  /\bsignatures?\b|thought_?signature|encrypted[ _]content|invalid_encrypted_content|\b(?:redacted_)?thinking\b|reasoning_content|\breasoning\b/i;

const ITEMS: readonly Item[] = [
  {
    what: 'the reasoning of earlier replies',
    isAbout: (message) => REASONING.test(message),
    without: withoutReasoning,
  },
  {
    what: 'the media of the conversation',
    isAbout: (message) => MEDIA.test(message) && FAULT.test(message),
    without: withoutMedia,
  },
];

function withoutMedia(request: ModelRequest): ModelRequest {
  const toText = (part: Part): Part => {
    if (part.type === 'media') {
      return {
        type: 'text',
        text: `[left out: ${part.mediaType}, which the provider did not take]`,
      };
    }
    if (part.type !== 'tool_result') return part;
    return { ...part, parts: part.parts.map((inner) => toText(inner) as typeof inner) };
  };
  const isMedia = (part: Part): boolean =>
    part.type === 'media' || (part.type === 'tool_result' && part.parts.some(isMedia));
  if (!request.messages.some(({ parts }) => parts.some(isMedia))) return request;
  return withParts(request, (parts) => parts.map(toText));
}

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
