/** What is wrong with the options of an agent: all of it, so that one run of the program shows it. */
import { inputProblems } from '../../core/limits/compile-limits.ts';
import { isPlainObject } from '../../core/base/json.ts';
import { shown } from '../../core/text/shown.ts';
import type { UsageProblem } from '../../core/base/usage-error.ts';
import type { AgentOptions } from './agent-options.ts';
import { compactionProblems } from './compaction-problems.ts';
import { defineSignature } from '../schema/define-signature.ts';
import { hasKind } from '../checks/has-kind.ts';
import { modelProblems } from '../model/model-of.ts';
import { modeProblems } from './mode-problems.ts';
import { programProblems } from './program-problems.ts';
import { promptProblems } from './prompt-problems.ts';
import { sectionProblems } from './section-problems.ts';
import { toolSearchProblems } from './tool-search-problems.ts';
import { nameProblems } from '../tool/tool-problems.ts';
import { optionProblems } from './option-problems.ts';

/** All problems of an agent's options, without the name of the agent in front. */
export function agentProblems(options: AgentOptions): readonly UsageProblem[] {
  return [
    ...nameProblems(options.name, 'agent'),
    ...modeProblems(options),
    ...optionProblems(options),
    ...programProblems(options),
    ...promptProblems(options),
    ...modelProblems(options.model),
    ...textProblems(options),
    ...toolProblems(options),
    ...selfProblems(options),
    ...toolSearchProblems(options.toolSearch, toolNames(options)),
    ...middlewareProblems(options),
    ...validatorProblems(options),
    ...sectionProblems(options),
    ...inputProblems(options.limits),
    ...numberProblems(options),
    ...choiceProblems(options),
    ...zoneProblems(options.timeZone),
    ...compactionProblems(options.compaction),
  ];
}

function textProblems(options: AgentOptions): readonly UsageProblem[] {
  const fields = ['instructions', 'rules'] as const;
  return fields.flatMap((field) => {
    const value: unknown = options[field];
    if (value === undefined || typeof value === 'string' || typeof value === 'function') return [];
    const message = `Expected \`${field}\` to be a text or a function, got ${shown(value)}. Change it.`;
    return [{ code: 'agent_text', message }];
  });
}

function toolProblems({ tools }: AgentOptions): readonly UsageProblem[] {
  if (tools === undefined) return [];
  if (!Array.isArray(tools)) return [listProblem('tools', 'defineTool', tools)];
  const names = new Map<string, string>();
  return tools.flatMap((tool, index) => {
    if (!hasKind(tool, 'tool')) return [partProblem('tools', 'defineTool', index, tool)];
    const { name } = tool.spec;
    const folded = name.replaceAll('-', '_');
    const first = names.get(folded);
    if (first === undefined) {
      names.set(folded, name);
      return [];
    }
    const message =
      first === name
        ? `Expected tool names to be unique, got two tools named \`${name}\`. Rename one.`
        : `Expected tool names to be unique when \`-\` is read as \`_\`, got \`${first}\` and \`${name}\`. Rename one.`;
    return [{ code: 'duplicate_tool', message }];
  });
}

/** An agent that calls itself does so with its own parameters. */
function selfProblems({ tools, signature }: AgentOptions): readonly UsageProblem[] {
  if (!Array.isArray(tools)) return [];
  const calls = tools.some(
    (tool: unknown) => isPlainObject(tool) && hasKind(tool, 'tool') && isSelfTool(tool),
  );
  if (!calls) return [];
  const defined = signature === undefined ? undefined : defineSignature(signature);
  if (defined?.kind === 'problems') return [];
  if ((defined?.signature.params.length ?? 0) > 0) return [];
  const message = 'Expected a `signature` with parameters for `selfTool()`, got none. Add one.';
  return [{ code: 'self_tool', message }];
}

function isSelfTool({ child }: { readonly [field: string]: unknown }): boolean {
  return isPlainObject(child) && child['agent'] === null;
}

function toolNames({ tools }: AgentOptions): readonly string[] {
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((tool) => (hasKind(tool, 'tool') ? [tool.spec.name] : []));
}

