/**
 * Runs one program from its text: reads, checks, starts and advances it. This module is also bundled
 * like workflows, to run in a context like the sandbox's.
 */
import { advance, checkProgram, EMPTY_MEMORY, readProgram, startMachine } from '../../src/lisp.ts';

/** Limits under which every program of the suite ends. */
const WIDE = { fuel: 2_000_000, loopIterations: 1_000_000, collection: 1_000_000 };

/** Runs `source` to its value; `forced` keeps compiled code out. */
export function runOurs(source: string, forced: boolean): void {
  const read = readProgram(source);
  if (!read.ok) throw new Error(read.problem.message);
  const checked = checkProgram(read.program, { tools: [], memory: [], asking: false });
  if (checked.problems.length > 0) throw new Error(checked.problems[0]?.message);
  const machine = startMachine(read.program, {
    data: {},
    memory: EMPTY_MEMORY,
    limits: WIDE,
    tools: [],
    forced,
  });
  const end = advance(machine, { now: 0, budget: {}, results: [] });
  if (end.kind !== 'finished' || end.outcome.kind !== 'value')
    throw new Error('The program has no value.');
}
