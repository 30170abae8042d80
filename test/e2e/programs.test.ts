/** Programs on a real server: each call is an activity, and a program outlives every process. */
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { programAgent } from '../support/program-agents.ts';
import { bodiesOf, hasNoGap, typesOf } from '../support/runs.ts';
import { openStage, type Served, type Stage } from '../support/stage.ts';

const PROGRAMS_LOOP = fileURLToPath(
  new URL('../support/fixtures/workflows/programs-loop.ts', import.meta.url),
);

let stage: Stage;
let served: Served;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
  served = await stage.serve([programAgent()], { workflowsPath: PROGRAMS_LOOP });
});
afterAll(async () => {
  await stage?.close();
});

describe('a program in a workflow', () => {
  it('runs calls in parallel, sleeps and remembers', async () => {
    const run = await served.everloop.start('programmer', {
      task: 'Go',
      context: {
        programs: [
          '(def hits (pmap #(tool/search {:query (str "q" %)}) (range 20))) (sleep 200) (count hits)',
          '(return {:n *1 :first (first hits)})',
        ],
      },
    });

    const step = await run.result();

    expect(step).toMatchObject({ status: 'success', value: { n: 20, first: 'hits for q0' } });
    const events = await run.events();
    expect(hasNoGap(events)).toBe(true);
    expect(
      bodiesOf(events, 'agent:tool_call:after')
        .map(({ callId }) => callId)
        .toSorted()[0],
    ).toBe('1.p1/0/1');
    expect(typesOf(events).filter((type) => type.startsWith('program'))).toHaveLength(4);
    expect(await run.program()).toMatchObject({ programId: '2.p', outcome: 'returned' });
    await stage.replay(run, { workflowsPath: PROGRAMS_LOOP });
  });
});
