/** What each mode asks of a definition, and what it refuses. */
import { hiddenFields } from '../../core/contract/signature.ts';
import { shown } from '../../core/text/shown.ts';
import type { UsageProblem } from '../../core/base/usage-error.ts';
import { AVAILABLE_MODES, type AgentOptions } from './agent-options.ts';
import { defineSignature, type DefinedSignature } from '../schema/define-signature.ts';

/** The mode of an agent by its name of today; the default where none is given. */
export function modeName({ mode }: { readonly mode?: unknown }): string {
  if (mode === undefined) return 'react';
  if (typeof mode !== 'string') return shown(mode);
  return mode === 'ptc_lisp' ? 'lisp' : mode;
}

/** Whether the model of such an agent writes programs. */
export function isProgramMode(options: {
  readonly mode?: unknown;
  readonly programs?: unknown;
}): boolean {
  return modeName(options) === 'lisp' || options.programs === true;
}

/** Whether the model of such an agent only gives data: no tools, no conversation. */
export function isDataMode(options: { readonly mode?: unknown }): boolean {
  return ['json', 'text'].includes(modeName(options));
}

/** All that the mode has against the other options. */
export function modeProblems(options: AgentOptions): readonly UsageProblem[] {
  const mode = modeName(options);
  return [
    ...availability(options, mode),
    ...(isDataMode(options) ? dataProblems(options, mode) : []),
    ...(mode === 'text' ? textProblems(options) : []),
    ...signatureProblems(options, mode),
  ];
}

function availability(options: AgentOptions, mode: string): readonly UsageProblem[] {
  if (AVAILABLE_MODES.some((available) => available === mode)) return [];
  const got: unknown = options.mode;
  const name = typeof got === 'string' ? `\`${got}\`` : shown(got);
  const message = `Expected \`mode\` to be one of ${AVAILABLE_MODES.join(', ')}, got ${name}. Choose one of them.`;
  return [{ code: 'unknown_mode', message }];
}

/** `json` and `text`: one question, without tools and without a conversation. */
function dataProblems(options: AgentOptions, mode: string): readonly UsageProblem[] {
  const { tools, compaction } = options;
  const { askUser } = options as { readonly askUser?: unknown };
  const problems: UsageProblem[] = [];
  if (Array.isArray(tools) && tools.length > 0) {
    const message = `Expected no \`tools\` in mode \`${mode}\`, got ${tools.length} (${namesIn(tools)}). Use mode \`lisp\`, \`react\` or \`chat\`, or remove them.`;
    problems.push({ code: 'mode_tools', message });
  }
  if (compaction !== undefined && compaction !== false) {
    const message = `Expected no \`compaction\` in mode \`${mode}\`, got one. Remove it, there is no conversation to compact.`;
    problems.push({ code: 'mode_compaction', message });
  }
  if (askUser !== undefined && askUser !== false) {
    const message = `Expected no \`askUser\` in mode \`${mode}\`, got ${shown(askUser)}. Ask before or after it in a pipeline.`;
    problems.push({ code: 'mode_asking', message });
  }
  return problems;
}

/** `text`: one call, and whatever comes is the value. */
function textProblems({ maxTurns, validators }: AgentOptions): readonly UsageProblem[] {
  const problems: UsageProblem[] = [];
  const advice = 'Use mode `json` for answers that are checked.';
  if (maxTurns !== undefined && maxTurns > 1) {
    const message = `Expected \`maxTurns\` 1 in mode \`text\`, got ${shown(maxTurns)}. ${advice}`;
    problems.push({ code: 'mode_turns', message });
  }
  if (Array.isArray(validators) && validators.length > 0) {
    const message = `Expected no \`validators\` in mode \`text\`, got ${validators.length} (${namesIn(validators)}). ${advice}`;
    problems.push({ code: 'mode_validators', message });
  }
  return problems;
}

function signatureProblems(options: AgentOptions, mode: string): readonly UsageProblem[] {
  const { signature: input } = options;
  const needed = 'Expected a `signature` with an output in mode `json`, got';
  const advice = 'Add one, for example `() -> {sentiment :string}`.';
  if (input === undefined) {
    const message = `${needed} none. ${advice}`;
    return mode === 'json' ? [{ code: 'mode_signature', message }] : [];
  }
  // What is ignored need not be right.
  if (mode === 'text') return [];
  const defined = defineSignature(input);
  if (defined.kind === 'problems') return defined.problems;
  const { signature } = defined;
  const problems: UsageProblem[] = [];
  if (mode === 'json' && signature.output === null) {
    problems.push({ code: 'mode_signature', message: `${needed} one without. ${advice}` });
  }
  if (mode === 'react' && signature.output !== null && options.answer !== undefined) {
    const message = 'Expected `answer` or an output in `signature`, got both. Remove one of them.';
    problems.push({ code: 'mode_signature', message });
  }
  const hidden = mode === 'lisp' ? [] : hiddenIn(signature);
  if (hidden.length > 0) {
    const names = hidden.map((name) => `\`${name}\``).join(', ');
    const message = `Expected no hidden fields in mode \`${mode}\`, got ${names}. Use mode \`lisp\` or rename them.`;
    problems.push({ code: 'hidden_field', message });
  }
  return problems;
}

function hiddenIn({ params, output }: DefinedSignature): readonly string[] {
  const result = output === null ? [] : [{ name: 'output', type: output.type }];
  return hiddenFields([...params, ...result]);
}

/** The names of what factories made; what else stands in the list is told of elsewhere. */
function namesIn(list: readonly unknown[]): string {
  return list
    .map((item) => {
      const { name, spec } = Object(item) as { name?: unknown; spec?: { name?: unknown } };
      const own = spec?.name ?? name;
      return typeof own === 'string' ? own : shown(item);
    })
    .join(', ');
}
