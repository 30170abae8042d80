/**
 * The view of an iteration while events are added to it: its lists are copied once for all of them, and
 * found by key, so that an iteration of ten thousand calls takes as long for each event as one of ten.
 */
import type {
  CallView,
  IterationView,
  MarkView,
  ModelCallView,
  ProgramMark,
  WaitView,
} from './iteration-view.ts';

/** A list whose items have keys; of several under one key, the last is meant. */
export class DraftList<Item> {
  readonly #items: Item[];
  readonly #keyOf: (item: Item) => number | string;
  readonly #places = new Map<number | string, number>();

  constructor(items: readonly Item[], keyOf: (item: Item) => number | string) {
    this.#items = [...items];
    this.#keyOf = keyOf;
    for (const [place, item] of this.#items.entries()) this.#places.set(keyOf(item), place);
  }

  get items(): readonly Item[] {
    return this.#items;
  }

  has(key: number | string): boolean {
    return this.#places.has(key);
  }

  add(item: Item): void {
    this.#places.set(this.#keyOf(item), this.#items.length);
    this.#items.push(item);
  }

  /** Changes the item under `key`, if there is one. */
  change(key: number | string, change: (item: Item) => Item): void {
    this.#changeAt(this.#places.get(key) ?? -1, change);
  }

  /** Changes the last item that `isMeant` accepts, if there is one. */
  changeLast(isMeant: (item: Item) => boolean, change: (item: Item) => Item): void {
    this.#changeAt(this.#items.findLastIndex(isMeant), change);
  }

  #changeAt(place: number, change: (item: Item) => Item): void {
    const item = this.#items[place];
    if (item !== undefined) this.#items[place] = change(item);
  }
}

/** What an iteration has beside its lists. */
export type ViewHead = Omit<IterationView, 'models' | 'calls' | 'waits' | 'programs' | 'marks'>;

/** The view of an iteration to which events are added. */
export class ViewDraft {
  head: ViewHead;
  readonly models: DraftList<ModelCallView>;
  readonly calls: DraftList<CallView>;
  readonly waits: DraftList<WaitView>;
  readonly programs: DraftList<ProgramMark>;
  readonly marks: DraftList<MarkView>;
  /** The calls that started children, by the ids of these. */
  readonly callOfChild: Map<string, string> = new Map();

  constructor({ models, calls, waits, programs, marks, ...head }: IterationView) {
    this.head = head;
    this.models = new DraftList(models, ({ seq }) => seq);
    this.calls = new DraftList(calls, ({ callId }) => callId);
    this.waits = new DraftList(waits, ({ kind, id }) => waitKey(kind, id));
    this.programs = new DraftList(programs, ({ programId }) => programId);
    this.marks = new DraftList(marks, ({ seq }) => seq);
    for (const { callId, child } of calls) {
      if (child !== undefined) this.callOfChild.set(child.id, callId);
    }
  }

  get view(): IterationView {
    return {
      ...this.head,
      models: this.models.items,
      calls: this.calls.items,
      waits: this.waits.items,
      programs: this.programs.items,
      marks: this.marks.items,
    };
  }
}

/** The key of a wait in a draft. */
export function waitKey(kind: WaitView['kind'], id: string): string {
  return `${kind} ${id}`;
}
