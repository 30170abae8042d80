/**
 * Runs programs that need no host: what most tests of the language ask for.
 */
import {
  advance,
  checkProgram,
  EMPTY_MEMORY,
  explainProblems,
  fuelUsed,
  notesOf,
  printValue,
  readProgram,
  startMachine,
  type Limits,
  type Machine,
  type MachineInput,
} from '../../../src/lisp.ts';

/** What came of a program. */
export type Evaluated =
  | {
      readonly kind: 'value';
      readonly printed: string;
      readonly notes: readonly string[];
      readonly fuel: number;
    }
  | { readonly kind: 'problem'; readonly reason: string; readonly message: string };

/** Options of {@link evaluate}. */
export interface EvaluateOptions {
  readonly limits?: Partial<Limits>;
  readonly data?: MachineInput['data'];
  readonly forced?: boolean;
}

/** A checked machine for `source`, or the reason why there is none. */
function machineOf(
  source: string,
  options: EvaluateOptions = {},
): { readonly machine: Machine } | { readonly reason: string; readonly message: string } {
  const read = readProgram(source, options.limits);
  if (!read.ok) return { reason: read.problem.reason, message: read.problem.message };
  const checked = checkProgram(read.program, { tools: [], memory: [], asking: true });
  const [first] = checked.problems;
  if (first !== undefined) {
    return { reason: first.reason, message: explainProblems(source, checked.problems) };
  }
  const machine = startMachine(read.program, {
    data: options.data ?? {},
    memory: EMPTY_MEMORY,
    limits: options.limits ?? {},
    tools: [],
    forced: options.forced ?? false,
  });
  return { machine };
}

/** The printed value of a program without effects, or the reason why it has none. */
export function evaluate(source: string, options: EvaluateOptions = {}): Evaluated {
  const made = machineOf(source, options);
  if (!('machine' in made)) return { kind: 'problem', ...made };
  const end = advance(made.machine, { now: 1_700_000_000_000, budget: {}, results: [] });
  if (end.kind === 'blocked') return { kind: 'problem', reason: 'blocked', message: 'It waits.' };
  const { outcome } = end;
  if (outcome.kind === 'error') {
    return { kind: 'problem', reason: outcome.error.reason, message: outcome.error.message };
  }
  return {
    kind: 'value',
    printed: printValue(outcome.value, 'readable'),
    notes: notesOf(made.machine),
    fuel: fuelUsed(made.machine),
  };
}
