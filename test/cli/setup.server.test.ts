/** `everloop setup` on a namespace that has no search attributes, and runs without and with them. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { Connection } from '@temporalio/client';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { eventually } from '../support/eventually.ts';
import { peopleAgents } from '../support/people-agents.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { cli } from './cli-fixture.ts';

const namespace = `bare-${randomUUID().slice(0, 8)}`;
let stage: Stage;
beforeAll(async () => {
  const { address } = inject('temporal');
  const { workflowService, close } = await openConnection(address);
  await workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
  });
  // A server reads its namespaces again every few seconds.
  await eventually('the namespace', () =>
    workflowService.listWorkflowExecutions({ namespace }).then(
      () => true,
      () => false,
    ),
  );
  await close();
  stage = await openStage({ address, namespace });
});
afterAll(() => stage?.close());

async function openConnection(address: string): Promise<{
  readonly workflowService: Connection['workflowService'];
  readonly close: () => Promise<void>;
}> {
  const connection = await Connection.connect({ address });
  return { workflowService: connection.workflowService, close: () => connection.close() };
}

async function attributesOf(run: RunHandle): Promise<object> {
  return (await stage.client.workflow.getHandle(run.id).describe()).searchAttributes;
}

it('adds the attributes once; runs work before and after', async () => {
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
    stdout: `Added EverloopAgent, EverloopState to namespace ${namespace}. Runs that start from now on have them.\n`,
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
