/** Messages between an agent, its model and its tools, as plain data. */
import type { Json, JsonObject } from './json.ts';

/** An image, a sound or a document: exactly one of `url` and `data` (base64) is set. */
export interface MediaPart {
  readonly type: 'media';
  /** `image/png`, `application/pdf`, … */
  readonly mediaType: string;
  readonly url?: string;
  readonly data?: string;
}

/** Text written for a model or by a model; `providerData` goes back to its provider unchanged. */
export interface TextPart {
  readonly type: 'text';
  readonly text: string;
  readonly providerData?: Json;
}

/** The model's reasoning. */
export interface ReasoningPart {
  readonly type: 'reasoning';
  readonly text: string;
  readonly providerData?: Json;
}

/** What a model names as the origin of what it wrote: a page by its `url`, or a document. */
export interface SourcePart {
  readonly type: 'source';
  readonly id: string;
  readonly url?: string;
  readonly title?: string;
  readonly mediaType?: string;
  readonly filename?: string;
  readonly providerData?: Json;
}

/** A file that a model wrote, as its answer or while it reasoned; exactly one of `url` and `data`. */
export interface WrittenFilePart {
  readonly type: 'file' | 'reasoning_file';
  readonly mediaType: string;
  readonly url?: string;
  /** Base64. */
  readonly data?: string;
  readonly providerData?: Json;
}

/** What only one provider has, such as a compaction on its side. */
export interface CustomPart {
  readonly type: 'custom';
  /** `{provider}.{type}`. */
  readonly kind: string;
  readonly providerData?: Json;
}

/** A call of a tool that the provider itself ran. */
export interface HostedCallPart {
  readonly type: 'hosted_call';
  /** The provider's id. */
  readonly id: string;
  readonly tool: string;
  readonly args: Json;
  readonly providerData?: Json;
}

/** The result of a call that the provider itself ran; the call may be in an earlier reply. */
export interface HostedResultPart {
  readonly type: 'hosted_result';
  /** The id of its call. */
  readonly id: string;
  readonly tool: string;
  readonly output: Json;
  readonly isError: boolean;
  readonly providerData?: Json;
}

/** What a model wrote besides text, reasoning and calls of our tools. */
export type WrittenPart =
  SourcePart | WrittenFilePart | CustomPart | HostedCallPart | HostedResultPart;

/** Sections that the agent's own format turns into text when a request is built. */
export interface SectionsPart {
  readonly type: 'sections';
  readonly sections: readonly FormattedSection[];
}

/** A native tool call in a message of the assistant. */
export interface ToolCallPart {
  readonly type: 'tool_call';
  /** Ours: `{iteration}.{index}`, unique in the run. */
  readonly callId: string;
  readonly tool: string;
  readonly args: Json;
  /** Data the provider needs back with the call: its own id, signatures of reasoning, … */
  readonly providerData?: Json;
}

/** A tool as a request declares it, but under its own name. */
export interface FoundTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Json;
}

/** The result of a native tool call; every call of a transcript has exactly one. */
export interface ToolResultPart {
  readonly type: 'tool_result';
  readonly callId: string;
  readonly tool: string;
  readonly parts: readonly Part[];
  readonly isError: boolean;
  /** After a tool search: the tools it showed. The next requests declare them. */
  readonly shown?: readonly string[];
  /** Those of them that were not whole before, as they were when found. */
  readonly found?: readonly FoundTool[];
}

/** One piece of a message. */
export type Part =
  TextPart | MediaPart | ReasoningPart | SectionsPart | ToolCallPart | ToolResultPart | WrittenPart;

/** Who wrote a message: a provider as the AI SDK names it, and the id of its model. */
export interface Author {
  readonly provider: string;
  readonly model: string;
  /** The media of its request that the provider did not take: no later request sends it these. */
  readonly refused?: readonly string[];
}

/** The author of a message. */
export type Role = 'system' | 'user' | 'assistant' | 'tool';

/** One message of a conversation. */
export interface Message {
  readonly role: Role;
  /** Of a reply: in the order in which the model wrote them. */
  readonly parts: readonly Part[];
  /** Of a reply of a model of the AI SDK: data of a provider go back to no other. */
  readonly by?: Author;
}

/** A named block of text, written by a format as a tag or a heading; children nest. */
export interface FormattedSection {
  readonly name: string;
  readonly content?: string;
  /** Our own text: written as it is, even if it looks like the end of a section. */
  readonly isVerbatim?: true;
  readonly children?: readonly FormattedSection[];
}

/** A tool call that was read from a reply and can be run. */
export interface ToolCall {
  /** `{iteration}.{index}` from 1 over the batch. */
  readonly callId: string;
  readonly tool: string;
  readonly args: JsonObject;
}

/** The agent's task. Text and media are not both empty. */
export interface Task {
  readonly text: string;
  readonly media?: readonly MediaPart[];
}

/** A message with one text part. */
export function textMessage(role: Role, text: string): Message {
  return { role, parts: [{ type: 'text', text }] };
}

/** The text parts of `message`, joined by line breaks; sections and other parts are left out. */
export function textOf(message: Message): string {
  return message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}
