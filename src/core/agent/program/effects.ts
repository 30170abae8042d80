/**
 * The effects of one program: begun within the limits, waited for, recorded as they come. Asynchronous,
 * a part of `run-program.ts`.
 *
 * I1  Effects begin in request order, but for calls that the limits or other calls hold back; what
 *     ends in one go is recorded and given to the program in the order of beginning.
 * I2  While a hand-over is due nothing begins. Once all that is open is at rest, in a wait for a person,
 *     the outside or a time, the program leaves as it stands; a program that does not fit stays, and
 *     then begins everything at once.
 * I3  Each effect that began arrives once: with its end, or by leaving. Whoever drops one still awaits it.
 */
import type { EffectRequest, EffectResult } from '../../../lisp.ts';
import { editedText, refusedText } from '../../toolchain/call-texts.ts';
import type { ToolCall } from '../../message.ts';
import { askPerson, awaitAnswer, type AskOutcome } from '../ask-person.ts';
import type { CallEnd } from '../call-end.ts';
import { leaveOf, leaving } from '../ending.ts';
import type { Host } from '../host.ts';
import type { KeptTurn } from '../kept-turn.ts';
import type { OpenCount } from '../open-count.ts';
import { recordCall, recordUnstarted } from '../record-call.ts';
import { resumeCall, startCall, type CallPlace } from '../run-call.ts';
import { isInterrupted, isStopped, type Run } from '../run.ts';
import type { Starters } from '../run-child.ts';
import { waitForTime, type Door } from '../wait-for-person.ts';
import { roomForCalls } from '../make-room.ts';
import { hiddenTexts } from '../../program/hidden-values.ts';
import { roomForCall } from './effect-room.ts';
import { askResult, callResult, questionOf } from './effect-results.ts';
import type { KeptEffect, KeptProgram } from './kept-program.ts';

/** What effects are a part of. */
export interface EffectPlace {
  readonly run: Run;
  readonly host: Host;
  readonly open: OpenCount;
  /** In front of the ids of effects, to give those of calls. */
  readonly programId: string;
  readonly reasoning: string;
  /** Whether the loop has let go of the program. */
  readonly isGivenUp: () => boolean;
  /** Makes the turn to leave with, out of effects that all rest; null when it does not fit. */
  readonly keep: ((kept: KeptEffects) => KeptTurn | null) | undefined;
}

/** The effects of a program that can be handed over. */
export type KeptEffects = Pick<KeptProgram, 'open' | 'held' | 'done' | 'calls' | 'hidden'>;

/** The effects of one program. */
export interface Effects {
  /** Takes requests of the program, to be begun in this order. */
  request(requests: readonly EffectRequest[]): void;
  /** Ends effects that the program does not need any more, one by one. */
  drop(ids: readonly string[]): void;
  /** Begins what may begin. May find a limit that ends the run. */
  begin(): void;
  /** Waits until something came of an effect, or may begin, or the run is to stop. May leave. */
  next(): Promise<void>;
  /** Records what came, and gives it to the program. */
  take(): readonly EffectResult[];
  /** Waits until all effects that began have arrived, and records them. */
  settle(): Promise<void>;
  /** Whether the program is to end. */
  isOver(): boolean;
  /** Calls that succeeded, by tool, in order of the first. */
  done(): KeptProgram['done'];
  /** Effects that began or were refused. */
  calls(): number;
  /** Texts under hidden fields of what children gave: no model may see them. */
  hidden(): readonly string[];
  /** What people changed, in sentences for the model. */
  readonly edits: readonly string[];
}

/** An effect that began. */
interface OpenEffect extends KeptEffect {
  readonly callId: string;
  /** Settles when it has arrived or left; never rejects. */
  settled: Promise<void> | null;
  isResting: boolean;
  isDropped: boolean;
  end: EffectEnd | null;
}

