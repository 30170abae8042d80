/** `everloop setup` on a namespace that has no search attributes, and runs without and with them. */
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { openBareStage } from '../support/bare-namespace.ts';
import { eventually } from '../support/eventually.ts';
import { peopleAgents } from '../support/people-agents.ts';
import type { Stage } from '../support/stage.ts';
import { cli } from './cli-fixture.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openBareStage(inject('temporal').address);
});
afterAll(() => stage?.close());

async function attributesOf(run: RunHandle): Promise<object> {
  return (await stage.client.workflow.getHandle(run.id).describe()).searchAttributes;
}

it('adds the attributes once; runs work before and after', async () => {
  const { namespace } = stage;
  const before = await stage.serve(peopleAgents());
  const bare = await before.everloop.start('asker', { task: 'Ask me' });
  await eventually('the run to wait', async () => {
    const runs = await before.everloop.list({ agent: 'asker', state: 'waiting' });
    return runs.some(({ id }) => id === bare.id);
  });
  await bare.answer('q1', 'blue');
  expect(await bare.result()).toMatchObject({ status: 'success' });
  expect(await attributesOf(bare)).not.toHaveProperty('EverloopState');
  await stage.replay(bare);

  const env = { TEMPORAL_ADDRESS: stage.address, TEMPORAL_NAMESPACE: namespace };
  const first = await cli(['setup'], { env });
  const again = await eventually('the attributes', async () => {
    const { stdout } = await cli(['setup', '--json'], { env });
    return stdout.includes('[]') && stdout;
  });
  expect(first).toMatchObject({
    exitCode: 0,
    stdout: `Added EverloopAgent, EverloopState, EverloopTenant to namespace ${namespace}. Runs that start from now on have them.\n`,
  });
  expect(JSON.parse(again)).toEqual({ namespace, added: [] });

  const after = await stage.serve(peopleAgents());
  const listed = await eventually('a run with attributes', async () => {
    // A client of its own for each try: one that has missed them does not ask at once.
    const everloop = stage.everloopOf(after.taskQueue);
    const run = await everloop.start('asker', { task: 'Ask me' });
    return 'EverloopState' in (await attributesOf(run)) && run;
  });
  await eventually('the run to wait', async () => (await listed.pending()).length === 1);
  await listed.answer('q1', 'blue');
  expect(await listed.result()).toMatchObject({ status: 'success' });
  expect(await attributesOf(listed)).toMatchObject({ EverloopState: ['running'] });
});
