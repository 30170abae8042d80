/**
 * Runs one program from its text: read, check, start, advance. It is also the entry that is bundled
 * like a workflow and run inside the sandbox's kind of context.
 */
import { advance, checkProgram, EMPTY_MEMORY, readProgram, startMachine } from '../../src/lisp.ts';

/** Limits under which every program of the suite ends. */
const WIDE = { fuel: 2_000_000, loopIterations: 1_000_000, collection: 1_000_000 };

/** Runs `source` to its value; `forced` prevents compiled code. */
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
