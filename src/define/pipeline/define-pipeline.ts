/**
 * Pipelines: agents one after another, each with the result of the one before. A pipeline is an
 * agent whose loop runs stages instead of asking a model, so it is started, served and called like
 * any other.
 */
import type { OnEventInput } from '../../core/contract/callback.ts';
import type { ContextOf, ValueOf } from '../../core/start/agent-types.ts';
import type { LimitsInput } from '../../core/contract/input.ts';
import type { StageSpec } from '../../core/contract/spec.ts';
import { printSignature } from '../../core/signature/print-signature.ts';
import { usageErrorOf, type UsageProblem } from '../../core/base/usage-error.ts';
import { agentName, agentWithoutModel, outputOf } from './agent-without-model.ts';
import type { AgentDefinition } from '../definition/definitions.ts';
import { hasKind, isText, oneOf, repeated, TEXT } from '../checks/kinds.ts';
import { isHumanStep, type HumanStep } from './human-step.ts';
import { isPlainObject, type Json, type JsonObject } from '../../core/base/json.ts';
import { inputProblems } from '../../core/limits/limits-input.ts';
import { callbackProblems } from '../../core/start/callback-specs.ts';
import { shown } from '../../core/text/shown.ts';
import { expected, fieldProblems, type FieldRules } from '../checks/fields.ts';
import { nameProblems } from '../checks/names.ts';

/**
 * An agent as a stage: its definition, which the worker then serves, or the name of another agent.
 */
export type StageAgent = AgentDefinition | string;

/** One stage: an agent, agents in parallel on the same context, or a question to a person. */
export type PipelineStage = StageAgent | readonly StageAgent[] | HumanStep;

/** The context of a pipeline: that of its first stage, if that is one agent. */
type PipelineContext<Stages> = Stages extends readonly [infer First, ...unknown[]]
  ? ContextOf<First>
  : JsonObject;

/** The value of a pipeline: that of its last stage, if that is one agent. */
type PipelineValue<Stages> = Stages extends readonly [...unknown[], infer Last]
  ? ValueOf<Last>
  : Json;

/** The options of {@link pipeline}. */
export interface PipelineOptions {
  /** `carry`: programs of a stage start with the memory of earlier stages. Default `none`. */
  readonly memory?: 'none' | 'carry';
  /** `{ review: 'text' }` renames the field `review` of a result to `text` for the next stage. */
  readonly map?: { readonly [field: string]: string };
  /** What it does, for agents that use it as a tool. Default: none. */
  readonly description?: string;
  /** Limits of the whole tree. Default limits apply. */
  readonly limits?: LimitsInput;
  /** Calls back when a stage asks a person and when the pipeline ends. Default: none. */
  readonly onEvent?: OnEventInput;
}

/**
 * Runs agents one after another, as one durable run. Each stage is a child run with the pipeline's
 * task, and its Step is the context of the next. The last Step is the result. A stage that does not
 * succeed ends the pipeline as `chained_failure`.
 *
 * @throws UsageError with all problems of the name, stages and options, a line each.
 * @example
 * const press = pipeline('press', [writer, [factChecker, stylist], humanStep({ question: 'Print it?' })]);
 */
export function pipeline<const Stages extends readonly PipelineStage[]>(
  name: string,
  stages: Stages,
  options: PipelineOptions = {},
): AgentDefinition<PipelineValue<Stages>, PipelineContext<Stages>> {
  const problems = pipelineProblems(name, stages, options);
  if (problems.length > 0) throw usageErrorOf(problems, `Pipeline \`${String(name)}\`: `);
  const { memory = 'none', map = {}, description, limits, onEvent } = options;
  return agentWithoutModel({
    name,
    loop: { pipeline: { stages: stages.map(stageSpec), memory, map } },
    starts: stages.flatMap(definitionsIn),
    description,
    limits,
    onEvent,
    entry: entryOf(stages),
  });
}

function stageSpec(stage: PipelineStage): StageSpec {
  if (isHumanStep(stage)) return stage.spec;
  return isParallel(stage)
    ? { kind: 'parallel', agents: stage.map(nameOf) }
    : { kind: 'agent', agent: nameOf(stage) };
}

/** Whether a stage runs agents in parallel. */
function isParallel(stage: PipelineStage): stage is readonly StageAgent[] {
  return Array.isArray(stage);
}

function nameOf(agent: StageAgent): string {
  return typeof agent === 'string' ? agent : agent.name;
}

function definitionsIn(stage: PipelineStage): readonly AgentDefinition[] {
  if (isHumanStep(stage)) return [];
  const agents = isParallel(stage) ? stage : [stage];
  return agents.filter((agent) => typeof agent !== 'string');
}

