/** What is wrong with the options of an agent: all of it, so that one run of the program shows it. */
import { inputProblems } from '../core/limits/compile-limits.ts';
import { shown } from '../core/text/shown.ts';
import type { UsageProblem } from '../core/usage-error.ts';
import {
  COMMON_OPTIONS,
  LATER_OPTIONS,
  LISP_OPTIONS,
  OLD_NAMES,
  REACT_OPTIONS,
  type AgentOptions,
} from './agent-options.ts';
import { compactionProblems } from './compaction-problems.ts';
import { sectionProblems } from './section-problems.ts';
import { toolSearchProblems } from './tool-search-problems.ts';
import { nameProblems } from './tool-problems.ts';
import { unknownFields } from './unknown-fields.ts';

const MODES: readonly unknown[] = ['react', 'chat', 'json', 'text', 'lisp', 'ptc_lisp'];

/** All problems of an agent's options, without the name of the agent in front. */
export function agentProblems(options: AgentOptions): readonly UsageProblem[] {
  return [
    ...nameProblems(options.name, 'agent'),
    ...modeProblems(options),
    ...optionProblems(options),
    ...modelProblems(options.model),
    ...textProblems(options),
    ...promptProblems(options.prompt),
    ...toolProblems(options),
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

function modeProblems({ mode }: AgentOptions): readonly UsageProblem[] {
  if (mode === undefined || mode === 'react' || mode === 'chat') return [];
  const got: unknown = mode;
  const name = typeof got === 'string' ? `\`${got}\`` : shown(got);
  if (MODES.includes(got)) {
    const message = `Expected \`mode\` to be react or chat, got ${name}, which is not available yet. Choose one of them.`;
    return [{ code: 'mode_not_available', message }];
  }
  const message = `Expected \`mode\` to be one of react, chat, json, text, lisp, got ${name}. Choose one of them.`;
  return [{ code: 'unknown_mode', message }];
}

function optionProblems(options: AgentOptions): readonly UsageProblem[] {
  const mode = options.mode ?? 'react';
  const foreign = [
    ...(mode === 'chat' ? REACT_OPTIONS.map((name) => [name, 'react'] as const) : []),
    ...LISP_OPTIONS.map((name) => [name, 'lisp'] as const),
  ];
  const values = options as unknown as { readonly [name: string]: unknown };
  const ofOtherModes = foreign.flatMap(([name, owner]): readonly UsageProblem[] => {
    const value = values[name];
    if (value === undefined) return [];
    const message = `Expected no \`${name}\` in mode \`${mode}\`, got ${shownOption(value)}. Remove it, it belongs to mode \`${owner}\`.`;
    return [{ code: 'mode_option', message }];
  });
  const old = Object.keys(values).flatMap((name): readonly UsageProblem[] => {
    const renamed = Object.hasOwn(OLD_NAMES, name) ? OLD_NAMES[name] : undefined;
    if (renamed === undefined) return [];
    const message = `Expected \`${renamed}\`, got its old name \`${name}\`. Rename it.`;
    return [{ code: 'old_name', message }];
  });
  const known = [...COMMON_OPTIONS, ...REACT_OPTIONS];
  const handled = [...LISP_OPTIONS, ...Object.keys(OLD_NAMES)];
  const rest = Object.fromEntries(
    Object.entries(values).filter(([name]) => !handled.includes(name)),
  );
  return [...old, ...ofOtherModes, ...unknownFields(rest, known, 'an agent', LATER_OPTIONS)];
}

/** What factories return is shown by its kind: users know it as a call, not as a record. */
function shownOption(value: unknown): string {
  if (Array.isArray(value) && value.length > 0 && value.every((it) => hasKind(it, 'section'))) {
    return value.length === 1 ? 'a section' : `${value.length} sections`;
  }
  if (typeof value !== 'object' || value === null) return shown(value);
  const { type, kind } = value as { readonly type?: unknown; readonly kind?: unknown };
  if (type === 'format' || type === 'toolchain') return `a ${type}`;
  if (kind === 'section') return 'a section';
  return kind === 'answer' ? 'an answer' : shown(value);
}

function modelProblems(model: unknown): readonly UsageProblem[] {
  const isObject = typeof model === 'object' && model !== null;
  if (typeof model === 'function' || (typeof model === 'string' && model !== '')) return [];
  if (isObject && ('specificationVersion' in model || 'model' in model)) return [];
  const message = `Expected \`model\` to be the id of a model entry, an entry, a model of the AI SDK or a function, got ${shown(model)}. Choose a model.`;
  return [{ code: 'agent_model', message }];
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

function promptProblems(prompt: unknown): readonly UsageProblem[] {
  if (prompt === undefined || typeof prompt === 'function') return [];
  const message = `Expected \`prompt\` to be a function that returns messages, got ${shown(prompt)}. Write \`instructions\` for a text.`;
  return [{ code: 'agent_prompt', message }];
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

/** Whether a factory made `value`; the types say so, programs without them may not know. */
function hasKind(value: object | null, kind: string): boolean {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === kind;
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
  const fields = ['maxTurns', 'maxCallsPerTurn'] as const;
  return fields.flatMap((field) => {
    const value = options[field];
    if (value === undefined || (Number.isSafeInteger(value) && value >= 1)) return [];
    const message = `Expected \`${field}\` from 1 up, got ${shown(value)}. Change it.`;
    return [{ code: 'number', message }];
  });
}

function choiceProblems(options: AgentOptions): readonly UsageProblem[] {
  const rows: readonly [field: keyof AgentOptions, choices: readonly unknown[]][] = [
    ['precedence', ['action', 'answer']],
    ['onUnparsed', ['retry', 'answer', 'fail']],
    ['parallel', [true, false]],
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
