/**
 * What waits to be sent to one tab.
 *
 * I1  At most {@link MAX_FRAMES} frames wait. A tab that reads nothing is closed: it comes again, and
 *     begins with a new snapshot.
 * I2  A slow tab loses text, and reads a mark in its place. Events are never dropped: none is taken
 *     while there is no room, and who offers them offers them again.
 * I3  Of frames that replace each other, only the newest waits.
 * I4  A slow tab loses entries too: it reads from the API what it lacks.
 */
import type { LiveFrame } from '../live-frames.ts';
import { entryCharacters } from './recorded.ts';

/** Frames that wait at most. */
const MAX_FRAMES = 5_000;

/** Events that wait at most, and then characters of text. */
const MAX_EVENTS = 1_000;
const MAX_TEXT_CHARACTERS = 262_144;

/** Unread pings after which a tab counts as gone: a minute. */
const MAX_UNREAD_PINGS = 12;

type EntriesFrame = Extract<LiveFrame, { readonly kind: 'entries' }>;
type TextFrame = Extract<LiveFrame, { readonly kind: 'text' }>;

/** The frames of one tab. */
export class Tab {
  readonly #queue: LiveFrame[] = [];
  readonly #onRoom: () => void;
  #events = 0;
  #characters = 0;
  #unreadPings = 0;
  #isFull = false;
  #isClosed = false;
  #wake = (): void => undefined;

  /** `onRoom` is called when events are taken again. */
  constructor(onRoom: () => void = () => undefined) {
    this.#onRoom = onRoom;
  }

  /** Whether an event would be taken now. */
  hasRoom(): boolean {
    this.#isFull ||= this.#events >= MAX_EVENTS;
    return !this.#isClosed && !this.#isFull;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  close(): void {
    this.#isClosed = true;
    this.#queue.length = 0;
    this.#wake();
  }

  /** Takes a frame, unless the tab is closed. Text may be dropped. */
  push(frame: LiveFrame): void {
    if (this.#isClosed) return;
    switch (frame.kind) {
      case 'text':
        return this.#pushText(frame);
      case 'entries':
        return this.#pushEntries(frame);
      case 'event':
        this.#events += 1;
        return this.#add(frame);
      case 'status':
      case 'tree':
        return this.#replace(frame, (one) => one.kind === frame.kind && one.run === frame.run);
      case 'row':
        return this.#replace(frame, (one) => one.kind === 'row' && one.row.id === frame.row.id);
      case 'ping':
        this.#unreadPings += 1;
        if (this.#unreadPings > MAX_UNREAD_PINGS) return this.close();
        return this.#replace(frame, (one) => one.kind === 'ping');
      default:
        return this.#add(frame);
    }
  }

  /** The next frame; null when the tab is closed. */
  async next(): Promise<LiveFrame | null> {
    while (this.#queue.length === 0 && !this.#isClosed) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const frame = this.#queue.shift() ?? null;
    if (frame !== null) this.#taken(frame);
    return frame;
  }

  #add(frame: LiveFrame): void {
    if (this.#queue.length >= MAX_FRAMES) return this.close();
    this.#queue.push(frame);
    this.#wake();
  }

  #pushText(frame: TextFrame): void {
    const last = this.#queue.at(-1);
    const goesOn = last?.kind === 'text' && isSameReply(last, frame);
    if (this.#characters + frame.delta.length > MAX_TEXT_CHARACTERS) {
      const isMarked = goesOn && last.change === 'gap';
      if (!isMarked) this.#add({ ...frame, change: 'gap', delta: '' });
      return;
    }
    this.#characters += frame.delta.length;
    if (!goesOn || last.change !== frame.change || frame.delta === '') return this.#add(frame);
    this.#queue[this.#queue.length - 1] = { ...last, delta: last.delta + frame.delta };
  }

  #pushEntries(frame: EntriesFrame): void {
    const characters = charactersOf(frame);
    // One alone always fits.
    if (this.#characters > 0 && this.#characters + characters > MAX_TEXT_CHARACTERS) return;
    this.#characters += characters;
    this.#add(frame);
  }

  #replace(frame: LiveFrame, isSame: (waiting: LiveFrame) => boolean): void {
    const at = this.#queue.findIndex(isSame);
    if (at !== -1) this.#queue.splice(at, 1);
    this.#add(frame);
  }

  #taken(frame: LiveFrame): void {
    if (frame.kind === 'event') this.#events -= 1;
    if (frame.kind === 'text') this.#characters -= frame.delta.length;
    if (frame.kind === 'entries') this.#characters -= charactersOf(frame);
    if (frame.kind === 'ping') this.#unreadPings = 0;
    if (!this.#isFull || this.#events > MAX_EVENTS / 2) return;
    this.#isFull = false;
    this.#onRoom();
  }
}

function charactersOf({ entries }: EntriesFrame): number {
  return entries.reduce((sum, entry) => sum + entryCharacters(entry), 0);
}

function isSameReply(one: TextFrame, other: TextFrame): boolean {
  return (
    one.run === other.run && one.iteration === other.iteration && one.attempt === other.attempt
  );
}
