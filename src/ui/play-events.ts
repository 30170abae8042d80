/** Plays what has happened in a run into a message. */
import type { Entry } from '../core/contract/entry.ts';
import type { AgentEvent } from '../core/contract/events.ts';
import { saidWith } from './said.ts';
import { textsOf } from './shown-parts.ts';
import type { WrittenText } from './text-parts.ts';
import type { UIChunk } from './ui-chunk.ts';
import type { UIWriter } from './ui-writer.ts';

/** What events do not tell: the entries that they name, and the reply of the open iteration. */
export interface PlayedMaterial {
  readonly entries: readonly Entry[];
  readonly current?: { readonly iteration: number; readonly texts: readonly WrittenText[] };
}

/** The events up to the next one with which a person says something. */
export function untilSaid(events: readonly AgentEvent[]): readonly AgentEvent[] {
  const next = events.findIndex((event) => saidWith(event) !== undefined);
  return next === -1 ? events : events.slice(0, next);
}

/** Writes `events` in their order. The text of a reply comes before what it led to. */
export function* playEvents(
  writer: UIWriter,
  events: readonly AgentEvent[],
  { entries, current }: PlayedMaterial,
): Generator<UIChunk, void> {
  const byIndex = new Map(entries.map((entry) => [entry.index, entry]));
  const texts = new Map(
    entries
      .filter(({ origin }) => origin === 'original')
      .map(({ iteration, messages }) => [iteration, textsOf(messages)]),
  );
  if (current !== undefined) texts.set(current.iteration, current.texts);
  for (const event of events) {
    const { iteration } = event;
    const written = endsReply(event) ? texts.get(iteration) : undefined;
    if (written !== undefined) yield* writer.text(iteration, written);
    const entry =
      event.type === 'agent:iteration_history:change' ? byIndex.get(event.index) : undefined;
    yield* writer.event(event, entry);
    if (event.type === 'agent:turn:after') yield* writer.end(event.step);
  }
}

/** Whether the model has written its reply with this event. */
export function endsReply(event: AgentEvent): boolean {
  return event.type === 'agent:model_call:after' && event.purpose === 'reply';
}
