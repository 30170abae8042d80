/**
 * The tools that searches have shown in a run, for providers that need each tool declared.
 *
 * I1  Within an epoch they are in the messages of the searches. So the digest of the transcript
 *     covers them without being computed anew, and no new epoch begins: a search costs as much as
 *     any call, and a run without search pays nothing.
 * I2  When an epoch ends, its messages may be dropped. What they showed moves to the head of the
 *     next epoch, whose digest is computed anew in any case.
 */
import { defined } from '../base/defined.ts';
import type { FoundTool, Message } from '../base/message.ts';
import { newest } from './stubs.ts';
import type { TranscriptHead } from '../contract/transcript.ts';

/** Declared tools cost input tokens in each request; older ones can be searched for again. */
const MAX_DISCOVERED = 64;

/** The tools that searches have shown: the newest 64, in the order of their first showing. */
export function discoveredTools(
  head: TranscriptHead,
  messages: readonly Message[],
): readonly string[] {
  const before = head.discovered ?? [];
  if (head.spec.toolSearch === undefined) return before;
  const shown = messages.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === 'tool_result' ? (part.shown ?? []) : [])),
  );
  const all = [...before, ...shown];
  const newest = new Set([...new Set(all.toReversed())].slice(0, MAX_DISCOVERED));
  // A tool that is shown again keeps its place, since providers cache requests by their beginning.
  return [...new Set(all)].filter((name) => newest.has(name));
}

/** What searches have found of the stubs, as each was when it was first found. */
export function foundTools(
  { found = [] }: TranscriptHead,
  messages: readonly Message[],
): readonly FoundTool[] {
  const first = new Map(found.map((tool) => [tool.name, tool]));
  for (const { parts } of messages) {
    for (const part of parts) {
      if (part.type !== 'tool_result') continue;
      for (const tool of part.found ?? []) if (!first.has(tool.name)) first.set(tool.name, tool);
    }
  }
  return [...first.values()];
}

/** The head of the epoch after one with these messages. */
export function nextHead(head: TranscriptHead, messages: readonly Message[]): TranscriptHead {
  const discovered = discoveredTools(head, messages);
  const found = newest(foundTools(head, messages).filter(({ name }) => discovered.includes(name)));
  if (isEqual(discovered, head.discovered) && isEqual(names(found), names(head.found))) return head;
  return { ...head, discovered, ...defined({ found: found.length === 0 ? undefined : found }) };
}

function names(tools: readonly FoundTool[] = []): readonly string[] {
  return tools.map(({ name }) => name);
}

function isEqual(one: readonly string[], other: readonly string[] = []): boolean {
  return one.length === other.length && one.every((name, index) => name === other[index]);
}
