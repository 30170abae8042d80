/**
 * Turns the input of a run into what it works with, before any money is spent: a Step becomes the
 * context, inputs are converted to their types and checked, the template is filled in.
 */
import { defined } from '../base/defined.ts';
import { describeDefinitions } from '../../lisp.ts';
import { isPlainObject, type Json, type JsonObject } from '../base/json.ts';
import type { Task } from '../base/message.ts';
import { coerceInputs } from '../signature/coerce-inputs.ts';
import { expandTemplate } from '../template/expand-template.ts';
import { nameData } from '../template/name-data.ts';
import { parseTemplate } from '../template/parse-template.ts';
import type { TranscriptHead } from '../contract/transcript.ts';
import { withItems } from './fan-out-plan.ts';
import type { AgentInput } from '../contract/input.ts';
import { contextOfStep, isStep, textsIn } from '../contract/piping.ts';
import { startMemory } from './start-input.ts';
import { modeOf } from '../modes/modes.ts';
import type { AgentSpec } from '../contract/spec.ts';
import { scheduledContext, scheduledTask, type DatedStart } from './scheduled-input.ts';

/** What a run works with: its prepared input, as its head keeps it. */
export interface RunMaterial {
  /** Its text is the template, filled in. */
  readonly task: Task;
  readonly context?: JsonObject;
  readonly contextDescriptions?: { readonly [name: string]: string };
  /** Definitions that the run begins with, as a model reads them; absent if there are none. */
  readonly memory?: NonNullable<TranscriptHead['memory']>;
}

/** Why a run ends before its first iteration. */
export interface Refusal {
  readonly code: 'invalid_input' | 'template_error' | 'chained_failure';
  readonly message: string;
  readonly details?: Json;
}

/** The prepared input of a run. */
export interface PreparedInput {
  /** For a refused run, as much of it as there is. */
  readonly material: RunMaterial;
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
  readonly refusal?: Refusal;
}

/** The material of an input that needed no change, so its context is not a Step. */
export function givenMaterial({
  task,
  context,
}: Pick<AgentInput, 'task' | 'context'>): RunMaterial {
  return defined({ task, context: context as JsonObject | undefined });
}

/** The parts of an input that are prepared. */
export interface GivenInput extends Pick<
  AgentInput,
  'task' | 'context' | 'contextDescriptions' | 'history' | 'memory'
> {
  /** Of a run that a schedule started. */
  readonly scheduled?: DatedStart;
}

/** Prepares `input` for `spec`. `checkInputs` returns a line for each input that does not fit. */
export function prepareInput(
  spec: AgentSpec,
  { task: asked, context: given, contextDescriptions, history, memory, scheduled }: GivenInput,
  checkInputs: (inputs: JsonObject) => readonly string[],
): PreparedInput {
  const piped = isStep(given) ? contextOfStep(given) : undefined;
  if (piped?.kind === 'failed') {
    const { message, details } = piped;
    const refusal = { code: 'chained_failure', message, details } as const;
    return { material: { task: asked }, warnings: [], refusal };
  }
  // Anything but a Step is the context itself, which the types cannot express.
  const own = piped?.context ?? (given as JsonObject | undefined);
  const named = scheduled === undefined ? own : scheduledContext(own, scheduled);
  const written = scheduled === undefined ? undefined : scheduledTask(asked.text, named ?? {});
  if (written?.kind === 'problem') {
    const refusal = { code: 'template_error', message: written.message } as const;
    return { material: { task: asked }, warnings: [], refusal };
  }
  const task = written === undefined ? asked : { ...asked, text: written.text };
  const context = spec.fanOut === undefined ? named : withItems(named);
  const said = isPlainObject(contextDescriptions) ? textsIn(contextDescriptions) : {};
  const descriptions = { ...said, ...piped?.contextDescriptions };
  const params = spec.signature?.params ?? [];
  // A parameter may be the task itself.
  const takesTask = params.some(({ name }) => name === 'task') && context?.['task'] === undefined;
  const inputs = takesTask ? { ...context, task: task.text } : (context ?? {});
  const coerced =
    params.length === 0 ? { inputs, warnings: [], problems: [] } : coerceInputs(params, inputs);
  const hasContext = context !== undefined || params.length > 0;
  const material: RunMaterial = {
    task,
    ...defined({
      context: hasContext ? coerced.inputs : undefined,
      contextDescriptions: Object.keys(descriptions).length === 0 ? undefined : descriptions,
    }),
    ...definitionsOf(spec, memory),
  };
  const warnings = [
    ...unusedHistory(spec, history),
    ...coerced.warnings.map((message) => ({ code: 'input_coerced', message })),
  ];
  const refused =
    coerced.problems.length > 0 || params.length === 0
      ? coerced.problems
      : checkInputs(coerced.inputs);
  if (refused.length > 0) {
    const details = { problems: refused };
    const refusal = { code: 'invalid_input', message: refused.join('\n'), details } as const;
    return { material, warnings, refusal };
  }
  const filled = withTask(spec, material);
  return { ...filled, warnings: [...warnings, ...(filled.warnings ?? [])] };
}

/** Warns when the model never reads the earlier conversation. */
function unusedHistory(
  spec: AgentSpec,
  history: AgentInput['history'],
): readonly { readonly code: string; readonly message: string }[] {
  if (modeOf(spec).readsHistory || (history ?? []).length === 0) return [];
  const message = `Mode \`${spec.mode}\` does not show \`history\` to the model. Use mode \`chat\` or \`react\`, or give it as context.`;
  return [{ code: 'history_unused', message }];
}

/** The definitions of a memory in a few characters each. */
function definitionsOf(spec: AgentSpec, memory: AgentInput['memory']): Pick<RunMaterial, 'memory'> {
  const { program } = spec;
  if (!modeOf(spec).readsDataByName || program === undefined || memory === undefined) return {};
  const bounds = { total: program.sizes.resultChars, hides: true };
  const definitions = describeDefinitions(startMemory(memory), bounds);
  return definitions.length === 0 ? {} : { memory: definitions };
}

/** Fills in the template, whose text becomes the task. */
function withTask(
  spec: AgentSpec,
  material: RunMaterial,
): Pick<PreparedInput, 'material' | 'refusal'> & Partial<Pick<PreparedInput, 'warnings'>> {
  const { task, context } = material;
  const { prompt } = spec;
  if (prompt === undefined) return { material };
  const reading = parseTemplate(prompt);
  const data = { ...context, task: task.text };
  if (modeOf(spec).readsDataByName && reading.kind === 'template') {
    const { text, missing } = nameData(reading.nodes, data);
    const warnings = missing.map((tag) => ({
      code: 'missing_data',
      message: `Expected data for ${tag} of the prompt, got none. It stays as it is written.`,
    }));
    return { material: { ...material, task: { ...task, text } }, warnings };
  }
  const expansion = reading.kind === 'problem' ? reading : expandTemplate(reading.nodes, data);
  if (expansion.kind === 'problem') {
    return { material, refusal: { code: 'template_error', message: expansion.message } };
  }
  return { material: { ...material, task: { ...task, text: expansion.text } } };
}
