/** What is wrong with the options of agents whose model writes programs. */
import { isPlainObject } from '../../core/base/json.ts';
import { shown } from '../../core/text/shown.ts';
import type { UsageProblem } from '../../core/base/usage-error.ts';
import { PROGRAM_LIMITS } from '../../core/program-text/program-limits.ts';
import { AGENT_DEFAULTS, type AgentOptions } from './agent-options.ts';
import { isProgramMode, modeName } from './mode-problems.ts';
import { unknownFields } from '../checks/unknown-fields.ts';

/** Problems of the options of mode `lisp` and of `programs: true`; those of other modes are told elsewhere. */
export function programProblems(options: AgentOptions): readonly UsageProblem[] {
  const { program, sizes, memoryLimitBytes } = options;
  if (!isProgramMode(options)) return choiceProblems(options, [['programs', [true, false]]]);
  const isLisp = modeName(options) === 'lisp';
  return [
    ...choiceProblems(options, [['memoryStrategy', ['strict', 'rollback']]]),
    ...rangeProblem('memoryLimitBytes', memoryLimitBytes, 1, Infinity),
    ...recordProblems('program', program, LIMIT_NAMES, highestOf),
    ...recordProblems('sizes', sizes, SIZE_NAMES, () => Infinity),
    ...(isLisp ? lispProblems(options) : []),
  ];
}

const LIMIT_NAMES = Object.keys(PROGRAM_LIMITS);
const SIZE_NAMES = Object.keys(AGENT_DEFAULTS.sizes);

function highestOf(name: string): number {
  return PROGRAM_LIMITS[name as keyof typeof PROGRAM_LIMITS].highest;
}

function lispProblems(options: AgentOptions): readonly UsageProblem[] {
  const { retryTurns, plan } = options;
  const isPlan =
    plan === undefined ||
    (Array.isArray(plan) && plan.every((step) => typeof step === 'string' && step.trim() !== ''));
  const message = `Expected \`plan\` to be a list of texts, got ${shown(plan)}. Write a text for each step.`;
  const problem: UsageProblem = { code: 'agent_option', message };
  return [
    ...choiceProblems(options, [
      ['completion', ['implicit', 'explicit']],
      ['transport', ['content', 'tool_call']],
      ['thinking', [true, false]],
      ['journal', [true, false]],
    ]),
    ...rangeProblem('retryTurns', retryTurns, 0, Infinity),
    ...(isPlan ? [] : [problem]),
  ];
}

/** One problem for each option of `rows` that is none of its choices. */
function choiceProblems(
  options: AgentOptions,
  rows: readonly (readonly [field: keyof AgentOptions, choices: readonly unknown[]])[],
): readonly UsageProblem[] {
  return rows.flatMap(([field, choices]) => {
    const value: unknown = options[field];
    if (value === undefined || choices.includes(value)) return [];
    const message = `Expected \`${field}\` to be one of ${choices.join(', ')}, got ${shown(value)}. Choose one of them.`;
    return [{ code: 'agent_option', message }];
  });
}

/** Whole numbers by name: known names, each in its range. */
function recordProblems(
  field: 'program' | 'sizes',
  value: unknown,
  names: readonly string[],
  highest: (name: string) => number,
): readonly UsageProblem[] {
  if (value === undefined) return [];
  if (!isPlainObject(value)) {
    const message = `Expected \`${field}\` to be numbers by name, got ${shown(value)}. Write it as { ${names[0] ?? ''}: 1000 }.`;
    return [{ code: 'agent_option', message }];
  }
  return [
    ...unknownFields(value, names, `\`${field}\``),
    ...names.flatMap((name) => rangeProblem(`${field}.${name}`, value[name], 1, highest(name))),
  ];
}

function rangeProblem(
  field: string,
  value: unknown,
  lowest: number,
  highest: number,
): readonly UsageProblem[] {
  if (value === undefined) return [];
  if (Number.isSafeInteger(value) && (value as number) >= lowest && (value as number) <= highest) {
    return [];
  }
  const range = highest === Infinity ? `from ${lowest} up` : `from ${lowest} to ${highest}`;
  return [
    { code: 'number', message: `Expected \`${field}\` ${range}, got ${shown(value)}. Change it.` },
  ];
}
