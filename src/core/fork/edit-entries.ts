/**
 * Edits of a scratchpad. All problems are reported together, and nothing is changed if there is one.
 *
 * I1  Entries keep their numbers, and those that are not edited are the same objects.
 * I2  A call and its results stay or go together: providers refuse one without the other.
 */
import type { Message, Part } from '../base/message.ts';
import type { Entry } from '../contract/entry.ts';
import type { ForkEdit } from '../base/fork.ts';

/** The edited scratchpad and the inputs to add, or what is wrong with the edits. */
export type Edited =
  | {
      readonly kind: 'edited';
      readonly entries: readonly Entry[];
      readonly inputs: readonly string[];
    }
  | { readonly kind: 'problems'; readonly problems: readonly string[] };

/** Edits `entries`. */
export function editEntries(entries: readonly Entry[], edits: readonly ForkEdit[]): Edited {
  const dropped = new Set(edits.flatMap((edit) => ('drop' in edit ? [edit.drop] : [])));
  const texts = new Map(
    edits.flatMap((edit) => ('entry' in edit ? [[edit.entry, edit.text] as const] : [])),
  );
  const problems = [
    ...edits.flatMap((edit) => numberProblems(entries, edit)),
    ...repeatedTexts(edits),
    ...[...texts].flatMap(([index, text]) => textProblems(entries, { index, text, dropped })),
    ...pairProblems(entries, dropped),
  ];
  if (problems.length > 0) return { kind: 'problems', problems };
  const kept = entries.filter(({ index }) => !dropped.has(index));
  return {
    kind: 'edited',
    entries: kept.map((entry) => {
      const text = texts.get(entry.index);
      return text === undefined ? entry : withText(entry, text);
    }),
    inputs: edits.flatMap((edit) => ('append' in edit ? [edit.append] : [])),
  };
}

/** One of two texts would be lost. */
function repeatedTexts(edits: readonly ForkEdit[]): readonly string[] {
  const counts = new Map<number, number>();
  for (const edit of edits) {
    if ('entry' in edit) counts.set(edit.entry, (counts.get(edit.entry) ?? 0) + 1);
  }
  return [...counts].flatMap(([index, count]) =>
    count === 1 ? [] : [`Expected one text for entry ${index}, got ${count}. Choose one.`],
  );
}

function numberProblems(entries: readonly Entry[], edit: ForkEdit): readonly string[] {
  if ('append' in edit) return [];
  const index = 'drop' in edit ? edit.drop : edit.entry;
  if (entries.some((entry) => entry.index === index)) return [];
  const [first] = entries;
  const last = entries.at(-1);
  return [
    first === undefined || last === undefined
      ? `Expected no edit of an entry, because the conversation has none yet, got ${index}. Leave it out.`
      : `Expected entries ${first.index} to ${last.index}, got ${index}. Choose one that the conversation still has.`,
  ];
}

function textProblems(
  entries: readonly Entry[],
  edit: { readonly index: number; readonly text: string; readonly dropped: ReadonlySet<number> },
): readonly string[] {
  const { index, text, dropped } = edit;
  if (dropped.has(index)) {
    return [`Expected one edit of entry ${index}, got a text for an entry that is dropped.`];
  }
  if (text.trim() === '') {
    return [`Expected a text for entry ${index}, got an empty one. Write one, or drop the entry.`];
  }
  const entry = entries.find((one) => one.index === index);
  if (entry === undefined) return [];
  const last = entry.messages.at(-1);
  if (last !== undefined && placeOfText(last.parts) !== undefined) return [];
  const results = last?.parts.filter(({ type }) => type === 'tool_result').length ?? 0;
  return [
    results > 1
      ? `Expected one result in entry ${index}, got ${results}. Drop the entry and append what the model should know.`
      : `Expected a text for entry ${index}, which holds calls only. Drop it, or edit another entry.`,
  ];
}

/** The part of a message that its text stands in, by its place; undefined if there is none. */
function placeOfText(parts: readonly Part[]): number | undefined {
  const place = parts.findIndex(({ type }) => type === 'text' || type === 'sections');
  if (place !== -1) return place;
  const results = parts.filter(({ type }) => type === 'tool_result');
  return results.length === 1 ? parts.findIndex(({ type }) => type === 'tool_result') : undefined;
}

function withText(entry: Entry, text: string): Entry {
  const last = entry.messages.at(-1);
  const place = last === undefined ? undefined : placeOfText(last.parts);
  if (last === undefined || place === undefined) return entry;
  const message: Message = { ...last, parts: partsWith(last.parts, place, text) };
  return { ...entry, messages: [...entry.messages.slice(0, -1), message] };
}

/** The new text stands where the first text stood; what else was said in words is gone. */
function partsWith(parts: readonly Part[], place: number, text: string): readonly Part[] {
  return parts.flatMap((part, index): readonly Part[] => {
    if (index === place) {
      return part.type === 'tool_result'
        ? [{ ...part, parts: [{ type: 'text', text }] }]
        : [{ type: 'text', text }];
    }
    return part.type === 'text' || part.type === 'sections' ? [] : [part];
  });
}

/** I2: entries of loops of your own, and those of a provider's calls, may be apart. */
function pairProblems(entries: readonly Entry[], dropped: ReadonlySet<number>): readonly string[] {
  const places = new Map<string, { readonly calls: Set<number>; readonly results: Set<number> }>();
  const placesOf = (
    callId: string,
  ): { readonly calls: Set<number>; readonly results: Set<number> } => {
    const known = places.get(callId) ?? { calls: new Set(), results: new Set() };
    places.set(callId, known);
    return known;
  };
  for (const { index, messages } of entries) {
    for (const part of messages.flatMap(({ parts }) => parts)) {
      if (part.type === 'tool_call') placesOf(part.callId).calls.add(index);
      if (part.type === 'tool_result') placesOf(part.callId).results.add(index);
    }
  }
  const torn = [...places.values()].flatMap(({ calls, results }) => {
    const all = [...new Set([...calls, ...results])];
    const gone = all.filter((index) => dropped.has(index));
    return gone.length === 0 || gone.length === all.length ? [] : [tornText(all, gone, calls)];
  });
  return [...new Set(torn)];
}

function tornText(
  all: readonly number[],
  gone: readonly number[],
  calls: ReadonlySet<number>,
): string {
  const others = all.filter((index) => !gone.includes(index));
  const what = others.some((index) => calls.has(index)) ? 'its calls' : 'its results';
  return `Expected to drop entry ${gone.join(' and ')} together with ${others.join(' and ')}, ${what}, got ${gone.join(' and ')} alone.`;
}
