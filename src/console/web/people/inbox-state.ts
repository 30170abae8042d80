/** What waits for people, in all runs. */
import { signal, type Signal } from '@preact/signals';
import type { InboxAnswer, InboxRow } from '../../api.ts';
import type { LiveFrame } from '../../live-frames.ts';
import { get, RequestFailed } from '../base/api.ts';
import { lateNews } from '../base/late-news.ts';

/** What waits; null: it has not come yet. */
export const inbox: Signal<InboxAnswer | null> = signal(null);
/** Why the last load failed; null: it did not. */
export const inboxFailure: Signal<RequestFailed | null> = signal(null);
/** Items that ended elsewhere while they were open here, by key. */
export const settledElsewhere: Signal<ReadonlySet<string>> = signal(new Set());

const settledHere = new Set<string>();
/** Items that wait for a worker to apply the answer that was given here. */
const answeredHere = new Set<string>();

/** Identifies an item over all runs. */
export function keyOf({ run, item }: Pick<InboxRow, 'run' | 'item'>): string {
  return `${run} ${item.id}`;
}

const news = lateNews(applyFrames);

/** Takes frames of the live feed. */
export const takeInboxFrames = news.take;

/** Loads the inbox. */
export function loadInbox(): Promise<void> {
  return news.during(ask);
}

async function ask(): Promise<void> {
  try {
    const answer = await get<InboxAnswer>('/inbox');
    noteGone(answer.items);
    inbox.value = { ...answer, items: answer.items.filter((row) => !settledHere.has(keyOf(row))) };
    inboxFailure.value = null;
  } catch (error) {
    if (error instanceof RequestFailed) inboxFailure.value = error;
  }
}

function applyFrames(frames: readonly LiveFrame[]): void {
  for (const frame of frames) {
    const known = inbox.value;
    if (known === null) return;
    if (frame.kind === 'pending') {
      const { kind: _kind, ...row } = frame;
      if (row.item.kind === 'pause') continue;
      const key = keyOf(row);
      const isKnown = known.items.some((each) => keyOf(each) === key);
      if (!isKnown && !settledHere.has(key)) {
        const items = [...known.items, row].toSorted((a, b) => a.item.since - b.item.since);
        inbox.value = { ...known, items };
      }
    }
    if (frame.kind === 'settled') {
      const isMeant = (row: InboxRow): boolean =>
        row.item.id === frame.id && (row.run === frame.run || row.item.run === frame.run);
      const items = known.items.filter((row) => !isMeant(row));
      if (items.length === known.items.length) continue;
      noteGone(items);
      inbox.value = { ...known, items };
    }
  }
}

/** Keeps an item whose answer no worker has applied, and knows that its end comes from here. */
export function awaitWorker(row: Pick<InboxRow, 'run' | 'item'>): void {
  answeredHere.add(keyOf(row));
}

/** Removes an item that was answered here. */
export function settleHere(row: Pick<InboxRow, 'run' | 'item'>): void {
  settledHere.add(keyOf(row));
  const known = inbox.value;
  if (known === null) return;
  inbox.value = { ...known, items: known.items.filter((each) => keyOf(each) !== keyOf(row)) };
}

function noteGone(items: readonly InboxRow[]): void {
  const left = new Set(items.map(keyOf));
  const gone = (inbox.value?.items ?? [])
    .map(keyOf)
    .filter((key) => !left.has(key) && !settledHere.has(key) && !answeredHere.has(key));
  if (gone.length > 0) settledElsewhere.value = new Set([...settledElsewhere.value, ...gone]);
}
