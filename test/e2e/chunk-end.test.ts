/** Whoever reads the bus of a worker by himself is told when a run ends. */
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { gate } from '../support/runs.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(() => stage.close());

it('ends the streams of a run with the run, and gives late readers its last reply', async () => {
  const mayAnswer = gate();
  const agent = defineAgent({
    name: 'tester',
    model: {
      id: 'm',
      model: async (_request, { onChunk }) => {
        await mayAnswer.opened;
        onChunk({ kind: 'text', delta: '<answer>done</answer>' });
        return '<answer>done</answer>';
      },
    },
  });
  const { everloop, chunks } = await stage.serve([agent]);
  const run = await everloop.start('tester', { task: 'Go' });
  const { runId } = await run.status();
  const pieces: string[] = [];
  const reading = (async () => {
    for await (const item of chunks.subscribe({ runId })) {
      pieces.push('delta' in item ? item.delta : item.kind);
    }
  })();

  mayAnswer.open();
  await run.result();
  await reading;

  expect(pieces).toEqual(['<answer>done</answer>', 'end']);
  const late: string[] = [];
  for await (const item of chunks.subscribe({ runId })) {
    late.push('delta' in item ? item.delta : item.kind);
  }
  expect(late).toEqual(pieces);
});
