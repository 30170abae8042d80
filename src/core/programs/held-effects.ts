/**
 * The effects of a program that it asked for and that did not begin: they begin within the limits, in
 * request order, but for calls that the limits or other calls hold back. A hand-over that is due holds
 * all of them, a pause all but timers.
 */
import type { EffectRequest } from '../../lisp.ts';
import { refusedText } from '../toolchain/call-texts.ts';
import { roomForCalls } from '../run/make-room.ts';
import type { Starters } from '../children/run-child.ts';
import { beginEffect, type BeginPlace } from './begin-effect.ts';
import { isAgentCall, type EffectPlace, type ToolRequest } from './effect-place.ts';
import { roomForCall } from './effect-room.ts';
import type { KeptEffects } from '../run/kept-program.ts';
import type { EffectEnd, OpenEffects } from './open-effects.ts';
import type { Hold } from './program-door.ts';
import { isOver } from './running-program.ts';

/** What effects begin with. */
export interface HoldingPlace {
  readonly place: EffectPlace;
  readonly begin: BeginPlace;
  readonly starters: Starters;
  readonly open: OpenEffects;
  readonly hold: () => Hold | null;
}

/** The effects that wait to begin. */
export interface HeldEffects {
  readonly add: (requests: readonly EffectRequest[]) => void;
  readonly drop: (ids: readonly string[]) => void;
  readonly clear: () => void;
  /** Begins what may begin. May find a limit that ends the run. */
  readonly begin: () => void;
  /** Whether more of the limits of ancestors was asked for and answered since the last `begin`. */
  readonly isAnswered: () => boolean;
  readonly requests: () => readonly EffectRequest[];
  /** Effects that began or were refused, without timers. */
  readonly calls: () => number;
}

/** The effects that wait since an earlier link kept them, or none. */
export function createHeldEffects(given: HoldingPlace, kept?: KeptEffects): HeldEffects {
  const { place, starters, hold } = given;
  let held: readonly EffectRequest[] = kept?.held ?? [];
  const { mayBegin, calls, room } = createBeginning(given, kept?.calls ?? 0);
  const childrenIn = (requests: readonly EffectRequest[]): number =>
    requests.filter((request) => isAgentCall(place, request)).length;
  return {
    calls,
    isAnswered: room.isAnswered,
    requests: () => held,
    add: (requests) => {
      held = [...held, ...requests];
    },
    drop: (ids) => {
      held = held.filter(({ id }) => !ids.includes(id));
    },
    clear: () => {
      held = [];
    },
    begin: () => {
      // An answer that came meanwhile is no news a second time: whoever waits for news would never wait.
      if (hold() === 'handover') return room.askAgain();
      const waiting: EffectRequest[] = [];
      // Children that begin in one go share what is left.
      starters.children += childrenIn(held);
      for (const request of held) {
        // A call that waits holds back the calls behind it, but nothing else.
        const isBehind = request.kind === 'tool' && waiting.some(({ kind }) => kind === 'tool');
        if (isOver(place) || isBehind || !mayBegin(request)) waiting.push(request);
      }
      starters.children -= childrenIn(waiting);
      held = waiting;
      room.askAgain();
    },
  };
}

/** How one effect begins. */
interface Beginning {
  /** Begins a request, or ends it at once; false when it has to wait. */
  readonly mayBegin: (request: EffectRequest) => boolean;
  readonly calls: () => number;
  readonly room: RoomAbove;
}

function createBeginning({ place, begin, open }: HoldingPlace, callsBefore: number): Beginning {
  const { run, host } = place;
  let calls = callsBefore;
  const room = createRoomAbove(place, open);

  const add = (request: EffectRequest, end: EffectEnd): void =>
    open.add({ request, startedAt: host.now() }, () => end);
  const beginOne = (request: EffectRequest): void => {
    const effect = { request, startedAt: host.now() };
    calls += request.kind === 'sleep' ? 0 : 1;
    open.add(effect, () => beginEffect(begin, effect));
  };
  /** Begins a call, or refuses it; false when it has to wait. */
  const mayCall = (request: ToolRequest): boolean => {
    if (room.isShort(request.name)) return false;
    const found = roomForCall(run, request.name, open.tools());
    if (found.kind === 'wait') return false;
    if (found.kind === 'begin') beginOne(request);
    else if (found.breach.limit.onReach === 'refuse') {
      calls += 1;
      const text = refusedText(found.breach.key, found.breach.limit.max);
      add(request, { kind: 'refused', text });
    } else run.breach(found.breach);
    return true;
  };
  const mayBegin = (request: EffectRequest): boolean => {
    // Time passes in a pause, too.
    if (run.state.pausedAt !== null && request.kind !== 'sleep') return false;
    if (host.capacity.isFull()) add(request, { kind: 'full' });
    else if (request.kind === 'tool') return mayCall(request);
    else beginOne(request);
    return true;
  };
  return { mayBegin, calls: () => calls, room };
}

/** Room under the limits of ancestors: more is asked for once, for all that is held. */
interface RoomAbove {
  /** Whether there is none for one more call of `tool`: then more is asked for. */
  readonly isShort: (tool: string) => boolean;
  readonly isAnswered: () => boolean;
  /** After an answer more may be asked for again. */
  readonly askAgain: () => void;
}

function createRoomAbove({ run, host }: EffectPlace, open: OpenEffects): RoomAbove {
  let asking: 'no' | 'under way' | 'answered' = 'no';
  const arrived = (): void => {
    asking = 'answered';
    host.waits.wake();
  };
  return {
    isShort: (tool) => {
      if (asking === 'answered') return false;
      if (asking === 'under way') return true;
      const room = roomForCalls(run, host, [tool]);
      if (room === undefined) return false;
      asking = 'under way';
      room.then(arrived, (error: unknown) => {
        open.fail(error);
        arrived();
      });
      return true;
    },
    isAnswered: () => asking === 'answered',
    askAgain: () => {
      if (asking === 'answered') asking = 'no';
    },
  };
}
