/**
 * The two specifications of language models of the AI SDK. Requests are written for v4, the newer
 * one, and translated for models of v3. Replies of v3 are read as they are: all of their parts that
 * are used here are the same in v4.
 */
import type { LanguageModelV3, LanguageModelV3GenerateResult } from '@ai-sdk/provider';
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  SharedV4ProviderMetadata,
} from '@ai-sdk-7/provider';
import type { ReadableStream } from 'node:stream/web';
import type { LanguageModel } from '../define/model/language-model.ts';
import { toV3Options } from './v3/call-options.ts';

/** The options of one call. */
export type SdkCallOptions = LanguageModelV4CallOptions;

/** A part of a stream. */
export type StreamPart = Exclude<LanguageModelV4StreamPart, { type: FileType }> | FilePart;

/** A file that a model wrote; specification v3 has data where v4 says how it has them. */
export interface FilePart {
  readonly type: FileType;
  readonly mediaType: string;
  readonly data: Extract<LanguageModelV4StreamPart, { type: 'file' }>['data'] | string | Uint8Array;
  readonly providerMetadata?: SharedV4ProviderMetadata;
}

/** What a model wrote at once. */
export interface Generated {
  readonly content: readonly ContentPart[];
  readonly usage: LanguageModelV4GenerateResult['usage'];
  readonly finishReason: LanguageModelV4GenerateResult['finishReason'];
  readonly providerMetadata?: SharedV4ProviderMetadata | undefined;
  /** The body of the response, from adapters that give it. */
  readonly response?: { readonly body?: unknown };
}

type FileType = 'file' | 'reasoning-file';
type ContentPart =
  Exclude<LanguageModelV4GenerateResult['content'][number], { type: FileType }> | FilePart;

/** Begins one call of a model that streams. */
export async function openStream(
  model: LanguageModel,
  options: SdkCallOptions,
): Promise<ReadableStream<StreamPart>> {
  const { stream } = isV3(model)
    ? await model.doStream(toV3Options(model, options))
    : await (model as LanguageModelV4).doStream(options);
  return stream as ReadableStream<StreamPart>;
}

/** One call of a model that gives its reply at once. */
export async function generate(model: LanguageModel, options: SdkCallOptions): Promise<Generated> {
  const reply: LanguageModelV3GenerateResult | LanguageModelV4GenerateResult = isV3(model)
    ? await model.doGenerate(toV3Options(model, options))
    : await (model as LanguageModelV4).doGenerate(options);
  return reply as Generated;
}

function isV3(model: LanguageModel): model is LanguageModelV3 {
  return model.specificationVersion === 'v3';
}
