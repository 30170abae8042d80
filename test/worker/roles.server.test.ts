import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { eventually } from '../support/eventually.ts';
import { act, answer, searchTool } from '../support/runs.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(() => stage.close());

const agent = defineAgent({
  name: 'tester',
  mode: 'react',
  model: { id: 'm', model: async ({ iteration }) => (iteration === 1 ? act('x') : answer()) },
  tools: [searchTool()],
});

it.each([
  { left: 'models', roles: ['workflows', 'tools'], waitsFor: 'model m', activity: 'callModel' },
  { left: 'tools', roles: ['workflows', 'models'], waitsFor: 'tool search', activity: 'callTool' },
] as const)('a worker leaves $left to another one', async ({ left, roles, waitsFor, activity }) => {
  const taskQueue = `roles-${randomUUID()}`;
  const queues = {
    taskQueue,
    [left === 'models' ? 'modelQueue' : 'toolQueue']: `${taskQueue}-own`,
  };
  await expect(stage.serve([agent], { taskQueue, roles })).rejects.toMatchObject({
    code: 'worker_roles',
  });
  const { everloop } = await stage.serve([agent], { ...queues, roles });
  const run = await everloop.start('tester', { task: 'Go' });
  const pending = await eventually('the call', async () => {
    const { raw } = await stage.client.workflow.getHandle(run.id).describe();
    return raw.pendingActivities?.find(({ activityType }) => activityType?.name === activity);
  });
  const { waitsFor: waits } = await run.status();

  await stage.serve([agent], { ...queues, roles: [left] });
  const step = await run.result();

  expect(waits).toEqual([waitsFor]);
  expect(pending.lastStartedTime ?? null).toBeNull();
  expect(step).toMatchObject({ status: 'success', value: 'done', iterations: 2 });
  await stage.replay(run);
});
