/**
 * What this worker has seen of its tools that only read: how long their newest calls took, and how
 * large the results were. It decides which of them run as local activities, or beside a reply.
 *
 * I1  The table is bounded: the tools that were called last, the newest calls of each.
 * I2  Each number is of a call that ran on this worker, wherever its run is replayed.
 */
import { LOCAL_TRY_BYTES } from '../core/attempt/attempts.ts';

/** Calls after which a worker knows a tool. */
export const CALLS_TO_KNOW = 20;

/** A tool is quick if 95 of 100 calls take less than this, in ms. */
export const QUICK_MS = 500;

/** The results of a quick tool have less than this, in bytes of JSON. */
const QUICK_BYTES: number = LOCAL_TRY_BYTES;

/** Calls of a tool that are remembered. */
const NEWEST_CALLS = 100;

/** Tools that are remembered. */
const MOST_TOOLS = 1_000;

/** One call of a tool. */
export interface CallFigures {
  readonly ms: number;
  /** Bytes of JSON of its result. */
  readonly bytes: number;
}

/** The figures of the tools of a worker. */
export interface ToolFigures {
  readonly add: (agent: string, tool: string, call: CallFigures) => void;
  /** Whether the tool is known, and its calls are short and their results small. */
  readonly isQuick: (agent: string, tool: string) => boolean;
  /** What 95 of 100 of the newest calls keep: their time, and the size of their results. */
  readonly usual: (agent: string, tool: string) => CallFigures;
}

/** No figures yet. */
export function createToolFigures(): ToolFigures {
  // In the order in which they were called last.
  const known = new Map<string, readonly CallFigures[]>();
  const callsOf = (agent: string, tool: string): readonly CallFigures[] =>
    known.get(keyOf(agent, tool)) ?? [];
  return {
    add: (agent, tool, call) => {
      const key = keyOf(agent, tool);
      const calls = [...callsOf(agent, tool), call].slice(-NEWEST_CALLS);
      known.delete(key);
      known.set(key, calls);
      const [oldest] = known.keys();
      if (known.size > MOST_TOOLS && oldest !== undefined) known.delete(oldest);
    },
    isQuick: (agent, tool) => {
      const calls = callsOf(agent, tool);
      if (calls.length < CALLS_TO_KNOW) return false;
      // Asked for each tool of an agent at each model call, so nothing is sorted.
      const quick = calls.filter(({ ms }) => ms < QUICK_MS).length;
      return quick >= usualRank(calls) && calls.every(({ bytes }) => bytes < QUICK_BYTES);
    },
    usual: (agent, tool) => {
      const calls = callsOf(agent, tool);
      return { ms: usualOf(calls, 'ms'), bytes: usualOf(calls, 'bytes') };
    },
  };
}

function keyOf(agent: string, tool: string): string {
  return `${agent} ${tool}`;
}

/** The 95th percentile, by nearest rank; 0: no call is known. */
function usualOf(calls: readonly CallFigures[], figure: keyof CallFigures): number {
  const sorted = calls.map((call) => call[figure]).toSorted((left, right) => left - right);
  return sorted[usualRank(calls) - 1] ?? 0;
}

/** How many calls are 95 of 100, rounded up. */
function usualRank(calls: readonly CallFigures[]): number {
  return Math.ceil(calls.length * 0.95);
}
