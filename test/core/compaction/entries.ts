/** Entries of a scratchpad, made short. */
import type { Message, Part } from '../../../src/core/base/message.ts';
import { textMessage } from '../../../src/core/base/message.ts';
import type { Json } from '../../../src/core/base/json.ts';
import { IMPORTANCE_KEY, type Entry } from '../../../src/core/contract/entry.ts';

/** An entry of one iteration: a reply and what came of it. `fields` replaces what is named. */
export function entryOf(index: number, fields: Partial<Entry> = {}): Entry {
  return {
    index,
    iteration: index + 1,
    origin: 'original',
    messages: [textMessage('assistant', `step ${index}`), observation(['search', `hits ${index}`])],
    ...fields,
  };
}

/** The same with an importance, of any kind of JSON. */
export function importantEntry(index: number, importance: Json): Entry {
  return entryOf(index, { metadata: { [IMPORTANCE_KEY]: importance } });
}

/** Entries 0 to `count` - 1. */
export function entriesOf(count: number): readonly Entry[] {
  return Array.from({ length: count }, (_, index) => entryOf(index));
}

/** A summary of an earlier compaction. */
export function summaryOf(epoch: number, text: string): Entry {
  const parts: readonly Part[] = [
    { type: 'sections', sections: [{ name: 'summary', content: text }] },
  ];
  return {
    index: -epoch,
    iteration: epoch,
    origin: 'compacted_synthetic',
    messages: [{ role: 'user', parts }],
  };
}

/** An observation with a section for each result. */
export function observation(
  ...results: readonly (readonly [tool: string, text: string])[]
): Message {
  const children = results.map(([name, content]) => ({ name, content }));
  return {
    role: 'user',
    parts: [{ type: 'sections', sections: [{ name: 'observation', children }] }],
  };
}

/** The indexes of entries, which are their names here. */
export function indexesOf(entries: readonly Entry[] | null): readonly number[] | null {
  return entries === null ? null : entries.map(({ index }) => index);
}
