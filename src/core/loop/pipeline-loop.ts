/**
 * The loop of a pipeline: one stage an iteration, and no model call of its own. Stages are child runs,
 * or a question to a person; everything else (limits, statistics, messages, hand-over) comes with the
 * run.
 *
 * I1  The state changes once in an iteration, at its end: one that is interrupted or handed over begins
 *     its stage anew.
 * I2  A stage that gave nothing ends the pipeline; a limit of the pipeline, or of a run above it, ends it
 *     as that limit.
 */
import type { Json } from '../base/json.ts';
import { clip } from '../text/cut.ts';
import { expandTemplate } from '../template/expand-template.ts';
import { parseTemplate } from '../template/parse-template.ts';
import { chained, stepIn, stepsIn, stopAt } from './child-value.ts';
import { leaving } from '../run/ending.ts';
import { asBug } from './mode-loop.ts';
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
      // Input that came meanwhile lets the last stage run again, so the state stays.
      if (before.stage + 1 === pipeline.stages.length) {
        return { kind: 'end', value: end.value, passedOn: end.passedOn };
      }
      work.setData(afterStage(pipeline, before, end) as unknown as Json);
      return { kind: 'continue' };
    } catch (error) {
      throw asBug(error);
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
    ...(context === null ? {} : { context }),
    ...(Object.keys(descriptions).length === 0 ? {} : { contextDescriptions: descriptions }),
    ...(model === undefined ? {} : { model }),
    ...(memory === null ? {} : { memory }),
  };
}

/** What a person answered; throws to end the pipeline when nobody did. */
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
    ...(options === undefined ? {} : { options }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
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

/** Of a question with a document in it: it stands in the state, and in what is told to runs above. */
const MAX_QUESTION_CHARACTERS = 16_000;
