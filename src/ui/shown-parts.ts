/** How a page sees what a run has: files, calls, sources, questions, how a turn ended. Pure. */
import { defined } from '../core/base/defined.ts';
import { isPlainObject, type Json, type JsonObject } from '../core/base/json.ts';
import type { Message, Part, WrittenFilePart } from '../core/base/message.ts';
import type { AgentEvent } from '../core/contract/events.ts';
import type { PendingItem, RunStatus } from '../core/contract/messages.ts';
import type { Step, StepSource } from '../core/contract/step.ts';
import type { WrittenText } from './text-parts.ts';
import type { UIChunk } from './ui-chunk.ts';

/** The end of a call. */
export type CallEvent = Extract<AgentEvent, { readonly type: 'agent:tool_call:after' }>;

/** Whether a page can end the wait: a question, an approval, or a call that the page executes. */
export function isForPage(item: PendingItem): boolean {
  if (item.kind !== 'external') return item.kind === 'question' || item.kind === 'approval';
  return isPlainObject(item.details) && item.details['client'] === true;
}

/** Whether a run is idle, but for runs below it in which `items` wait. */
export function isIdleBut({ state, waitsFor }: RunStatus, items: readonly PendingItem[]): boolean {
  if (state === 'waiting') return true;
  const asking = new Set(items.filter(({ id }) => isBelow(id)).map(({ id }) => id.split('/')[0]));
  const below = waitsFor.filter((one) => one.startsWith('agent '));
  const others = waitsFor.filter((one) => !/^(agent|question|approval|external) /.test(one));
  return others.length === 0 && below.length <= asking.size;
}

/** Whether an item is of a run below: its id begins with the calls that lead there. */
export function isBelow(id: string): boolean {
  return id.includes('/');
}

/** What the model wrote in one reply. */
export function textsOf(messages: readonly Message[]): readonly WrittenText[] {
  const parts = messages.flatMap(({ role, parts: all }) => (role === 'assistant' ? all : []));
  return parts.flatMap((part): readonly WrittenText[] =>
    (part.type === 'text' || part.type === 'reasoning') && part.text !== ''
      ? [{ type: part.type, text: part.text }]
      : [],
  );
}

/** What a message has besides text and calls of tools: files, and what a provider ran itself. */
export function shownPart(part: Part): readonly UIChunk[] {
  switch (part.type) {
    case 'file':
    case 'media':
      return fileOf(part);
    case 'tool_result':
      return part.parts.flatMap(shownPart);
    case 'hosted_call': {
      const { id: toolCallId, tool: toolName, args: input } = part;
      const call = { type: 'tool-input-available', toolCallId, toolName, input } as const;
      return [{ ...call, dynamic: true, providerExecuted: true }];
    }
    case 'hosted_result': {
      const { id: toolCallId, output, isError } = part;
      const kind = { toolCallId, dynamic: true, providerExecuted: true } as const;
      const errorText = typeof output === 'string' ? output : JSON.stringify(output);
      return isError
        ? [{ type: 'tool-output-error', errorText, ...kind }]
        : [{ type: 'tool-output-available', output, ...kind }];
    }
    default:
      return [];
  }
}

/** A file for a page; none: its content is not here. */
export function fileOf({
  mediaType,
  url,
  data,
}: Pick<WrittenFilePart, 'mediaType' | 'url' | 'data'>): readonly Extract<
  UIChunk,
  { readonly type: 'file' }
>[] {
  const source = url ?? (data === undefined ? undefined : `data:${mediaType};base64,${data}`);
  return source === undefined ? [] : [{ type: 'file', mediaType, url: source }];
}

/** What a page may want to know of a turn: how it ended, and what it took. */
export function metadataOf({ status, reason, message, usage, trace }: Step, model?: string): Json {
  const { inputTokens, outputTokens, totalTokens, costMicroUsd, durationMs } = usage;
  return {
    everloop: {
      run: trace.workflowId,
      status,
      reason,
      ...defined({ message, model }),
      usage: { inputTokens, outputTokens, totalTokens },
      costUsd: costMicroUsd / 1e6,
      durationMs,
    },
  };
}

/** A call as a page sees it: `mcp` says that its tool is that of a server. */
export interface ShownCall {
  readonly callId: string;
  readonly tool: string;
  readonly args: Json;
  readonly mcp?: unknown;
}

/** How a page sees a tool: those of servers are dynamic. */
export function kindOf(mcp: unknown): { readonly dynamic?: true } {
  return mcp === undefined ? {} : { dynamic: true };
}

/** How a call ended, for a page. */
export function outputOf(toolCallId: string, event: CallEvent): UIChunk {
  const { outcome, output = null, error = outcome, mcp } = event;
  if (outcome === 'ok') {
    return { type: 'tool-output-available', toolCallId, output, ...kindOf(mcp) };
  }
  if (outcome === 'denied') return { type: 'tool-output-denied', toolCallId };
  return { type: 'tool-output-error', toolCallId, errorText: error, ...kindOf(mcp) };
}

/** A source for a page; its address or title is its id. */
export function sourceOf({
  url,
  title,
  filename,
  mediaType = 'application/octet-stream',
}: StepSource): Extract<UIChunk, { readonly sourceId: string }> {
  if (url !== undefined) return { type: 'source-url', sourceId: url, url, ...defined({ title }) };
  const name = title ?? filename ?? 'document';
  const shown = { sourceId: name, mediaType, title: name, ...defined({ filename }) };
  return { type: 'source-document', ...shown };
}

/** A question for a page: what to ask, and whether it is still open. */
export type ShownQuestion = JsonObject & {
  readonly id: string;
  readonly question: string;
  readonly isAnswered: boolean;
};

/** The question of an item that waits, for a page. */
export function questionOf(
  item: Extract<PendingItem, { readonly kind: 'question' }>,
): ShownQuestion {
  const { id, question, options, free, details, run } = item;
  const asked = { id, question, isAnswered: false };
  return { ...asked, ...defined({ options: options && [...options], free, details, run }) };
}