/** The inputs of a pipeline: those of its first stage, if that is one agent with known inputs. */
function entryOf(
  stages: readonly PipelineStage[],
): (Required<Pick<AgentDefinition, 'inputs'>> & Pick<Signed, 'signature'>) | undefined {
  const first = agentOf(stages[0]);
  const { signature } = first?.spec ?? {};
  if (signature === undefined || first?.inputs === undefined) return undefined;
  const { params } = signature;
  const output = outputOf(agentOf(stages.at(-1))?.spec);
  return {
    inputs: first.inputs,
    signature: { text: printSignature({ params, output }), params },
  };
}

type Signed = Required<Pick<AgentDefinition['spec'], 'signature'>>;

function agentOf(stage: PipelineStage | undefined): AgentDefinition | undefined {
  const isOne = typeof stage === 'object' && !isParallel(stage) && hasKind(stage, 'agent');
  return isOne ? (stage as AgentDefinition) : undefined;
}

const OPTION_FIELDS: FieldRules = {
  memory: { ...oneOf('none', 'carry'), advice: 'Change it.', code: 'pipeline_memory' },
  map: mapProblems,
  description: TEXT,
  limits: inputProblems,
  onEvent: callbackProblems,
};

/** All problems of a pipeline, without its name in front. */
function pipelineProblems(
  name: unknown,
  stages: unknown,
  options: unknown,
): readonly UsageProblem[] {
  return [
    ...nameProblems(name, 'pipeline'),
    ...stagesProblems(name, stages),
    ...optionsProblems(options),
  ];
}

function optionsProblems(options: unknown): readonly UsageProblem[] {
  if (!isPlainObject(options)) {
    const what = 'the options of a pipeline to be an object';
    return [expected('unknown_option', what, shown(options), "Write them as { memory: 'carry' }.")];
  }
  return fieldProblems(options, OPTION_FIELDS, { code: 'pipeline_text', owner: 'a pipeline' });
}

function stagesProblems(pipeline: unknown, stages: unknown): readonly UsageProblem[] {
  if (!Array.isArray(stages) || stages.length === 0) {
    const got = Array.isArray(stages) ? 'an empty list' : shown(stages);
    const advice = "Write it as pipeline('name', [first, second]).";
    return [expected('pipeline_stage', 'a list of stages', got, advice)];
  }
  return stages.flatMap((stage: unknown, index) => {
    const place = `stage ${index + 1}`;
    if (isHumanStep(stage)) {
      return stage.problems.map(({ code, message }) => ({ code, message: `${place}: ${message}` }));
    }
    return Array.isArray(stage)
      ? parallelProblems(pipeline, place, stage)
      : agentProblems(pipeline, place, stage, 'an agent, a list of agents or `humanStep(…)`');
  });
}

function parallelProblems(
  pipeline: unknown,
  place: string,
  agents: readonly unknown[],
): readonly UsageProblem[] {
  if (agents.length === 0) {
    const what = `agents in the parallel ${place}`;
    return [expected('pipeline_stage', what, 'an empty list', 'Name them or remove it.')];
  }
  const what = `the agents of the parallel ${place} to have different names, since their values are joined under them`;
  return [
    ...agents.flatMap((agent, index) =>
      agentProblems(pipeline, `${place}[${index}]`, agent, 'an agent'),
    ),
    ...repeated(agents.flatMap((agent) => agentName(agent) ?? [])).map((name) =>
      expected('duplicate_stage', what, `\`${name}\` twice`, 'Rename one.'),
    ),
  ];
}

function agentProblems(
  pipeline: unknown,
  place: string,
  agent: unknown,
  wanted: string,
): readonly UsageProblem[] {
  const name = agentName(agent);
  if (name === undefined) {
    return [expected('pipeline_stage', `${place} to be ${wanted}`, shown(agent))];
  }
  if (name !== pipeline) return [];
  const got = `\`${name}\`, the pipeline itself`;
  return [expected('pipeline_stage', `${place} to be another agent`, got, 'It would never end.')];
}

function mapProblems(map: unknown): readonly UsageProblem[] {
  if (map === undefined) return [];
  const entries = isPlainObject(map) ? Object.entries(map) : [];
  if (!isPlainObject(map) || !entries.every((entry) => entry.every(isText))) {
    const what = "`map` to be new names by old ones, such as { review: 'text' }";
    return [expected('pipeline_map', what, shown(map))];
  }
  return repeated(entries.map(([, to]) => to)).map((name) =>
    expected(
      'pipeline_map',
      '`map` to give each field a name of its own',
      `\`${String(name)}\` twice`,
      'Rename one.',
    ),
  );
}
