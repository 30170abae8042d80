/** Translates call options of specification v4 to v3: files, and the setting `reasoning`. */
import type { LanguageModelV3CallOptions } from '@ai-sdk/provider';
import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk-7/provider';
import type { LanguageModel } from '../../define/model/language-model.ts';
import { withReasoning } from './reasoning.ts';

type Part = Exclude<LanguageModelV4Message['content'], string>[number];

/** `options` for `model`, which has specification v3. */
export function toV3Options(
  model: LanguageModel,
  { reasoning, providerOptions = {}, ...same }: LanguageModelV4CallOptions,
): LanguageModelV3CallOptions {
  const options = {
    ...same,
    prompt: same.prompt.map(toV3Message),
    providerOptions:
      reasoning === undefined || reasoning === 'provider-default'
        ? providerOptions
        : withReasoning(model, reasoning, { ...same, providerOptions }),
  };
  // All else is the same, but the JSON of v3 is not readonly for the compiler.
  return options as unknown as LanguageModelV3CallOptions;
}

function toV3Message(message: LanguageModelV4Message): object {
  if (message.role === 'system') return message;
  const parts: readonly Part[] = message.content;
  return { ...message, content: parts.map(toV3Part) };
}

function toV3Part(part: Part): object {
  if (part.type === 'file') return { ...part, data: dataOf(part) };
  return part.type === 'tool-result' ? toV3Result(part) : part;
}

function toV3Result({ output, ...same }: LanguageModelV4ToolResultPart): object {
  if (output.type !== 'content') return { ...same, output };
  const value = output.value.map((part) => (part.type === 'file' ? toResultFile(part) : part));
  return { ...same, output: { ...output, value } };
}

function toResultFile(part: Pick<LanguageModelV4FilePart, 'data' | 'mediaType'>): object {
  const { mediaType } = part;
  const data = dataOf(part);
  const kind = mediaType.startsWith('image/') ? 'image' : 'file';
  if (data instanceof URL) return { type: `${kind}-url`, url: data.href };
  return { type: `${kind}-data`, data, mediaType };
}

/** Prompts have files as data or by url only. */
function dataOf({ data }: Pick<LanguageModelV4FilePart, 'data'>): string | Uint8Array | URL {
  if (data.type === 'data') return data.data;
  if (data.type === 'url') return data.url;
  throw new Error(`Expected data or a url in a file, got ${data.type}.`);
}
