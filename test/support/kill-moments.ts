/** When a process is killed: moments that a worker can notice by itself, chosen by a seed. */
import type { EventType } from '../../src/core/contract/events.ts';

/** What a worker looks out for. It is killed `delayMs` after the n-th of it; 0: in the same tick. */
export interface KillMoment {
  readonly on: `event ${EventType}` | `chunk ${'text' | 'end'}` | `effect ${'begun' | 'done'}`;
  /** From 1, counted over all runs of the process. */
  readonly nth: number;
  readonly delayMs: number;
}

/** A moment and its name in words. */
export interface NamedMoment extends KillMoment {
  readonly name: string;
}

/** A kind of moments: what it is, and how far into the work it lies. */
export interface MomentKind {
  readonly name: string;
  readonly on: KillMoment['on'];
  /** Greatest `nth`: what the runs of the process surely reach. */
  readonly upTo: number;
  /** Greatest delay in ms. */
  readonly delay?: number;
}

/**
 * Of three runs of the airline: before, in and after model calls, tool calls and hand-overs. The first
 * ones are those that a run of few kills has.
 */
const AIRLINE_KINDS: readonly MomentKind[] = [
  { name: 'in a model call', on: 'chunk text', upTo: 120 },
  { name: 'when a once tool has begun', on: 'effect begun', upTo: 6 },
  { name: 'in a hand-over', on: 'event agent:execution:handover', upTo: 3, delay: 30 },
  { name: 'before a model call', on: 'event agent:model_call:before', upTo: 15 },
  { name: 'after a model call', on: 'event agent:model_call:after', upTo: 15 },
  { name: 'in a tool call', on: 'event agent:tool_call:before', upTo: 24, delay: 150 },
  { name: 'before a tool call', on: 'event agent:tool_call:before', upTo: 24 },
  { name: 'between reply and result', on: 'chunk end', upTo: 15 },
  { name: 'before a hand-over', on: 'event agent:execution:handover', upTo: 3 },
  { name: 'when a once tool has acted', on: 'effect done', upTo: 6 },
  { name: 'after a tool call', on: 'event agent:tool_call:after', upTo: 24 },
  { name: 'after a hand-over', on: 'event agent:execution:handover', upTo: 3, delay: 200 },
];

/** Of one survey by programs: around programs, their calls and the hand-overs in their middle. */
export const PROGRAM_KINDS: readonly MomentKind[] = [
  { name: 'in a call', on: 'effect begun', upTo: 30 },
  { name: 'between calls', on: 'effect done', upTo: 58, delay: 60 },
  {
    name: 'in a hand-over in mid-program',
    on: 'event agent:execution:handover',
    upTo: 3,
    delay: 40,
  },
  { name: 'when a tool has acted', on: 'effect done', upTo: 30 },
  { name: 'after a program', on: 'event agent:program:after', upTo: 2, delay: 50 },
  { name: 'after a call', on: 'event agent:tool_call:after', upTo: 30 },
  { name: 'when a call has begun', on: 'effect begun', upTo: 30, delay: 30 },
  { name: 'before a hand-over', on: 'event agent:execution:handover', upTo: 3 },
  { name: 'before a program', on: 'event agent:program:before', upTo: 3 },
  { name: 'after a hand-over', on: 'event agent:execution:handover', upTo: 3, delay: 300 },
];

/** `count` moments that follow from `seed` alone: the kinds in turn, each somewhere else. */
export function killMoments(
  seed: number,
  count: number,
  kinds: readonly MomentKind[] = AIRLINE_KINDS,
): readonly NamedMoment[] {
  const next = randomNumbers(seed);
  return Array.from({ length: count }, (_, index) => {
    const { name, on, upTo, delay = 0 } = kinds[index % kinds.length] as MomentKind;
    const nth = 1 + Math.floor(next() * upTo);
    const delayMs = delay === 0 ? 0 : 1 + Math.floor(next() * delay);
    return { name: `${name} (${on}, number ${nth}, ${delayMs} ms later)`, on, nth, delayMs };
  });
}

/** Numbers from 0 to below 1 that follow from a seed: mulberry32. */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Calls `kill` at the moment; tell it of everything that happens. Without a moment it never does. */
export function killWatch(
  moment: KillMoment | undefined,
  kill: () => void,
): (what: KillMoment['on']) => void {
  let seen = 0;
  return (what) => {
    if (moment === undefined || what !== moment.on) return;
    seen += 1;
    if (seen !== moment.nth) return;
    if (moment.delayMs === 0) kill();
    else setTimeout(kill, moment.delayMs);
  };
}
