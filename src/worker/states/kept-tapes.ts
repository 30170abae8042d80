/**
 * The tapes of replays, kept for a minute after they were last used: whoever looks at a run looks at
 * many of its moments, and the tries of an eval begin at the same one.
 *
 * I1  A tape keeps the wanted state and as many beside it as fit, as JSON: what is given out is a copy.
 * I2  All tapes together keep at most {@link MAX_BYTES}. A larger one is used and not kept.
 * I3  Who asks while a link is being replayed waits, and then finds its tape.
 */
import { LRUCache } from 'lru-cache';
import type { RunMoment } from '../../core/base/fork.ts';
import { boundaryOf } from '../../core/fork/moment.ts';
import {
  createTape,
  type Tape,
  type TapedBoundary,
  type TapeRecorder,
} from '../../core/fork/tape.ts';
import type { RunState } from '../../core/run/run-state.ts';

/** Characters of JSON that all tapes keep. */
const MAX_BYTES = 64_000_000;

/** Characters of JSON that one tape keeps in states. */
const MAX_STATES = 16_000_000;

const IDLE_MS = 60_000;

/** A tape that is asked for. */
export interface AskedTape {
  /** The link, and how far it had come. */
  readonly key: string;
  /** The moment whose state is wanted; null: none. */
  readonly moment: RunMoment | null;
  readonly withCalls: boolean;
}

/** Tapes of links. */
export interface KeptTapes {
  /**
   * The tape that is kept, or the one that `record` makes. Of its states it has the wanted one. What
   * `record` gives with `isWhole: false` is not kept.
   */
  get(asked: AskedTape, record: (tape: TapeRecorder) => Promise<RecordedTape>): Promise<Tape>;
}

/** What was recorded. */
export interface RecordedTape {
  readonly isWhole: boolean;
}

/** A tape with its states as JSON, by the places of their boundaries. */
interface KeptTape extends Tape {
  readonly states: ReadonlyMap<number, string>;
  readonly hasCalls: boolean;
  readonly size: number;
}

/** No tapes yet. */
export function createKeptTapes(maxStates: number = MAX_STATES): KeptTapes {
  const kept = new LRUCache<string, KeptTape>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ size }) => size,
    ttl: IDLE_MS,
    updateAgeOnGet: true,
    ttlAutopurge: true,
  });
  let queue: Promise<unknown> = Promise.resolve();
  const find = (asked: AskedTape): Tape | undefined => {
    const tape = kept.get(asked.key);
    return tape === undefined ? undefined : tapeFor(asked, tape);
  };
  return {
    get: (asked, record) => {
      const found = find(asked);
      if (found !== undefined) return Promise.resolve(found);
      const recorded = queue.then(async () => {
        const meanwhile = find(asked);
        if (meanwhile !== undefined) return meanwhile;
        const tape = recordStates(asked, maxStates);
        const { isWhole } = await record(tape.recorder);
        if (isWhole) kept.set(asked.key, tape.kept());
        return tape.recorder;
      });
      queue = recorded.catch(() => undefined);
      return recorded;
    },
  };
}

/** The tape with the wanted state; undefined if it does not have what is asked for. */
function tapeFor({ moment, withCalls }: AskedTape, tape: KeptTape): Tape | undefined {
  if (withCalls && !tape.hasCalls) return undefined;
  const { boundaries, calls, children, states } = tape;
  const found = moment === null ? undefined : boundaryOf(moment, boundaries);
  if (found === undefined) return { boundaries, calls, children };
  const text = states.get(boundaries.indexOf(found));
  if (text === undefined) return undefined;
  const state = JSON.parse(text) as RunState;
  return {
    boundaries: boundaries.map((one) => (one === found ? { ...one, state } : one)),
    calls,
    children,
  };
}

/** A recorder of the wanted state that keeps those around it as JSON. */
function recordStates(
  { moment, withCalls }: AskedTape,
  maxStates: number,
): { readonly recorder: TapeRecorder; readonly kept: () => KeptTape } {
  const recorder = createTape(moment === null ? [] : [moment], withCalls);
  const states = new Map<number, string>();
  let size = 0;
  const wantedPlace = (): number => {
    const found = moment === null ? undefined : boundaryOf(moment, recorder.boundaries);
    return found === undefined ? Infinity : recorder.boundaries.indexOf(found);
  };
  const keep = (state: RunState): void => {
    const place = recorder.boundaries.length - 1;
    const text = JSON.stringify(state);
    const wanted = wantedPlace();
    // Of what came before the wanted one, the oldest go first.
    for (const [before, { length }] of states) {
      if (size + text.length <= maxStates || before >= Math.min(wanted, place)) break;
      states.delete(before);
      size -= length;
    }
    if (size + text.length > maxStates && place !== wanted) return;
    states.set(place, text);
    size += text.length;
  };
  const { probe } = recorder;
  return {
    recorder: {
      ...recorder,
      probe: {
        ...probe,
        boundary: (state) => {
          probe.boundary(state);
          keep(state);
        },
      },
    },
    kept: () => {
      const { calls, children } = recorder;
      const boundaries = recorder.boundaries.map((one): TapedBoundary => ({ ...one, state: null }));
      const others = JSON.stringify([calls, children]).length + boundaries.length * BOUNDARY_BYTES;
      return { boundaries, calls, children, states, hasCalls: withCalls, size: size + others };
    },
  };
}

const BOUNDARY_BYTES = 100;