type EffectEnd =
  | { readonly kind: 'call'; readonly end: CallEnd }
  | { readonly kind: 'ask'; readonly outcome: AskOutcome }
  | { readonly kind: 'sleep' }
  | { readonly kind: 'unfit'; readonly message: string }
  /** A limit let no further call run. */
  | { readonly kind: 'refused'; readonly text: string }
  /** The history has no room for it. */
  | { readonly kind: 'full' };

/** Ends the program, and no `attempt` recovers from it. */
const FULL = {
  ok: false,
  reason: 'size_exceeded',
  message:
    'the program has done so much, and holds so much data, that it can neither go on here nor be moved on. Hold less data while calls are open, or do the work in several programs.',
} as const;

/** The effects of a program that begins, or goes on with those that an earlier link kept. */
export function createEffects(place: EffectPlace, kept?: KeptEffects): Effects {
  const { run, host, programId } = place;
  let open: readonly OpenEffect[] = [];
  let held: readonly EffectRequest[] = kept?.held ?? [];
  let failure: { readonly error: unknown } | null = null;
  let isParked = false;
  /** Whether more of the limits of ancestors is asked for. */
  let asking: 'no' | 'under way' | 'answered' = 'no';
  /** The turn to leave with; null once it did not fit. */
  let leave: { readonly turn: KeptTurn | null } | null = null;
  const done = new Map((kept?.done ?? []).map(({ tool, count }) => [tool, count]));
  const hidden = new Set(kept?.hidden);
  const edits: string[] = [];
  const shownTools = new Set<string>();
  let calls = kept?.calls ?? 0;

  const isOver = (): boolean => isStopped(run, host) || isInterrupted(host) || place.isGivenUp();
  const mayLeave = (): boolean =>
    place.keep !== undefined && leave === null && host.handoverDue() && !isOver();
  const hasArrived = (): boolean => failure !== null || open.some(({ end }) => end !== null);
  const isDue = (): boolean =>
    isParked &&
    !hasArrived() &&
    mayLeave() &&
    host.isIdle() &&
    open.every(({ isResting }) => isResting);
  const tryToLeave = (): KeptTurn | null => {
    const kept = {
      open: open.map(({ request, startedAt }) => ({ request, startedAt })),
      held,
      done: doneOf(),
      calls,
      ...(hidden.size === 0 ? {} : { hidden: [...hidden] }),
    };
    if (leave === null) {
      leave = { turn: place.keep?.(kept) ?? null };
      // The others leave, too; or what was held begins.
      host.wake();
    }
    return leave.turn;
  };
  const find = (callId: string): OpenEffect | undefined =>
    open.find((effect) => effect.callId === callId);
  const door: Door = {
    isDue,
    leave: () => Promise.resolve(tryToLeave()),
    isOpen: () => leave !== null && leave.turn !== null,
    rest: (callId, isResting) => {
      const effect = find(callId);
      if (effect !== undefined) effect.isResting = isResting && !effect.isDropped;
    },
    isQuiet: (callId) =>
      isParked &&
      !hasArrived() &&
      open.every((effect) => effect.isResting || effect.callId === callId),
    isDropped: (callId) => place.isGivenUp() || find(callId)?.isDropped === true,
  };
  const starters: Starters = { children: 0 };
  const callPlace: CallPlace = {
    starters,
    run,
    host,
    open: place.open,
    door,
    reasoning: place.reasoning,
    // Only what stands in a branch can be dropped while the program goes on.
    program: { isSeparate: (callId) => callId.includes('/'), hidden: () => [...hidden] },
  };
  const callOf = ({ id, name, args }: ToolRequest): ToolCall => ({
    callId: `${programId}${id}`,
    tool: name,
    args,
  });
  const doneOf = (): KeptProgram['done'] => [...done].map(([tool, count]) => ({ tool, count }));

  const arrive = (effect: OpenEffect, end: EffectEnd): void => {
    effect.end = end;
    effect.isResting = false;
    host.wake();
  };
  /** Puts an effect among the open ones, and begins it. */
  const add = (
    request: EffectRequest,
    startedAt: number,
    begin: (effect: OpenEffect) => Promise<EffectEnd> | EffectEnd,
  ): void => {
    const effect: OpenEffect = {
      request,
      startedAt,
      callId: `${programId}${request.id}`,
      settled: null,
      isResting: false,
      isDropped: false,
      end: null,
    };
    open = [...open, effect];
    const begun = begin(effect);
    if (!('then' in begun)) {
      effect.end = begun;
      return;
    }
    effect.settled = begun.then(
      (end) => arrive(effect, end),
      (error: unknown) => {
        if (leaveOf(error)?.kind === 'handover') return;
        failure ??= { error };
        host.wake();
      },
    );
  };

  const beginOne = (request: EffectRequest): void => {
    const startedAt = host.now();
    calls += request.kind === 'sleep' ? 0 : 1;
    add(request, startedAt, (effect) => {
      switch (request.kind) {
        case 'tool':
          return mapEnd(startCall(callPlace, callOf(request)), (end) => ({ kind: 'call', end }));
        case 'ask': {
          const read = questionOf(request);
          if (read.kind === 'unfit') return read;
          const asked = askPerson(run, host, effect.callId, read.question, door);
          return asked.then((outcome) => ({ kind: 'ask', outcome }));
        }
        case 'sleep':
          return sleep(effect, request);
      }
    });
  };
  const sleep = ({ callId, startedAt }: OpenEffect, { ms }: SleepRequest): Promise<EffectEnd> =>
    waitForTime(run, host, { callId, time: startedAt + ms }, door).then(() => ({ kind: 'sleep' }));

  /** Goes on with an effect that waits since an earlier link. */
  const resumeOne = ({ request, startedAt }: KeptEffect): void => {
    const callId = `${programId}${request.id}`;
    const item = (run.state.pending ?? []).find((one) => one.callId === callId);
    add(request, startedAt, (effect) => {
      if (request.kind === 'sleep') return sleep(effect, request);
      if (request.kind === 'ask' && item?.kind === 'question') {
        return awaitAnswer(run, host, item, door).then((outcome) => ({ kind: 'ask', outcome }));
      }
      if (request.kind === 'tool' && item !== undefined) {
        const going = resumeCall(callPlace, callOf(request), item);
        return mapEnd(going, (end) => ({ kind: 'call', end }));
      }
      // What waits stands in the state: this is a state that somebody made up.
      throw new Error(`Expected effect ${callId} to wait for something.`);
    });
  };

  const openTools = (): readonly string[] =>
    open.flatMap(({ request }) => (request.kind === 'tool' ? [request.name] : []));
  /** Whether the limits of ancestors have no room for one more call: then more is asked for, once. */
  const isShortOfRoom = (tool: string): boolean => {
    if (asking === 'answered') return false;
    if (asking === 'under way') return true;
    const room = roomForCalls(run, host, [tool]);
    if (room === undefined) return false;
    asking = 'under way';
    const arrived = (): void => {
      asking = 'answered';
      host.wake();
    };
    room.then(arrived, (error: unknown) => {
      failure ??= { error };
      arrived();
    });
    return true;
  };
  /** Begins a request, or refuses it; false when it has to wait. */
  const mayBegin = (request: EffectRequest): boolean => {
    if (host.isFull()) {
      add(request, host.now(), () => ({ kind: 'full' }));
      return true;
    }
    if (request.kind !== 'tool') {
      beginOne(request);
      return true;
    }
    if (isShortOfRoom(request.name)) return false;
    const room = roomForCall(run, request.name, openTools());
    if (room.kind === 'wait') return false;
    if (room.kind === 'begin') beginOne(request);
    else if (room.breach.limit.onReach === 'refuse') {
      calls += 1;
      const text = refusedText(room.breach.key, room.breach.limit.max);
      add(request, host.now(), () => ({ kind: 'refused', text }));
    } else run.breach(room.breach);
    return true;
  };

  const isChild = (request: EffectRequest): boolean =>
    request.kind === 'tool' &&
    run.state.head.spec.tools.some(
      ({ name, agent }) => name === request.name && agent !== undefined,
    );
  const childrenIn = (requests: readonly EffectRequest[]): number =>
    requests.filter(isChild).length;
  const begin = (): void => {
    if (mayLeave()) return;
    const waiting: EffectRequest[] = [];
    // Children that begin in one go share what is left.
    starters.children += childrenIn(held);
    for (const request of held) {
      // A call that waits holds back the calls behind it, but nothing else.
      const isBehind = request.kind === 'tool' && waiting.some(({ kind }) => kind === 'tool');
      if (isOver() || isBehind || !mayBegin(request)) waiting.push(request);
    }
    starters.children -= childrenIn(waiting);
    held = waiting;
    if (asking === 'answered') asking = 'no';
  };

  const take = (): readonly EffectResult[] => {
    if (failure !== null) throw failure.error;
    const ended = open.filter(({ end }) => end !== null);
    open = open.filter(({ end }) => end === null);
    return ended.map((effect) => recordEnd(effect));
  };
  const recordEnd = ({ request, startedAt, end }: OpenEffect): EffectResult => {
    const { id } = request;
    switch (end?.kind) {
      case 'call': {
        if (request.kind !== 'tool') break;
        const call = callOf(request);
        recordCall(run, { call, startedAt, inProgram: true }, end.end, shownTools);
        const { outcome, output = null } = end.end.result;
        if (isChild(request)) for (const text of hiddenTexts([output])) hidden.add(text);
        if (end.end.edited !== undefined) edits.push(editedText(end.end.edited, request.name));
        if (outcome === 'ok') done.set(request.name, (done.get(request.name) ?? 0) + 1);
        return callResult(id, end.end);
      }
      case 'ask':
        return askResult(id, end.outcome);
      case 'refused': {
        if (request.kind !== 'tool') break;
        recordUnstarted(run, callOf(request), 'refused', end.text, true);
        const result = {
          outcome: 'refused',
          error: end.text,
          attempts: 0,
          started: false,
        } as const;
        return callResult(id, { result });
      }
      case 'full':
        return { id, ...FULL };
      case 'unfit':
        return { id, ok: false, reason: 'runtime_error', message: end.message };
      case 'sleep':
      case undefined:
        break;
    }
    return { id, ok: true, value: null };
  };

  for (const effect of kept?.open ?? []) resumeOne(effect);
  return {
    edits,
    isOver,
    begin,
    take,
    done: doneOf,
    calls: () => calls,
    hidden: () => [...hidden],
    request: (requests) => {
      held = [...held, ...requests];
    },
    drop: (ids) => {
      if (ids.length === 0) return;
      held = held.filter(({ id }) => !ids.includes(id));
      for (const effect of open) {
        if (!ids.includes(effect.request.id)) continue;
        effect.isDropped = true;
        effect.isResting = false;
        host.abortCall(effect.callId);
      }
      host.wake();
    },
    next: async () => {
      const wasDue = mayLeave();
      isParked = true;
      // Those who wait for a person see only now that nothing else goes on.
      host.wake();
      await host.waitUntil(
        () =>
          hasArrived() ||
          isOver() ||
          isDue() ||
          asking === 'answered' ||
          (leave?.turn ?? null) !== null ||
          wasDue !== mayLeave(),
      );
      if (isDue()) tryToLeave();
      isParked = false;
      const turn = leave?.turn ?? null;
      // What still waits looks at the door before it does anything.
      if (turn !== null) throw leaving({ kind: 'handover', turn });
    },
    settle: async () => {
      held = [];
      await Promise.all(open.flatMap(({ settled }) => settled ?? []));
      take();
    },
  };
}

type ToolRequest = Extract<EffectRequest, { readonly kind: 'tool' }>;
type SleepRequest = Extract<EffectRequest, { readonly kind: 'sleep' }>;

function mapEnd<From, To>(end: Promise<From> | From, to: (end: From) => To): Promise<To> | To {
  return end instanceof Promise ? end.then(to) : to(end);
}
