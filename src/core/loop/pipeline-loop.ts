/**
 * The loop of a pipeline: one stage in each iteration, and no model call of its own. A stage is one
 * child run, several, or a question to a person; limits, statistics, messages and hand-over come
 * with the run.
 *
 * I1  The state changes once in an iteration, at its end: an iteration that is interrupted or
 *     handed over starts its stage again.
 * I2  A stage without a value ends the pipeline; when a limit of the pipeline or of an ancestor
 *     caused that, the pipeline ends at that limit.
 */
import { defined } from '../base/defined.ts';
import type { Json } from '../base/json.ts';
import { clip } from '../text/cut.ts';
import { expandTemplate } from '../template/expand-template.ts';
import { parseTemplate } from '../template/parse-template.ts';
import { chained, stepIn, stepsIn, stopAt } from './child-value.ts';
import { leaving } from '../run/ending.ts';
import { toInternalError } from './turn.ts';
import {
  afterStage,
  endOfAgent,
  endOfHuman,
  endOfParallel,
  pipelineState,
  stageTask,
  type PipelineState,
  type StageEnd,
} from './pipeline-state.ts';
import type { PipelineSpec, StageSpec } from '../contract/spec.ts';
import type { SpawnInput } from '../children/spawn.ts';
import type { Next, Work } from './work.ts';

/** The iteration of `pipeline`: its next stage. */
export function pipelineLoop(pipeline: PipelineSpec): Next {
  return async (work) => {
    try {
      const before = pipelineState(work.state);
      const stage = pipeline.stages[before.stage];
      if (stage === undefined) throw new Error(`there is no stage ${before.stage + 1}`);
      const end = await runStage(work, pipeline, stage, before);
      // When input came meanwhile the last stage runs again, so the state stays.
      if (before.stage + 1 === pipeline.stages.length) {
        return { kind: 'end', value: end.value, passedOn: end.passedOn };
      }
      work.setData(afterStage(pipeline, before, end) as unknown as Json);
      return { kind: 'continue' };
    } catch (error) {
      throw toInternalError(error);
    }
  };
}

async function runStage(
  work: Work,
  pipeline: PipelineSpec,
  stage: StageSpec,
  before: PipelineState,
): Promise<StageEnd> {
  const input = inputOf(work, pipeline, before);
  switch (stage.kind) {
    case 'agent':
      return endOfAgent(stepIn(work, await work.spawn(stage.agent, input)));
    case 'parallel': {
      const results = await work.spawnAll(stage.agents.map((agent) => ({ agent, input })));
      return endOfParallel(stepsIn(work, results));
    }
    case 'human':
      return endOfHuman(before, await answerTo(work, stage, before));
  }
}

/** What the agents of a stage are started with. */
function inputOf(
  work: Work,
  { model }: PipelineSpec,
  { context, descriptions, memory }: PipelineState,
): SpawnInput {
  return {
    task: stageTask(work.state),
    ...defined({
      context: context ?? undefined,
      contextDescriptions: Object.keys(descriptions).length === 0 ? undefined : descriptions,
      model,
      memory: memory ?? undefined,
    }),
  };
}

/** The answer of a person; throws to end the pipeline when there is none. */
async function answerTo(
  work: Work,
  { question, options, timeoutMs }: Extract<StageSpec, { readonly kind: 'human' }>,
  { context }: PipelineState,
): Promise<Json> {
  const data = { ...context, task: stageTask(work.state).text };
  const reading = parseTemplate(question);
  const expansion = reading.kind === 'problem' ? reading : expandTemplate(reading.nodes, data);
  if (expansion.kind === 'problem') {
    const cause = `the question of stage ${work.iteration} cannot be written: ${expansion.message}`;
    throw leaving({ kind: 'failed', code: 'template_error', cause, isVerbatim: true });
  }
  const reply = await work.askPerson({
    question: clip(expansion.text, MAX_QUESTION_CHARACTERS),
    ...defined({ options, timeoutMs }),
  });
  switch (reply.kind) {
    case 'answered':
      return reply.value;
    case 'refused':
      return stopAt(work, reply.breach);
    case 'unanswered': {
      const { runId } = work.state;
      const human = { runId, agent: 'humanStep', status: 'error', reason: 'unanswered' } as const;
      return chained({ ...human, message: reply.text });
    }
  }
}

/**
 * Limited, since a question can contain a document, and the state and messages to ancestors have
 * it.
 */
const MAX_QUESTION_CHARACTERS = 16_000;
