/** What each mode requires of the other options, and what it refuses. */
import type { AgentDefinition } from '../definition/definitions.ts';
import { isAiTool } from '../tool/hosted-tool.ts';
import type { UsageProblem } from '../../core/base/usage-error.ts';
import { shown } from '../../core/text/shown.ts';
import { expected, shownName, type Fields } from '../checks/fields.ts';
import { defineSignature, hiddenFieldProblems } from '../schema/define-signature.ts';
import { AGENT_DEFAULTS, AVAILABLE_MODES, type ListedOptions } from './agent-options.ts';

/** The mode of an agent by its current name; the default where none is given. */
export function modeName({ mode }: { readonly mode?: unknown }): string {
  if (mode === undefined) return AGENT_DEFAULTS.mode;
  if (typeof mode !== 'string') return shown(mode);
  return mode === 'ptc_lisp' ? 'lisp' : mode;
}

/** A mode by its name, the options of an agent, or what `defineAgent` made of them. */
export type ModeSource =
  string | { readonly mode?: unknown; readonly programs?: unknown } | Pick<AgentDefinition, 'spec'>;

/** Whether the model writes programs: mode `lisp` or `programs: true`. */
export function isProgramMode(source: ModeSource): boolean {
  if (typeof source === 'string') return modeName({ mode: source }) === 'lisp';
  if (!('spec' in source)) return modeName(source) === 'lisp' || source.programs === true;
  return source.spec.mode === 'lisp' || source.spec.program !== undefined;
}

/** Whether the model only gives data, without tools and conversation: modes `json` and `text`. */
export function isDataMode(source: ModeSource): boolean {
  if (typeof source === 'string') return isDataMode({ mode: source });
  return ['json', 'text'].includes('spec' in source ? source.spec.mode : modeName(source));
}

/** All problems of the mode and of what it requires or refuses. */
export function modeProblems(options: ListedOptions): readonly UsageProblem[] {
  const mode = modeName(options);
  return [
    ...availability(options, mode),
    ...(isDataMode(options) ? dataProblems(options as unknown as Fields, mode) : []),
    ...(mode === 'text' ? textProblems(options) : []),
    ...signatureProblems(options, mode),
  ];
}

function availability(options: ListedOptions, mode: string): readonly UsageProblem[] {
  if (AVAILABLE_MODES.some((available) => available === mode)) return [];
  const what = `\`mode\` to be one of ${AVAILABLE_MODES.join(', ')}`;
  return [expected('unknown_mode', what, shownName(options.mode), 'Choose one of them.')];
}

/** `json` and `text` ask one question, without tools and without a conversation. */
function dataProblems(
  { tools, compaction, askUser }: Fields,
  mode: string,
): readonly UsageProblem[] {
  const problems: UsageProblem[] = [];
  // What providers run needs no conversation.
  const own = Array.isArray(tools) ? tools.filter((tool) => !isAiTool(tool)) : [];
  if (own.length > 0) {
    const advice = 'Use mode `lisp`, `react` or `chat`, or remove them.';
    problems.push(expected('mode_tools', `no \`tools\` in mode \`${mode}\``, listed(own), advice));
  }
  if (compaction !== undefined && compaction !== false) {
    const what = `no \`compaction\` in mode \`${mode}\``;
    const advice = 'Remove it, there is no conversation to compact.';
    problems.push(expected('mode_compaction', what, 'one', advice));
  }
  if (askUser !== undefined && askUser !== false) {
    const what = `no \`askUser\` in mode \`${mode}\``;
    const advice = 'Ask before or after it in a pipeline.';
    problems.push(expected('mode_asking', what, shown(askUser), advice));
  }
  return problems;
}

/** `text` makes one call and takes any reply. */
function textProblems({ maxTurns, validators }: ListedOptions): readonly UsageProblem[] {
  const problems: UsageProblem[] = [];
  const advice = 'Use mode `json` for answers that are checked.';
  if (maxTurns !== undefined && maxTurns > 1) {
    problems.push(expected('mode_turns', '`maxTurns` 1 in mode `text`', shown(maxTurns), advice));
  }
  if (Array.isArray(validators) && validators.length > 0) {
    const what = 'no `validators` in mode `text`';
    problems.push(expected('mode_validators', what, listed(validators), advice));
  }
  return problems;
}

function signatureProblems(options: ListedOptions, mode: string): readonly UsageProblem[] {
  const { signature: input } = options;
  const noOutput = (got: string): UsageProblem =>
    expected(
      'mode_signature',
      'a `signature` with an output in mode `json`',
      got,
      'Add one, for example `() -> {sentiment :string}`.',
    );
  if (input === undefined) return mode === 'json' ? [noOutput('none')] : [];
  // Mode `text` ignores the signature.
  if (mode === 'text') return [];
  const defined = defineSignature(input);
  if (defined.kind === 'problems') return defined.problems;
  const { signature } = defined;
  const problems: UsageProblem[] = [];
  if (mode === 'json' && signature.output === null) problems.push(noOutput('one without'));
  if (mode === 'react' && signature.output !== null && options.answer !== undefined) {
    const what = '`answer` or an output in `signature`';
    problems.push(expected('mode_signature', what, 'both', 'Remove one of them.'));
  }
  if (mode === 'lisp') return problems;
  const advice = 'Use mode `lisp` or rename them.';
  return [...problems, ...hiddenFieldProblems(signature, `in mode \`${mode}\``, advice)];
}

/** How many items `list` has, and the names of those that factories made. */
function listed(list: readonly unknown[]): string {
  const names = list.map((item) => {
    const { name, spec } = Object(item) as { name?: unknown; spec?: { name?: unknown } };
    const own = spec?.name ?? name;
    return typeof own === 'string' ? own : shown(item);
  });
  return `${list.length} (${names.join(', ')})`;
}
