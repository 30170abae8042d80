/**
 * Translates messages to a prompt of the AI SDK 7 (specification v4).
 *
 * Data that a provider wants back unchanged is kept as `providerData`: the metadata of reasoning,
 * and `{ id, data }` for a call with its id and metadata (see `native-calls.ts`). Metadata is
 * stored under the name of its provider, and each provider reads only its own, so models may change
 * within a transcript.
 */
import { defined } from '../core/base/defined.ts';
import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from '@ai-sdk-7/provider';
import { type Json, isJsonObject } from '../core/base/json.ts';
import type {
  MediaPart,
  Message,
  Part,
  SourcePart,
  ToolCallPart,
  ToolResultPart,
  WrittenPart,
} from '../core/base/message.ts';
import type { LanguageModel } from '../define/model/language-model.ts';
import { nativeName } from '../core/toolchain/native-calls.ts';
import { unreachable } from '../core/base/unreachable.ts';
import { UsageError } from '../core/base/usage-error.ts';

type AssistantContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'];
type UserContent = Extract<LanguageModelV4Message, { role: 'user' }>['content'];

/**
 * Marks the end of the part that the next request repeats. Only Claude needs such a mark; each adapter
 * reads the one that has its name.
 */
const EPHEMERAL = { cacheControl: { type: 'ephemeral' } };
const CACHE_MARK: SharedV4ProviderOptions = { anthropic: EPHEMERAL, openrouter: EPHEMERAL };

/** The same on Bedrock, which refuses it of models that have no cache. */
const BEDROCK_MARK: SharedV4ProviderOptions = { bedrock: { cachePoint: { type: 'default' } } };

/** The mark for a model; of Claude on Bedrock only those have a cache that are not older than 3.7. */
export function cacheMarkOf({
  provider,
  modelId,
}: Pick<LanguageModel, 'provider' | 'modelId'>): SharedV4ProviderOptions {
  if (!provider.includes('bedrock') || provider.includes('anthropic')) return CACHE_MARK;
  return /claude-(?:3-7|\w+-[4-9]|[4-9])/.test(modelId) ? BEDROCK_MARK : {};
}

/**
 * The prompt for `messages`. Empty texts and messages are left out, because providers refuse them.
 * Tool results go into messages of role `tool`, and other parts of the same message into a user
 * message after it. The first `cacheUpTo` messages are stable, so the last of them gets the mark
 * for prompt caches.
 *
 * @throws UsageError when a part still consists of sections. The agent's format should have turned
 * them into text.
 */
export function toPrompt(
  messages: readonly Message[],
  options: { readonly cacheUpTo: number; readonly cacheMark?: SharedV4ProviderOptions },
): LanguageModelV4Prompt {
  const idOf = callIds(messages);
  const prompt: LanguageModelV4Prompt = [];
  messages.forEach((message, index) => {
    const lengthBefore = prompt.length;
    prompt.push(...toPromptMessages(message, idOf));
    const last = prompt.at(-1);
    if (index + 1 === options.cacheUpTo && last !== undefined && prompt.length > lengthBefore) {
      prompt[prompt.length - 1] = { ...last, providerOptions: options.cacheMark ?? CACHE_MARK };
    }
  });
  return prompt;
}

function toPromptMessages(
  message: Message,
  idOf: (callId: string) => string,
): readonly LanguageModelV4Message[] {
  switch (message.role) {
    case 'system': {
      const content = message.parts.flatMap(textIn).join('\n');
      return content === '' ? [] : [{ role: 'system', content }];
    }
    case 'assistant': {
      const content = message.parts.flatMap((part) => toAssistantContent(part, idOf));
      return content.length === 0 ? [] : [{ role: 'assistant', content }];
    }
    case 'user':
    case 'tool': {
      const results = message.parts.filter((part) => part.type === 'tool_result');
      const rest = message.parts.flatMap(toUserContent);
      const tool: LanguageModelV4Message = {
        role: 'tool',
        content: results.map((part) => toToolResult(part, idOf)),
      };
      const user: LanguageModelV4Message = { role: 'user', content: rest };
      return [...(results.length > 0 ? [tool] : []), ...(rest.length > 0 ? [user] : [])];
    }
    default:
      return unreachable(message.role);
  }
}

function toUserContent(part: Part): UserContent {
  if (part.type === 'media') return [toFile(part)];
  return textIn(part).map((text) => ({ type: 'text', text }));
}

function toAssistantContent(part: Part, idOf: (callId: string) => string): AssistantContent {
  switch (part.type) {
    case 'text': {
      const providerOptions = toProviderOptions(part.providerData);
      if (part.text === '' && providerOptions === undefined) return [];
      return [defined({ type: 'text' as const, text: part.text, providerOptions })];
    }
    case 'sections':
      return textIn(part).map((text) => ({ type: 'text', text }));
    case 'media':
      return [toFile(part)];
    case 'reasoning': {
      const providerOptions = toProviderOptions(part.providerData);
      // Encrypted reasoning has only metadata and no text.
      if (part.text === '' && providerOptions === undefined) return [];
      return [defined({ type: 'reasoning', text: part.text, providerOptions })];
    }
    case 'tool_call':
      return [toToolCall(part, idOf)];
    case 'tool_result':
    case 'source':
      return [];
    default:
      return [toWritten(part)];
  }
}

