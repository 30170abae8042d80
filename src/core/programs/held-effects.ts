/**
 * The effects that a program requested and that have not begun. They begin within the limits and in
 * request order, except for calls that the limits or other calls hold back.
 */
import type { EffectRequest } from '../../lisp.ts';
import type { StartGroup } from '../children/run-child.ts';
import type { Breach } from '../contract/limit.ts';
import { ensureCallBudget } from '../run/ensure-budget.ts';
import type { KeptEffects } from '../run/kept-program.ts';
import type { Run } from '../run/run.ts';
import { toolsNamed } from '../tool-search/stubs.ts';
import { isAlone, isKnownTool } from '../toolchain/batch.ts';
import { refusedText } from '../toolchain/call-texts.ts';
import { beginEffect } from './begin-effect.ts';
import type { EffectEnd, OpenEffects } from './open-effects.ts';
import {
  isAgentCall,
  isOver,
  type EffectContext,
  type RunningProgram,
  type ToolRequest,
} from './program-context.ts';

/** What holds back effects: a hand-over that is due holds all, a pause all except timers. */
export type Hold = 'handover' | 'pause';

/** What effects begin with. */
export interface EffectStart {
  readonly running: RunningProgram;
  readonly context: EffectContext;
  readonly starting: StartGroup;
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
  /** Whether the parent has answered a request for more budget since the last `begin`. */
  readonly isAnswered: () => boolean;
  readonly requests: () => readonly EffectRequest[];
  /** Effects that began or were refused, without timers. */
  readonly calls: () => number;
}

/** The effects that an earlier link kept, or none. */
export function createHeldEffects(given: EffectStart, kept?: KeptEffects): HeldEffects {
  const { running, starting, hold } = given;
  let held: readonly EffectRequest[] = kept?.held ?? [];
  const { mayBegin, calls, budget } = createBeginning(given, kept?.calls ?? 0);
  const childrenIn = (requests: readonly EffectRequest[]): number =>
    requests.filter((request) => isAgentCall(running, request)).length;
  return {
    calls,
    isAnswered: budget.isAnswered,
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
      // Reset an answer that has come: otherwise the wait for the next one would end at once.
      if (hold() === 'handover') return budget.askAgain();
      const waiting: EffectRequest[] = [];
      // Children that begin together share what is left.
      starting.children += childrenIn(held);
      for (const request of held) {
        // A call that waits holds back the calls after it, but nothing else.
        const isBehind = request.kind === 'tool' && waiting.some(({ kind }) => kind === 'tool');
        if (isOver(running) || isBehind || !mayBegin(request)) waiting.push(request);
      }
      starting.children -= childrenIn(waiting);
      held = waiting;
      budget.askAgain();
    },
  };
}

/** How one effect begins. */
interface Beginning {
  /** Begins a request, or ends it at once; false when it has to wait. */
  readonly mayBegin: (request: EffectRequest) => boolean;
  readonly calls: () => number;
  readonly budget: BudgetRequest;
}

function createBeginning({ running, context, open }: EffectStart, callsBefore: number): Beginning {
  const { run } = running;
  let calls = callsBefore;
  const budget = createBudgetRequest(running, open);

  const add = (request: EffectRequest, end: EffectEnd): void =>
    open.add({ request, startedAt: run.host.now() }, () => end);
  const beginOne = (request: EffectRequest): void => {
    const effect = { request, startedAt: run.host.now() };
    calls += request.kind === 'sleep' ? 0 : 1;
    open.add(effect, () => beginEffect(context, effect));
  };
  /** Begins a call, or refuses it; false when it has to wait. */
  const mayCall = (request: ToolRequest): boolean => {
    if (budget.isShort(request.name)) return false;
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
    // Time passes during a pause.
    if (run.state.pausedAt !== null && request.kind !== 'sleep') return false;
    if (run.host.link.isFull()) add(request, { kind: 'full' });
    else if (request.kind === 'tool') return mayCall(request);
    else beginOne(request);
    return true;
  };
  return { mayBegin, calls: () => calls, budget };
}

/** Budget under the limits of ancestors: more is requested once, for all effects that are held. */
interface BudgetRequest {
  /** Whether it is too small for one more call of `tool`: then more is requested. */
  readonly isShort: (tool: string) => boolean;
  readonly isAnswered: () => boolean;
  /** Forgets an answer, so that more may be requested. */
  readonly askAgain: () => void;
}

function createBudgetRequest({ run }: RunningProgram, open: OpenEffects): BudgetRequest {
  let asking: 'no' | 'under way' | 'answered' = 'no';
  const arrived = (): void => {
    asking = 'answered';
    run.host.waits.wake();
  };
  return {
    isShort: (tool) => {
      if (asking === 'answered') return false;
      if (asking === 'under way') return true;
      const budget = ensureCallBudget(run, [tool]);
      if (budget === undefined) return false;
      asking = 'under way';
      budget.then(arrived, (error: unknown) => {
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

/** `wait`: until others have ended, which may not count in the end. */
type Room =
  | { readonly kind: 'begin' }
  | { readonly kind: 'wait' }
  | { readonly kind: 'crossed'; readonly breach: Breach };

/** The room for a call of tool `name` beside open calls, which are given by their tools. */
function roomForCall(
  { state, wouldCross }: Pick<Run, 'state' | 'wouldCross'>,
  name: string,
  open: readonly string[],
): Room {
  const others = [...open, name];
  const { parallel } = state.head.spec;
  const spec = { parallel, tools: toolsNamed(state, others) };
  if (open.length > 0 && others.some((tool) => isAlone(spec, tool))) return { kind: 'wait' };
  // An unknown tool does not run, so it needs no budget.
  if (!isKnownTool(spec.tools, name)) return { kind: 'begin' };
  const key = `agent:tool_calls:${name}`;
  const keys = ['agent:tool_calls', key];
  const alone = wouldCross(keys);
  if (alone !== null) {
    // Calls in flight already have their part of ancestors' limits.
    const mayCome = open.length > 0 && alone.origin !== 'self';
    return mayCome ? { kind: 'wait' } : { kind: 'crossed', breach: alone };
  }
  const same = open.filter((tool) => tool === name).length;
  const inFlight = { 'agent:tool_calls': open.length, [key]: same };
  return wouldCross(keys, inFlight) === null ? { kind: 'begin' } : { kind: 'wait' };
}
