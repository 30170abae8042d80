/**
 * Pipelines: agents one after another, each with the result of the one before. A pipeline is an
 * agent whose loop runs stages instead of asking a model, so it is started, served and called like
 * any other.
 */
import type { LimitsInput } from '../../core/contract/input.ts';
import type { StageSpec } from '../../core/contract/spec.ts';
import { printSignature } from '../../core/signature/print-signature.ts';
import type { SignatureType } from '../../core/contract/signature.ts';
import { usageErrorOf } from '../../core/base/usage-error.ts';
import { agentWithoutModel } from './agent-without-model.ts';
import type { AgentDefinition } from '../definition/definitions.ts';
import { hasKind } from '../checks/kinds.ts';
import { isHumanStep, type HumanStep } from './human-step.ts';
import { pipelineProblems } from './pipeline-problems.ts';

/**
 * An agent as a stage: a definition, which the worker then serves, or the name of another agent.
 */
export type StageAgent = AgentDefinition | string;

/** One stage: an agent, agents in parallel on the same context, or a question to a person. */
export type PipelineStage = StageAgent | readonly StageAgent[] | HumanStep;

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
export function pipeline(
  name: string,
  stages: readonly PipelineStage[],
  options: PipelineOptions = {},
): AgentDefinition {
  const problems = pipelineProblems(name, stages, options);
  if (problems.length > 0) throw usageErrorOf(problems, `Pipeline \`${String(name)}\`: `);
  const { memory = 'none', map = {}, description, limits } = options;
  return agentWithoutModel({
    name,
    loop: { pipeline: { stages: stages.map(stageSpec), memory, map } },
    starts: stages.flatMap(definitionsIn),
    description,
    limits,
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
  const output = agentOf(stages.at(-1))?.spec.answer.output ?? ANYTHING;
  return {
    inputs: first.inputs,
    signature: { text: printSignature({ params, output }), params },
  };
}

type Signed = Required<Pick<AgentDefinition['spec'], 'signature'>>;

const ANYTHING: SignatureType = { kind: 'any' };

function agentOf(stage: PipelineStage | undefined): AgentDefinition | undefined {
  const isOne = typeof stage === 'object' && !isParallel(stage) && hasKind(stage, 'agent');
  return isOne ? (stage as AgentDefinition) : undefined;
}
