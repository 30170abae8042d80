/** Moments of runs, as a fork begins from them: the conversation, and how it is edited. */
import type { ForkEdit, ForkEffects } from '../../../core/base/fork.ts';
import type { Entry, EntryOrigin } from '../../../core/contract/entry.ts';
import type { Message, Part } from '../../../core/base/message.ts';
import { messageText } from '../entries.ts';

/** One entry of a conversation. */
export interface EntryRow {
  /** By this number edits name it. */
  readonly index: number;
  readonly iteration: number;
  readonly origin: EntryOrigin;
  /** Of its last message. */
  readonly role: Message['role'];
  /** All that it says, cut if it is long. */
  readonly text: string;
}

/** An entry that a fork may edit. */
export interface EditableEntry extends EntryRow {
  /** What an edit replaces; null: it has no text of its own, or is too long for a form. */
  readonly editable: string | null;
  /** The entries that are dropped with it, itself among them: a call goes with its results. */
  readonly together: readonly number[];
}

/** Characters of an entry that is shown. */
const MAX_SHOWN = 4_000;

/** Characters of an entry that is edited: a fork has at most 64 KB of edits. */
const MAX_EDITED = 30_000;

/** What an entry says. */
export function entryRow({ index, iteration, origin, messages }: Entry): EntryRow {
  const text = messages.map(messageText).join('\n');
  const shown = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
  return { index, iteration, origin, role: messages.at(-1)?.role ?? 'user', text: shown };
}

/** The entries of a moment, each with what of it can be edited. */
export function editableEntries(entries: readonly Entry[]): readonly EditableEntry[] {
  const groups = groupsOf(entries);
  return entries.map((entry) => {
    const text = editableText(entry.messages.at(-1)?.parts ?? []);
    return {
      ...entryRow(entry),
      editable: text === null || text.length > MAX_EDITED ? null : text,
      together: groups.get(entry.index) ?? [entry.index],
    };
  });
}

/** What an edit of a message replaces: its text, or that of its only result; null: it has none. */
function editableText(parts: readonly Part[]): string | null {
  const own = parts.filter(({ type }) => type === 'text' || type === 'sections');
  const results = parts.filter(({ type }) => type === 'tool_result');
  const replaced = own.length > 0 ? own : results.length === 1 ? results : null;
  return replaced && messageText({ role: 'user', parts: replaced });
}

/** The entries that hold a call and its results, by the number of each. */
function groupsOf(entries: readonly Entry[]): ReadonlyMap<number, readonly number[]> {
  const groups = new Map<number, number[]>();
  const byCall = new Map<string, number>();
  for (const { index, messages } of entries) {
    groups.set(index, [index]);
    for (const part of messages.flatMap(({ parts }) => parts)) {
      if (part.type !== 'tool_call' && part.type !== 'tool_result') continue;
      const first = byCall.get(part.callId);
      if (first === undefined) byCall.set(part.callId, index);
      const [mine, other] = [groups.get(index), groups.get(first ?? index)];
      if (mine === undefined || other === undefined || mine === other) continue;
      const all = [...other, ...mine];
      for (const each of all) groups.set(each, all);
    }
  }
  return groups;
}

/** What a form says of a fork; an empty text says nothing. */
export interface ForkForm {
  readonly at: number;
  readonly append: string;
  readonly instructions: string;
  readonly model: string;
  readonly tokens: string;
  readonly cost: string;
  readonly definition: 'recorded' | 'current';
  /** Null: not chosen. */
  readonly effects: ForkEffects | null;
  /** New texts by entry. */
  readonly texts: ReadonlyMap<number, string>;
  readonly dropped: ReadonlySet<number>;
}

/** The body of the request that a form makes. */
export function forkBody(form: ForkForm): object {
  const { at, append, instructions, model, tokens, cost, definition, effects, dropped } = form;
  const edits: readonly ForkEdit[] = [
    ...[...form.texts].flatMap(([entry, text]) => (dropped.has(entry) ? [] : [{ entry, text }])),
    ...[...dropped].map((drop) => ({ drop })),
    ...(append.trim() === '' ? [] : [{ append }]),
  ];
  const limits: Record<string, number> = {};
  if (tokens.trim() !== '') limits['totalTokens'] = Number(tokens);
  if (cost.trim() !== '') limits['costUsd'] = Number(cost);
  const body: Record<string, unknown> = { at, definition };
  if (edits.length > 0) body['edits'] = edits;
  if (instructions.trim() !== '') body['instructions'] = instructions;
  if (model.trim() !== '') body['model'] = model.trim();
  if (effects !== null) body['effects'] = effects;
  if (Object.keys(limits).length > 0) body['limits'] = limits;
  return body;
}
