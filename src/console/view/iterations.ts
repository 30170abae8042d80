/**
 * Folds events into the views of iterations.
 *
 * I1  A fold of one list equals the folds of its pages, one after another, wherever they are cut.
 * I2  An event whose `seq` is not above the last one of the views changes nothing.
 * I3  A call belongs to the iteration that its id names, and all else to that of its event. An end
 *     whose beginning lies before the views is left out.
 * I4  Linear in the events and in the iterations that they change, however many calls one has.
 */
import { defined } from '../../core/base/defined.ts';
import { isOwnEvent, type AgentEvent } from '../../core/contract/events.ts';
import { markOf } from './marks.ts';
import { addCallEvent } from './calls.ts';
import { byOf } from './by-of.ts';
import { addModelEvent } from './model-calls.ts';
import type { IterationView } from './iteration-view.ts';
import { ViewDraft, waitKey } from './view-draft.ts';

/** `views`, ordered by number, after `events`, ordered by `seq`. */
export function foldIterations(
  views: readonly IterationView[],
  events: readonly AgentEvent[],
): readonly IterationView[] {
  if (events.length === 0) return views;
  const draft = new Draft(views);
  for (const event of events) {
    if (event.seq > draft.lastSeq) draft.add(event);
  }
  return draft.views;
}

/** The views while events are added; only those that change are copied. */
class Draft {
  readonly #views: IterationView[];
  readonly #places = new Map<number, number>();
  /** Those that have changed, by number. */
  readonly #drafts = new Map<number, ViewDraft>();
  /** The numbers of the iterations that started children, by the ids of these. */
  readonly #children = new Map<string, number>();
  lastSeq: number;

  constructor(views: readonly IterationView[]) {
    this.#views = [...views];
    this.lastSeq = 0;
    for (const [place, { number, lastSeq, calls }] of views.entries()) {
      this.#places.set(number, place);
      this.lastSeq = Math.max(this.lastSeq, lastSeq);
      for (const { child } of calls) if (child !== undefined) this.#children.set(child.id, number);
    }
  }

  get views(): readonly IterationView[] {
    return this.#views.map((view) => this.#drafts.get(view.number)?.view ?? view);
  }

  add(event: AgentEvent): void {
    this.lastSeq = event.seq;
    const number = iterationOf(event, (childId) => this.#children.get(childId));
    if (event.type === 'agent:child:spawn') this.#children.set(event.childId, number);
    const place = this.#places.get(number) ?? this.#begin(number, event);
    const view = this.#views[place];
    if (view === undefined) return;
    const draft = this.#drafts.get(number) ?? new ViewDraft(view);
    this.#drafts.set(number, draft);
    addEvent(draft, event);
  }

  #begin(number: number, { seq, at }: AgentEvent): number {
    const view: IterationView = {
      number,
      firstSeq: seq,
      lastSeq: seq,
      from: at,
      models: [],
      calls: [],
      waits: [],
      programs: [],
      marks: [],
      sections: [],
    };
    const place = this.#views.findIndex((each) => each.number > number);
    if (place === -1) this.#views.push(view);
    else this.#views.splice(place, 0, view);
    for (const [index, each] of this.#views.entries()) this.#places.set(each.number, index);
    return place === -1 ? this.#views.length - 1 : place;
  }
}

/** The iteration that `event` belongs to. */
function iterationOf(event: AgentEvent, ofChild: (childId: string) => number | undefined): number {
  if (isOwnEvent(event)) return event.iteration;
  if ('callId' in event && event.callId !== undefined) {
    return callIteration(event.callId) ?? event.iteration;
  }
  if ('programId' in event) return callIteration(event.programId) ?? event.iteration;
  if (event.type === 'agent:child:report' || event.type === 'agent:child:complete') {
    return ofChild(event.childId) ?? event.iteration;
  }
  return event.iteration;
}

/** The iteration in the id of a call or a program: 3 of `3.1` and `3.p2/0`. */
function callIteration(id: string): number | undefined {
  const number = Number(/^(\d+)\./.exec(id)?.[1] ?? Number.NaN);
  return Number.isSafeInteger(number) ? number : undefined;
}

function addEvent(view: ViewDraft, event: AgentEvent): void {
  const { head } = view;
  view.head = {
    ...head,
    firstSeq: Math.min(head.firstSeq, event.seq),
    lastSeq: Math.max(head.lastSeq, event.seq),
    from: Math.min(head.from, event.at),
  };
  const mark = markOf(event);
  if (mark !== null) view.marks.add(mark);
  if (isOwnEvent(event)) return;
  addTurnEvent(view, event);
  addCallEvent(view, event);
  addModelEvent(view, event);
}

function addTurnEvent(view: ViewDraft, event: AgentEvent): void {
  if (isOwnEvent(event)) return;
  switch (event.type) {
    case 'agent:iteration:before':
      view.head = { ...view.head, from: event.at };
      return;
    case 'agent:iteration:after':
      view.head = { ...view.head, to: event.at, outcome: event.outcome };
      return;
    case 'agent:turn:read': {
      const { kind, blocks, reasoning } = event;
      const read = { turn: kind, sections: Object.keys(blocks), ...defined({ reasoning }) };
      view.head = { ...view.head, ...read };
      return;
    }
    case 'agent:program:before': {
      const { programId, source, at } = event;
      return view.programs.add({ programId, source, from: at });
    }
    case 'agent:program:after':
      return view.programs.change(event.programId, (mark) => ({
        ...mark,
        to: event.at,
        outcome: event.outcome,
        fuel: event.steps,
        calls: event.calls,
        ...defined({ error: event.error?.message }),
      }));
    case 'agent:question:asked': {
      const { questionId: id, text, at } = event;
      return view.waits.add({ kind: 'question', id, text, from: at });
    }
    case 'agent:question:answered': {
      const result =
        event.timedOut === true ? 'timed out' : event.withdrawn === true ? 'withdrawn' : 'answered';
      return view.waits.change(waitKey('question', event.questionId), (wait) => ({
        ...wait,
        ...defined({ callId: event.callId }),
        to: event.at,
        result,
        ...byOf(event),
      }));
    }
    default:
  }
}
