/** The reads that ran beside the replies of an iteration, until their calls take them. */
import { canonicalJson, type Json } from '../base/json.ts';
import type { ToolCall } from '../base/message.ts';
import type { BesideRead } from '../contract/outcome.ts';
import { callIdAt } from './call-reading.ts';

/** What ran beside the replies of one iteration. */
export interface HeldReads {
  /** Whether all is taken. */
  isEmpty(): boolean;
  /** Keeps what ran beside the newest reply. */
  hold(reads: readonly BesideRead[]): void;
  /** Counts what ran beside a reply that was thrown away. */
  lose(reads: readonly BesideRead[]): void;
  /** The read that is this call, and has not been taken. */
  find(call: ToolCall): BesideRead | undefined;
  /** As `find`; the call has it from now on. */
  take(call: ToolCall): BesideRead | undefined;
  /** Counts what no call has taken. */
  loseRest(): void;
}

/** Nothing ran yet. `record` counts a read that is lost. */
export function createHeldReads(
  iteration: number,
  record: (call: ToolCall, read: BesideRead) => void = () => undefined,
): HeldReads {
  let held: readonly BesideRead[] = [];
  const callOf = ({ index, tool, args }: BesideRead): ToolCall => ({
    callId: callIdAt(iteration, index),
    tool,
    args,
  });
  const lose = (reads: readonly BesideRead[]): void => {
    for (const read of reads) record(callOf(read), read);
  };
  const find = (call: ToolCall): BesideRead | undefined =>
    held.find((read) => isSame(callOf(read), call));
  return {
    isEmpty: () => held.length === 0,
    hold: (reads) => {
      held = reads;
    },
    lose,
    find,
    take: (call) => {
      const found = find(call);
      held = held.filter((read) => read !== found);
      return found;
    },
    loseRest: () => {
      const rest = held;
      held = [];
      lose(rest);
    },
  };
}

function isSame(left: ToolCall, right: ToolCall): boolean {
  if (left.callId !== right.callId || left.tool !== right.tool) return false;
  return canonicalJson(left.args as Json) === canonicalJson(right.args as Json);
}