function middlewareProblems(options: AgentOptions): readonly UsageProblem[] {
  const fields = ['modelMiddleware', 'toolMiddleware'] as const;
  return fields.flatMap((field) => {
    const value: unknown = options[field];
    const isFine =
      value === undefined ||
      (Array.isArray(value) && value.every((layer) => typeof layer === 'function'));
    if (isFine) return [];
    const message = `Expected \`${field}\` to be a list of functions, got ${shown(value)}. Write it as a list.`;
    return [{ code: 'middleware', message }];
  });
}

function validatorProblems(options: AgentOptions): readonly UsageProblem[] {
  const problems: UsageProblem[] = [];
  const names = new Set<string>();
  for (const list of [options.answer?.validators ?? [], options.validators ?? []]) {
    if (!Array.isArray(list)) {
      problems.push(listProblem('validators', 'defineValidator', list));
      continue;
    }
    for (const [index, validator] of list.entries()) {
      if (!hasKind(validator, 'validator')) {
        problems.push(partProblem('validators', 'defineValidator', index, validator));
        continue;
      }
      const { name } = validator;
      if (names.has(name)) {
        const message = `Expected validator names to be unique, got two validators named \`${name}\`. Rename one.`;
        problems.push({ code: 'duplicate_validator', message });
      }
      names.add(name);
    }
  }
  return problems;
}

function listProblem(field: string, factory: string, got: unknown): UsageProblem {
  const message = `Expected \`${field}\` to be a list of what \`${factory}\` returns, got ${shown(got)}. Write it as a list.`;
  return { code: 'definition', message };
}

function partProblem(field: string, factory: string, index: number, got: unknown): UsageProblem {
  const message = `Expected \`${field}[${index}]\` to be what \`${factory}\` returns, got ${shown(got)}. Define it with \`${factory}\`.`;
  return { code: 'definition', message };
}

function numberProblems(options: AgentOptions): readonly UsageProblem[] {
  const { floatPrecision } = options;
  const fields = ['maxTurns', 'maxCallsPerTurn'] as const;
  const problems = fields.flatMap((field): readonly UsageProblem[] => {
    const value = options[field];
    if (value === undefined || (Number.isSafeInteger(value) && value >= 1)) return [];
    const message = `Expected \`${field}\` from 1 up, got ${shown(value)}. Change it.`;
    return [{ code: 'number', message }];
  });
  const fits =
    floatPrecision === undefined ||
    (Number.isInteger(floatPrecision) && floatPrecision >= 0 && floatPrecision <= MAX_DIGITS);
  if (fits) return problems;
  const message = `Expected \`floatPrecision\` from 0 to ${MAX_DIGITS}, got ${shown(floatPrecision)}. Change it.`;
  return [...problems, { code: 'number', message }];
}

/** Digits behind the point that a double may have and still be told apart. */
const MAX_DIGITS = 15;

function choiceProblems(options: AgentOptions): readonly UsageProblem[] {
  const rows: readonly [field: keyof AgentOptions, choices: readonly unknown[]][] = [
    ['precedence', ['action', 'answer']],
    ['onUnparsed', ['retry', 'answer', 'fail']],
    ['parallel', [true, false]],
    ['askUser', [true, false]],
    ['llmQuery', [true, false]],
  ];
  return rows.flatMap(([field, choices]) => {
    const value: unknown = options[field];
    if (value === undefined || choices.includes(value)) return [];
    const message = `Expected \`${field}\` to be one of ${choices.join(', ')}, got ${shown(value)}. Choose one of them.`;
    return [{ code: 'agent_option', message }];
  });
}

function zoneProblems(timeZone: unknown): readonly UsageProblem[] {
  if (timeZone === undefined) return [];
  try {
    if (typeof timeZone === 'string') {
      Intl.DateTimeFormat('en', { timeZone });
      return [];
    }
  } catch {
    // The engine knows no such zone: reported below, in own words.
  }
  const message = `Expected \`timeZone\` to be an IANA name such as Europe/Berlin, got ${shown(timeZone)}. Change it.`;
  return [{ code: 'time_zone', message }];
}
