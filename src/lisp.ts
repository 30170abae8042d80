/**
 * `everloop/lisp`: the language on its own. It imports no other code and has no access to the
 * outside: read a program, check it, start a machine, and advance it with the results of its
 * requests until it ends.
 *
 * @example
 * const read = readProgram('(+ 1 2)');
 * if (read.ok) {
 *   const machine = startMachine(read.program, { data: {}, memory: EMPTY_MEMORY, limits: {}, tools: [] });
 *   const end = advance(machine, { now: 0, budget: {}, results: [] });
 * }
 */
export { topForms } from './lisp/analyzer/top-forms.ts';
export type { TopForm } from './lisp/analyzer/top-forms.ts';
export { readProgram, checkProgram, literalProblems, codeId } from './lisp/analyzer/program.ts';
export type { Program, Checked, Finding } from './lisp/analyzer/program.ts';
export type { World, LiteralArgument } from './lisp/analyzer/analysis.ts';
export { startMachine } from './lisp/machine/start.ts';
export type { MachineInput } from './lisp/machine/start.ts';
export {
  advance,
  advanceSlice,
  cancelMachine,
  overrunMachine,
  notesOf,
  fuelUsed,
} from './lisp/machine/machine.ts';
export type { Tick, Advance, Sliced } from './lisp/machine/machine.ts';
export { snapshot } from './lisp/machine/save.ts';
export { restore } from './lisp/machine/load.ts';
export type { MachineSnapshot } from './lisp/machine/save.ts';
export { programStatus } from './lisp/machine/status.ts';
export type { ProgramStatus, FormStatus, EffectStatus } from './lisp/machine/status.ts';
export {
  changedDefinitions,
  describeDefinitions,
  memoryWithJournal,
} from './lisp/machine/changes.ts';
export type { ChangedDefinition } from './lisp/machine/changes.ts';
export type {
  Machine,
  EffectRequest,
  EffectResult,
  Outcome,
  FormState,
} from './lisp/machine/state.ts';
export type { ToolFace } from './lisp/value/context.ts';
export { languageCard, referenceTables } from './lisp/builtins/reference.ts';
export { EMPTY_MEMORY } from './lisp/machine/coded.ts';
export type { Coded, ProgramMemory } from './lisp/machine/coded.ts';
export { printValue } from './lisp/value/print.ts';
export type { Bounds, PrintStyle } from './lisp/value/print.ts';
export { toJson } from './lisp/json/to-json.ts';
export type { ToJson, ToJsonOptions } from './lisp/json/to-json.ts';
export { fromJson } from './lisp/json/to-json.ts';
export { explainProblems, explainProblem, explainError } from './lisp/base/problem.ts';
export type { Problem, LispError, Reason } from './lisp/base/problem.ts';
export { DEFAULT_LIMITS, LIMIT_RANGES, limitsFrom } from './lisp/base/limits.ts';
export type { Limits } from './lisp/base/limits.ts';
export type { Span } from './lisp/base/source.ts';
export type { Value } from './lisp/value/value.ts';
