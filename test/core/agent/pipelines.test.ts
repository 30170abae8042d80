import { describe, expect, it, test } from 'vitest';
import { pipeline, type PipelineOptions, type PipelineStage } from '../../../src/activities/define-pipeline.ts';
import { humanStep } from '../../../src/activities/human-step.ts';
import type { Json, JsonObject } from '../../../src/core/json.ts';
import { startInMemory } from '../../../src/testing/run-in-memory.ts';
import { bodiesOf, typesOf } from '../../support/runs.ts';
import { jsonStage, stage } from '../../support/pipelines.ts';
import { ownSums, runsOf, treeCounters } from '../../support/trees.ts';

const a = stage('a');
const b = stage('b');
const c = stage('c');
const triage = jsonStage('triage', '-> {review :string, score :int}', { review: 'slow', score: 2 }, {
  fieldDescriptions: { review: 'what was said', score: 'from 1 to 5' },
});

describe('a pipeline', () => {
  it('hands the Step of each stage to the next, as one run with exact sums [sub 16]', async () => {
    const run = startInMemory({ agent: pipeline('line', [a, b, c]), task: 'x' });

    const step = await run.result;

    expect([step.status, step.value, step.agent]).toEqual(['success', 'c(b(a(x)))', 'line']);
    expect(typesOf(run.events)).toEqual([
      'execution:before',
      ...['child:spawn', 'child:complete', 'data:change'].flatMap((type, index) =>
        index > 0 ? [type] : ['iteration:before', type],
      ),
    ]);
  });
});