/** What a model wrote besides text, reasoning and calls of our tools. */
function toWritten(part: Exclude<WrittenPart, SourcePart>): AssistantContent[number] {
  const options = defined({ providerOptions: toProviderOptions(part.providerData) });
  switch (part.type) {
    case 'file':
      return { ...toFile(part), ...options };
    case 'reasoning_file': {
      const { mediaType, data } = toFile(part);
      const written = data as Extract<AssistantContent[number], { type: 'reasoning-file' }>['data'];
      return { type: 'reasoning-file', mediaType, data: written, ...options };
    }
    case 'custom':
      return { type: 'custom', kind: part.kind as `${string}.${string}`, ...options };
    case 'hosted_call': {
      const { id: toolCallId, tool: toolName, args: input } = part;
      return {
        type: 'tool-call',
        toolCallId,
        toolName,
        input,
        providerExecuted: true,
        ...options,
      };
    }
    case 'hosted_result': {
      const { id: toolCallId, tool: toolName, output: value } = part;
      const type = part.isError ? 'error-json' : 'json';
      return { type: 'tool-result', toolCallId, toolName, output: { type, value }, ...options };
    }
    default:
      return unreachable(part);
  }
}

function toToolCall(
  part: ToolCallPart,
  idOf: (callId: string) => string,
): LanguageModelV4ToolCallPart {
  const providerOptions = toProviderOptions(
    isJsonObject(part.providerData) ? part.providerData['data'] : undefined,
  );
  return {
    type: 'tool-call',
    toolCallId: idOf(part.callId),
    toolName: toolNameOf(part.tool),
    input: part.args,
    ...defined({ providerOptions }),
  };
}

function toToolResult(
  part: ToolResultPart,
  idOf: (callId: string) => string,
): LanguageModelV4ToolResultPart {
  return {
    type: 'tool-result',
    toolCallId: idOf(part.callId),
    toolName: toolNameOf(part.tool),
    output: toOutput(part),
  };
}

function toOutput(part: ToolResultPart): LanguageModelV4ToolResultOutput {
  const media = part.parts.filter((inner) => inner.type === 'media');
  const texts = part.parts.flatMap(textIn);
  if (media.length === 0) {
    return { type: part.isError ? 'error-text' : 'text', value: texts.join('\n') };
  }
  return {
    type: 'content',
    value: [...texts.map((text) => ({ type: 'text' as const, text })), ...media.map(toFile)],
  };
}

function toFile(part: Pick<MediaPart, 'mediaType' | 'url' | 'data'>): LanguageModelV4FilePart {
  const { mediaType, url, data = '' } = part;
  const file =
    url === undefined
      ? { type: 'data' as const, data }
      : { type: 'url' as const, url: new URL(url) };
  return { type: 'file', mediaType, data: file };
}

function textIn(part: Part): string[] {
  if (part.type === 'sections') {
    throw new UsageError(
      'message_part',
      `Expected text in a message for a model, got the sections ` +
        `${part.sections.map((section) => section.name).join(', ')}. ` +
        "Write them with the agent's format first.",
    );
  }
  return part.type === 'text' && part.text !== '' ? [part.text] : [];
}

/**
 * A tool's name as it was offered. A name that a model invented is changed to the characters and
 * length that providers accept, because they would refuse every later request that contains it.
 */
function toolNameOf(tool: string): string {
  const name = nativeName(tool)
    .replaceAll(/[^A-Za-z0-9_-]/g, '_')
    .slice(0, 64);
  return name === '' ? 'unknown' : name;
}

/**
 * The provider's id of each call: the one that it gave, else our id in the characters that all
 * providers accept (Anthropic takes only letters, digits, `_` and `-`).
 */
function callIds(messages: readonly Message[]): (callId: string) => string {
  const ids = new Map<string, string>();
  for (const part of messages.flatMap((message) => message.parts)) {
    if (part.type !== 'tool_call' || !isJsonObject(part.providerData)) continue;
    const { id } = part.providerData;
    if (typeof id === 'string' && id !== '') ids.set(part.callId, id);
  }
  return (callId) => ids.get(callId) ?? `call_${callId.replaceAll(/[^A-Za-z0-9_-]/g, '_')}`;
}

/** Metadata by provider; undefined for data of another shape. */
function toProviderOptions(data: Json | undefined): SharedV4ProviderOptions | undefined {
  if (!isJsonObject(data)) return undefined;
  const entries = Object.entries(data).filter(([, options]) => isJsonObject(options));
  if (entries.length === 0) return undefined;
  return Object.fromEntries(entries) as SharedV4ProviderOptions;
}
