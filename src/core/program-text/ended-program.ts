/** A program that has ended, as its events and the transcript have it. Pure. */
import { readProgram, type ProgramStatus } from '../../lisp.ts';
import { defined } from '../base/defined.ts';
import { utf8Length } from '../base/json.ts';
import { textOf } from '../base/message.ts';
import type { Entry } from '../contract/entry.ts';
import type { AgentEvent } from '../contract/events.ts';
import type { ProgramView } from '../contract/report.ts';
import { programsIn } from './compiled.ts';

type EventOf<Type extends AgentEvent['type']> = Extract<AgentEvent, { readonly type: Type }>;

/** The events of one program; without its end, it did not come to it. */
export interface ProgramEvents {
  readonly before: EventOf<'agent:program:before'>;
  readonly after: EventOf<'agent:program:after'> | undefined;
}

/** A text that was shortened: what is left of it, and its UTF-8 bytes before. */
interface CutSource {
  readonly head: string;
  readonly bytes: number;
}

/** Null for a text that is whole. */
export function cutSource(source: string): CutSource | null {
  const mark = /\n\[cut: \d+ of (\d+) bytes shown\]$/.exec(source);
  return mark === null ? null : { head: source.slice(0, mark.index), bytes: Number(mark[1]) };
}

/**
 * `source` as it ran, from `entries` of its iteration; unchanged if it is whole, undefined if they do
 * not have it.
 */
export function wholeSource(source: string, entries: readonly Entry[]): string | undefined {
  const cut = cutSource(source);
  if (cut === null) return source;
  const replies = entries
    .filter(({ origin }) => origin === 'original')
    .flatMap(({ messages }) => messages.filter(({ role }) => role === 'assistant'));
  const isIt = (text: string): boolean =>
    text.startsWith(cut.head) && utf8Length(text) === cut.bytes;
  return (
    replies.flatMap(programsIn).find(isIt) ?? replies.flatMap((it) => partOf(textOf(it), cut))[0]
  );
}

/** The part of a reply that begins as the program does, such as the text of a section. */
function partOf(text: string, { head, bytes }: CutSource): readonly string[] {
  const from = text.indexOf(head);
  if (from < 0) return [];
  let left = bytes;
  let end = from;
  for (const sign of text.slice(from)) {
    left -= utf8Length(sign);
    if (left < 0) break;
    end += sign.length;
  }
  const part = text.slice(from, end);
  return utf8Length(part) === bytes ? [part] : [];
}

/** The program of `events`, whose source is `whole` if that is known. */
export function endedProgram(
  { before, after }: ProgramEvents,
  whole: string | undefined,
): ProgramView {
  const { programId, at: since } = before;
  const source = whole ?? before.source;
  const isCut = whole === undefined ? (true as const) : undefined;
  const status = after === undefined || whole === undefined ? undefined : statusOf(after, source);
  const outcome = after === undefined || after.outcome === 'refused' ? undefined : after.outcome;
  const ended = { status, outcome: outcome ?? ('canceled' as const), error: after?.error };
  return { programId, source, since, ...defined({ isCut, ...ended }) };
}

/** How far the program came; undefined if its event does not say it. */
function statusOf(
  { outcome, steps, progress }: EventOf<'agent:program:after'>,
  source: string,
): ProgramStatus | undefined {
  const read = readProgram(source);
  if (progress === undefined || !read.ok) return undefined;
  const { finished, previews, fuelLimit, notes, done, failed } = progress;
  const state = outcome === 'value' || outcome === 'returned' ? 'done' : 'failed';
  const forms = read.program.forms.map(({ span }, index): ProgramStatus['forms'][number] => {
    const preview = previews[index];
    if (index < finished) return { index, span, state: 'done', ...defined({ preview }) };
    return { index, span, state: index === finished ? state : 'pending' };
  });
  const counts = { pending: 0, running: 0, waiting: 0, done, failed };
  const fuel = { fuelUsed: steps, fuelLimit };
  return { codeId: read.program.id, state, ...fuel, notes, forms, effects: [], counts };
}
