/** Runs calls as a model would write them, without a model: for tests of tools and toolchains. */
import type { Reply } from '../core/contract/model.ts';
import { callTurn, readCalls, type ReadCallsOptions } from '../core/loop/text-calls.ts';
import type { Next } from '../core/loop/work.ts';
import type { CallResult } from '../core/modes/observation.ts';
import { noUsage } from '../core/model/usage.ts';
import type { MemoryRun } from './memory-run.ts';
import { startInMemory, type MemoryRunOptions } from './run-in-memory.ts';

/** The options of {@link callInMemory}. */
export interface CallInMemoryOptions
  extends Omit<MemoryRunOptions, 'next'>, Pick<ReadCallsOptions, 'toolchain'> {
  /** The calls, as the model of the agent writes them in its section. */
  readonly text: string;
}

/** Calls that run in this process. */
export interface MemoryCalls {
  /** The run that makes them: its events and statistics, and what waits for people. */
  readonly run: MemoryRun;
  /**
   * The results in the order of the calls. Rejects with what the model would read if they cannot be
   * read, and with the reason of the run if it ends before they do.
   */
  readonly results: Promise<readonly CallResult[]>;
}

/**
 * Runs calls of the agent's tools in this process: reads them with its toolchain, then checks, limits,
 * approves, retries and records them as a run does. No model is asked.
 *
 * @example
 * const { results } = callInMemory({ agent, text: 'tool: search\nargs:\n  query: tea' });
 * assert.equal((await results)[0]?.text, 'hits for tea');
 */
export function callInMemory({ text, toolchain, ...options }: CallInMemoryOptions): MemoryCalls {
  let made: readonly CallResult[] = [];
  const next: Next = async (work) => {
    const reply = writtenReply(text);
    const read = readCalls(work, reply, toolchain === undefined ? {} : { toolchain });
    const problem = read.feedback[0]?.content ?? null;
    made = await work.call(read.calls, callTurn(work, reply));
    work.leaveIfAsked();
    return { kind: 'end', value: { problem } };
  };
  const run = startInMemory({ task: 'Call.', ...options, next });
  const results = run.result.then(({ status, reason, message, value }) => {
    if (status !== 'success') throw new Error(message ?? reason);
    const { problem } = value as { readonly problem: string | null };
    if (problem !== null) throw new Error(problem);
    return made;
  });
  // A test may look at the run alone.
  results.catch(() => undefined);
  return { run, results };
}

/** The reply of a model that cost nothing. */
function writtenReply(text: string): Reply {
  return {
    parts: [{ type: 'text', text }],
    finishReason: 'stop',
    usage: noUsage,
    usageKnown: true,
    model: 'test',
  };
}
