/** What a follower tells of the transcript: words of models and people, without calls and results. */
import type { Message, Part } from '../../core/base/message.ts';
import type { Entry, EntryOrigin } from '../../core/contract/entry.ts';
import type { CurrentIteration } from '../../core/run/view.ts';

/** Characters of the entries of one frame; a page reads longer ones itself. */
const MAX_CHARACTERS = 262_144;

const SHOWN: ReadonlySet<EntryOrigin> = new Set(['original', 'input']);

/** Those of `entries` that pages show, without what is long in them. */
export function shownEntries(entries: readonly Entry[]): readonly Entry[] {
  const shown: Entry[] = [];
  let characters = 0;
  for (const { index, iteration, origin, messages } of entries) {
    if (!SHOWN.has(origin)) continue;
    const entry = { index, iteration, origin, messages: messages.map(shortMessage) };
    characters += entryCharacters(entry);
    if (characters > MAX_CHARACTERS) break;
    shown.push(entry);
  }
  return shown;
}

/** The entry that the transcript will have of an open iteration; null: it has no reply yet. */
export function openEntry({ iteration, reply }: CurrentIteration): Entry | null {
  if (reply === null) return null;
  const messages = [{ role: 'assistant' as const, parts: reply.parts }];
  return { index: -1, iteration, origin: 'original', messages };
}

/** Characters of text in `entry`. */
export function entryCharacters({ messages }: Entry): number {
  return messages.reduce((sum, message) => sum + JSON.stringify(message).length, 0);
}

function shortMessage(message: Message): Message {
  return { ...message, parts: message.parts.filter(isShort) };
}

function isShort({ type }: Part): boolean {
  return type === 'text' || type === 'reasoning' || type === 'sections';
}
