/** The items of a reply, from the parts in which models of the AI SDK give them. */
import { defined } from '../core/base/defined.ts';
import type { SharedV4ProviderMetadata } from '@ai-sdk-7/provider';
import { type Json, type JsonObject, utf8Length } from '../core/base/json.ts';
import type { WrittenFilePart, WrittenPart } from '../core/base/message.ts';
import type { NativeCall, ReplyItem } from '../core/contract/model.ts';
import type { ReplySize } from './reply-size.ts';
import type { FilePart, Generated, StreamPart } from './specification.ts';

/** A text or a thought that may still grow. */
export interface OpenBlock {
  readonly type: 'text' | 'reasoning';
  text: string;
  metadata: SharedV4ProviderMetadata;
}

/** A call as a model gives it; our tools and those that the provider runs. */
export type ToolCallEvent = Extract<StreamPart, { type: 'tool-call' }>;

/** Parts that are whole when they come, besides calls of our tools. */
export type WholePart =
  FilePart | Extract<StreamPart, { type: 'source' | 'custom' | 'tool-result' }>;

/** The item for a call of our tool. */
export function toNativeCall(part: ToolCallEvent): NativeCall {
  return {
    type: 'call',
    id: part.toolCallId,
    tool: part.toolName,
    // Kept as text. It is parsed later, where problems can be reported to the model. No text means
    // no arguments.
    args: part.input.trim() === '' ? {} : part.input,
    ...defined({ providerData: part.providerMetadata as JsonObject | undefined }),
  };
}

/** The item for a call that the provider runs. */
export function toHostedCall(part: ToolCallEvent): WrittenPart {
  return {
    type: 'hosted_call',
    id: part.toolCallId,
    tool: part.toolName,
    args: jsonIn(part.input),
    ...defined({ providerData: part.providerMetadata as JsonObject | undefined }),
  };
}

/** Arguments that are no JSON stay text. */
function jsonIn(input: string): Json {
  try {
    return JSON.parse(input) as Json;
  } catch {
    return input;
  }
}

/** The item for a part that is whole when it comes. */
export function toWrittenPart(part: WholePart): WrittenPart {
  const providerData = part.providerMetadata as JsonObject | undefined;
  switch (part.type) {
    case 'source': {
      const { id, title } = part;
      const origin =
        part.sourceType === 'url'
          ? { url: part.url }
          : { mediaType: part.mediaType, filename: part.filename };
      return defined({ type: 'source' as const, id, title, ...origin, providerData });
    }
    case 'custom':
      return defined({ type: 'custom' as const, kind: part.kind, providerData });
    case 'tool-result':
      return defined({
        type: 'hosted_result' as const,
        id: part.toolCallId,
        tool: part.toolName,
        output: part.result as Json,
        isError: part.isError === true,
        providerData,
      });
    case 'file':
    case 'reasoning-file':
      return toFile(part, providerData);
  }
}

/** Specification v3 has the data of a file in the place of what says how v4 has them. */
function toFile(part: FilePart, providerData: JsonObject | undefined): WrittenFilePart {
  const type = part.type === 'file' ? 'file' : 'reasoning_file';
  const { mediaType, data: given } = part;
  const tagged = typeof given === 'object' && 'type' in given ? given : undefined;
  if (tagged?.type === 'url') {
    return defined({ type, mediaType, url: String(tagged.url), providerData } as const);
  }
  const bytes = tagged === undefined ? (given as string | Uint8Array) : tagged.data;
  const data = typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('base64');
  return defined({ type, mediaType, data, providerData } as const);
}

/** Gemini tells its searches beside the reply: how many they were; undefined: none. */
export function searchesIn(
  metadata: SharedV4ProviderMetadata | undefined,
): { readonly google_search: number } | undefined {
  const [google] = Object.values(metadata ?? {});
  const { webSearchQueries } = Object(google?.['groundingMetadata']) as JsonObject;
  const count = Array.isArray(webSearchQueries) ? webSearchQueries.length : 0;
  return count === 0 ? undefined : { google_search: count };
}

/** Bytes of what `part` has besides the data of its provider. */
export function writtenBytes({ providerData: _data, ...part }: WrittenPart): number {
  return utf8Length(JSON.stringify(part));
}

/** The items of `block`: none if it is empty. */
export function toReplyParts({ type, text, metadata }: OpenBlock): readonly ReplyItem[] {
  const providerData = Object.keys(metadata).length > 0 ? (metadata as Json) : undefined;
  // Encrypted reasoning has no words. Text has none where only a signature comes on it.
  const isSigned = type === 'reasoning' ? providerData !== undefined : hasSignature(metadata);
  if (text === '' && !isSigned) return [];
  return [defined({ type, text, providerData })];
}

function hasSignature(metadata: SharedV4ProviderMetadata): boolean {
  return Object.values(metadata).some((data) => data['thoughtSignature'] !== undefined);
}

/** Metadata may come in pieces; a later piece adds to or replaces the fields of its provider. */
export function mergeMetadata(
  block: OpenBlock,
  metadata: SharedV4ProviderMetadata | undefined,
  size: ReplySize,
): void {
  if (metadata === undefined) return;
  const merged = { ...block.metadata };
  for (const [provider, data] of Object.entries(metadata)) {
    const before = merged[provider];
    for (const [name, value] of Object.entries(data)) {
      size.data(value as Json | undefined, before?.[name] as Json | undefined);
    }
    merged[provider] = { ...before, ...data };
  }
  block.metadata = merged;
}

/** The pieces of a reply that came at once, each as one delta of a stream. */
export function contentParts(list: Generated['content']): readonly StreamPart[] {
  return list.map((content, index): StreamPart => {
    const id = `${index}`;
    const metadata = defined({ providerMetadata: content.providerMetadata });
    switch (content.type) {
      case 'text':
        return { type: 'text-delta', id, delta: content.text, ...metadata };
      case 'reasoning':
        return { type: 'reasoning-delta', id, delta: content.text, ...metadata };
      default:
        return content;
    }
  });
}
