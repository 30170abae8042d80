/** Results of calls as the model reads them, whatever the mode. */
import { defined } from '../base/defined.ts';
import { utf8Length, type Json } from '../base/json.ts';
import type {
  Author,
  FormattedSection,
  FoundTool,
  MediaPart,
  Message,
  Part,
  ToolCall,
  ToolCallPart,
} from '../base/message.ts';
import type { Reply, ReplyItem } from '../contract/model.ts';
import { mediaLines, resultSection, resultText } from '../toolchain/result-text.ts';
import type { Toolchain } from '../toolchain/toolchain.ts';
import type { ToolResult } from '../contract/outcome.ts';
import { cut } from '../text/cut.ts';

/** UTF-8 bytes that an entry keeps of a reply that could not be read. */
export const maxMalformedBytes: number = 8 * 1024;

/** What a final tool returned; absent: nothing. */
export interface FinalValue {
  readonly value?: Json;
}

/** The result of one call. */
export interface CallResult {
  readonly call: ToolCall;
  /** False when the agent has no tool of that name. */
  readonly isKnown: boolean;
  readonly isError: boolean;
  readonly text: string;
  readonly instructions?: string;
  readonly media: readonly MediaPart[];
  /** Of a tool search: the tools that its text shows. */
  readonly shown?: readonly string[];
  /** Those of them that no search before has shown in the transcript, if the run has them as stubs. */
  readonly found?: readonly FoundTool[];
  /** -10 to 10; the entry takes the highest of its results. */
  readonly importance?: number;
  /** Set if the result is the answer of the run. */
  readonly final?: FinalValue;
}

/** The result of a call that has ended. */
export function toolCallResult(
  call: ToolCall,
  result: ToolResult,
  toolchain: Pick<Toolchain, 'write'>,
): CallResult {
  if (result.outcome !== 'ok') return failedCallResult(call, result.error ?? 'Error: failed.');
  return {
    call,
    isKnown: true,
    isError: false,
    text: resultText(result.forModel ?? result.output, toolchain),
    ...defined({
      instructions: result.instructions,
      media: result.media ?? [],
      importance: result.importance,
    }),
  };
}

/** A call that did not succeed; `text` begins with `Error: ` or `Denied`. */
export function failedCallResult(call: ToolCall, text: string, isKnown = true): CallResult {
  return { call, isKnown, isError: true, text, media: [] };
}

/** Results with media numbered over the turn: the text and its lines, and the parts in order. */
export interface NumberedResults {
  readonly results: readonly (CallResult & { readonly fullText: string })[];
  readonly media: readonly MediaPart[];
}

/** Numbers the media of a turn, from 1, in request order. */
export function numberMedia(results: readonly CallResult[]): NumberedResults {
  const media: MediaPart[] = [];
  const numbered = results.map((result) => {
    const lines = mediaLines(result.media, media.length);
    media.push(...result.media);
    const fullText = [result.text, lines].filter((text) => text !== '').join('\n');
    return { ...result, fullText };
  });
  return { results: numbered, media };
}

/** The section of an observation for one result; names that the model invented do not appear. */
export function observationSection(
  result: CallResult & { readonly fullText: string },
): FormattedSection {
  const name = result.isKnown ? result.call.tool : 'unknown_tool';
  return resultSection(name, result.fullText, result.instructions);
}

/**
 * The message of the assistant for a reply: what it has in its order, its calls as `callParts`, one
 * for each, or none of them; none for an empty reply.
 */
export function assistantMessage(
  reply: Reply,
  callParts: readonly ToolCallPart[] = [],
): readonly Message[] {
  let next = 0;
  const parts = reply.parts.flatMap((part): readonly Part[] => {
    if (part.type === 'call') return callParts.slice(next, ++next);
    const isNothing = part.type === 'text' && part.text === '' && part.providerData === undefined;
    return isNothing ? [] : [part];
  });
  return messageOf('assistant', parts, reply.by);
}

/** The same for a reply that could not be read: its text is cut. */
export function cutAssistantMessage(
  reply: Reply,
  callParts: readonly ToolCallPart[] = [],
): readonly Message[] {
  return assistantMessage(withCutText(reply, maxMalformedBytes), callParts);
}

/** `reply` with at most `maxBytes` of text over all of its parts, and a mark where it was cut. */
function withCutText(reply: Reply, maxBytes: number): Reply {
  let left = maxBytes;
  const parts = reply.parts.flatMap((part): readonly ReplyItem[] => {
    if (part.type !== 'text') return [part];
    if (left <= 0) return [];
    const text = cut(part.text, left);
    left -= utf8Length(part.text);
    return [text === part.text ? part : { type: 'text', text }];
  });
  return { ...reply, parts };
}

/** A message with these parts; none if there are no parts. */
export function messageOf(
  role: Message['role'],
  parts: readonly Part[],
  by?: Author,
): readonly Message[] {
  return parts.length === 0 ? [] : [defined({ role, parts, by })];
}
