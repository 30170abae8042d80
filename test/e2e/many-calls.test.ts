/** As many calls at once as a worker takes in any case, on a server. */
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { answer } from '../support/runs.ts';
import { openStage, type Stage } from '../support/stage.ts';

/** However busy the machine is: see decision 291. */
const LEAST = 256;

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(() => stage?.close());

it('takes 256 calls at once, each of which waits for all others', async () => {
  let waiting = 0;
  let open = (): void => undefined;
  const allWait = new Promise<void>((resolve) => (open = resolve));
  const model = async (): Promise<string> => {
    waiting += 1;
    if (waiting === LEAST) open();
    await allWait;
    return answer();
  };
  // Nothing is lost here, also on a machine that is busy.
  const { everloop } = await stage.serve([defineAgent({ name: 'waiter', model })], {
    heartbeatMs: 60_000,
  });
  const runs = await Promise.all(
    Array.from({ length: LEAST }, () => everloop.start('waiter', { task: 'Wait for the others.' })),
  );
  const steps = await Promise.all(runs.map((run) => run.result()));
  expect(steps.map(({ status }) => status)).toEqual(Array(LEAST).fill('success'));
  expect(waiting).toBe(LEAST);
}, 120_000);
