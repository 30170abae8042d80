/** What a probe has seen of one link of a run, in order: its boundaries, calls and children. */
import type { RunMoment } from '../base/fork.ts';
import type { ProbedCall, StateProbe } from '../run/host.ts';
import type { RunState } from '../run/run-state.ts';
import type { Boundary } from './moment.ts';

/** A boundary that was reached. */
export interface TapedBoundary extends Boundary {
  /** Null if no moment that was asked for can mean it. */
  state: RunState | null;
  /** Calls and children of the link before it. */
  readonly calls: number;
  readonly children: number;
}

/** A child that a loop started. */
export interface TapedChild {
  readonly callId: string;
  readonly agent: string;
}

/** What was seen. */
export interface Tape {
  readonly boundaries: readonly TapedBoundary[];
  readonly calls: readonly ProbedCall[];
  readonly children: readonly TapedChild[];
}

/** A probe and its tape. */
export interface TapeRecorder extends Tape {
  readonly probe: StateProbe;
}

/**
 * An empty tape. `moments`: those whose states are kept, one for each; default: all states. A call
 * is kept if `keepsCalls`; default: it is.
 */
export function createTape(moments?: readonly RunMoment[], keepsCalls = true): TapeRecorder {
  const boundaries: TapedBoundary[] = [];
  const calls: ProbedCall[] = [];
  const children: TapedChild[] = [];
  const kept = (moments ?? []).map((moment) => ({ moment, last: null as TapedBoundary | null }));
  /** Keeps the state while it may be that of a moment: a later boundary may take its place. */
  const keep = (boundary: TapedBoundary): boolean => {
    let isWanted = moments === undefined;
    for (const slot of kept) {
      if (!mayMean(slot.moment, boundary, slot.last)) continue;
      const before = slot.last;
      slot.last = boundary;
      isWanted = true;
      if (before !== null && !kept.some(({ last }) => last === before)) before.state = null;
    }
    return isWanted;
  };
  return {
    boundaries,
    calls,
    children,
    probe: {
      boundary: (state) => {
        const boundary: TapedBoundary = {
          iteration: state.iteration + 1,
          seq: state.seq,
          state,
          calls: calls.length,
          children: children.length,
        };
        boundaries.push(boundary);
        if (!keep(boundary)) boundary.state = null;
      },
      call: (call) => {
        if (keepsCalls) calls.push(call);
      },
      child: (child) => {
        if (keepsCalls) children.push(child);
      },
    },
  };
}

function mayMean(moment: RunMoment, { iteration, seq }: Boundary, last: Boundary | null): boolean {
  if (moment === 'start') return last === null;
  if (moment === 'latest') return true;
  return 'iteration' in moment ? iteration === moment.iteration : seq <= moment.event;
}
