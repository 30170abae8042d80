/**
 * Callbacks on a real server: they are delivered although receivers and workers come and go, and the
 * run neither waits for them nor ends with them.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { external } from '../../src/define/tool/external.ts';
import { agentTool } from '../../src/define/tool/agent-tool.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import { TEST_LOOPS } from '../support/bundles.ts';
import {
  CALLBACK_SECRET,
  openReceiver,
  type CallbackReceiver,
  type ReceivedCallback,
} from '../support/callback-receiver.ts';
import { fixtureProcesses } from '../support/child-process.ts';
import { eventually } from '../support/eventually.ts';
import { RUNS_ALL } from '../support/extent.ts';
import type { PeopleWorker } from '../support/fixtures/serve-people.ts';
import { peopleAgents } from '../support/people-agents.ts';
import { answer, bodiesOf } from '../support/runs.ts';
import { openFleet } from '../support/fleets.ts';
import { spinnerAgents } from '../support/spinner-agents.ts';
import { openHandoverStage, openStage, type Stage } from '../support/stage.ts';

const CALLBACKS = { secrets: [CALLBACK_SECRET] };

let stage: Stage;
const workers = fixtureProcesses<PeopleWorker>('serve-people');
const receivers: CallbackReceiver[] = [];
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterEach(async () => {
  await workers.stop();
  await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
});
afterAll(async () => {
  await stage?.close();
});

async function receiver(port?: number): Promise<CallbackReceiver> {
  const opened = await openReceiver(port);
  receivers.push(opened);
  return opened;
}

/** Waits for the callback that says how the run ended. */
function endOf(at: CallbackReceiver, within?: number): Promise<ReceivedCallback> {
  return eventually('the end of the run', () => at.taken('run.ended')[0], within);
}

async function pendingIn(run: RunHandle): Promise<void> {
  await eventually('a run that waits', async () => (await run.status()).state === 'waiting');
}

function dataOf(received: readonly ReceivedCallback[]): readonly object[] {
  return received
    .map(({ body: { type, data } }) => ({ type, ...data }))
    .toSorted((a, b) => (a.seq ?? 0) - (b.seq ?? 0));
}

/** How many deliveries a run has started. */
async function deliveriesOf(run: RunHandle): Promise<number> {
  const { events = [] } = await stage.client.workflow.getHandle(run.id).fetchHistory();
  const started = (events ?? []).flatMap(
    ({ startChildWorkflowExecutionInitiatedEventAttributes: child }) => child ?? [],
  );
  return started.filter(({ workflowType }) => workflowType?.name === 'deliverCallbacks').length;
}

describe('a run with a callback', () => {
  it('tells of what waits and of its end, signed, with ids and without content', async () => {
    const hook = await receiver();
    const { everloop } = await stage.serve(peopleAgents(), { callbacks: CALLBACKS });
    const run = await everloop.start('clerk', { task: 'Pay', onEvent: { url: hook.url } });
    await eventually('three callbacks', () => hook.taken().length === 3);
    await pendingIn(run);
    for (const { body } of hook.taken()) {
      const { id = '' } = body.data;
      if (body.type === 'approval.requested') await run.decide(id, { approve: true });
      else await run.answer(id, body.type === 'question.asked' ? 1 : { passed: 7 });
    }
    await run.result();
    await endOf(hook);

    const common = { run: run.id, root: run.id, agent: 'clerk', iteration: 1 };
    expect(hook.received.every(({ isSigned }) => isSigned)).toBe(true);
    expect(new Set(hook.received.map(({ id }) => id)).size).toBe(4);
    expect(dataOf(hook.received)).toMatchObject([
      { ...common, type: 'question.asked', id: 'q1' },
      { ...common, type: 'approval.requested', id: '1.2', tool: 'pay' },
      { ...common, type: 'external.begun', id: '1.3', tool: 'build' },
      { ...common, type: 'run.ended', iteration: 2, status: 'success', reason: 'answered' },
    ]);
    expect(JSON.stringify(hook.received)).not.toContain('John');
    await stage.replay(run);
  });

  it('has the text of questions if that is asked for, and only the types that are named', async () => {
    const hook = await receiver();
    const { everloop } = await stage.serve(peopleAgents(), { callbacks: CALLBACKS });
    const onEvent = { url: hook.url, events: ['question.asked'], content: true } as const;
    const run = await everloop.start('asker', { task: 'Ask', onEvent });
    await eventually('the question', () => hook.taken()[0]);
    await run.answer('q1', 'blue');
    await run.result();

    expect(dataOf(hook.received)).toMatchObject([{ type: 'question.asked', question: 'Which?' }]);
  });

  it('goes on and ends while its receiver is down, and the receiver hears of it later', async () => {
    const hook = await receiver();
    hook.answer({ status: 503 });
    const { everloop } = await stage.serve(peopleAgents(), { callbacks: CALLBACKS });
    const run = await everloop.start('asker', { task: 'Ask', onEvent: { url: hook.url } });
    await eventually('a refused callback', () => hook.received.length > 0);
    await pendingIn(run);
    await run.answer('q1', 'blue');
    expect(await run.result()).toMatchObject({ status: 'success' });
    await eventually('a refused end', () =>
      hook.received.some(({ body }) => body.type === 'run.ended'),
    );

    hook.answer({ status: 204 });
    await endOf(hook);
    await eventually('the question', () => hook.taken('question.asked')[0]);
    const ids = new Set(hook.received.map(({ id }) => id));
    expect(hook.received.length).toBeGreaterThan(2);
    expect(ids.size).toBe(2);
    expect(hook.received.every(({ isSigned }) => isSigned)).toBe(true);
  });

  it.runIf(RUNS_ALL)('is heard although the worker was killed during the delivery', async () => {
    const hook = await receiver();
    // The first request gets no reply, so its worker dies with it.
    hook.answer(null);
    const taskQueue = `callbacks-${randomUUID()}`;
    const { address, namespace, folder } = stage;
    const place = { address, namespace, taskQueue, archiveDir: join(folder, taskQueue) };
    const first = await workers.start({ ...place, secrets: [CALLBACK_SECRET] });
    const run = await stage
      .everloopOf(taskQueue)
      .start('asker', { task: 'Ask', onEvent: { url: hook.url } });
    await eventually('the first request', () => hook.received[0]);
    await first.kill('SIGKILL');
    hook.answer({ status: 204 });
    await workers.start({ ...place, secrets: [CALLBACK_SECRET] });
    await run.answer('q1', 'blue');
    await run.result();
    await endOf(hook);
    const [question] = await eventually('the question', () => {
      const taken = hook.taken('question.asked');
      return taken.length > 0 && taken;
    });

    expect(question?.id).toBe(hook.received[0]?.id);
  });

  it.runIf(RUNS_ALL)('waits for a worker that has the secret', async () => {
    const hook = await receiver();
    const { everloop, taskQueue, stop } = await stage.serve(peopleAgents());
    const run = await everloop.start('asker', { task: 'Ask', onEvent: { url: hook.url } });
    await pendingIn(run);
    await run.answer('q1', 'blue');
    await run.result();
    await stop();
    expect(hook.received).toEqual([]);

    await stage.serve(peopleAgents(), { taskQueue, callbacks: CALLBACKS });
    await endOf(hook);
  });

  it('tells of its end however it ends', async () => {
    const hook = await receiver();
    const { everloop } = await stage.serve(peopleAgents(), { callbacks: CALLBACKS });
    const onEvent = { url: hook.url, events: ['run.ended'] } as const;
    const canceled = await everloop.start('asker', { task: 'Ask', onEvent });
    const stopped = await everloop.start('asker', { task: 'Ask', onEvent });
    const unknown = await everloop.start('nobody', { task: 'Ask', onEvent });
    const limited = await everloop.start('asker', {
      task: 'Ask',
      onEvent: { url: hook.url, events: ['run.ended', 'limit.reached'] },
      limits: { questions: 0 },
    });
    await pendingIn(canceled);
    await pendingIn(stopped);
    await canceled.cancel('enough');
    await stage.client.workflow.getHandle(stopped.id).cancel();
    await eventually('four ends', () => hook.taken('run.ended').length === 4);

    const ends = new Map(hook.taken('run.ended').map(({ body: { data } }) => [data.run, data]));
    expect(ends.get(canceled.id)).toMatchObject({ status: 'canceled', reason: 'canceled' });
    expect(ends.get(stopped.id)).toMatchObject({ status: 'canceled' });
    expect(ends.get(unknown.id)).toMatchObject({ status: 'error', reason: 'agent_not_found' });
    expect(ends.get(limited.id)).toMatchObject({ status: 'limit_exceeded' });
    await eventually('the limit', () => hook.taken('limit.reached')[0]);
    expect(hook.taken('limit.reached')[0]?.body.data.limit).toEqual({
      key: 'agent:questions',
      max: 0,
    });
  });

  it('hears what waits in its children, and not how they end', async () => {
    const hook = await receiver();
    const asker = peopleAgents().find(({ name }) => name === 'asker') as AgentDefinition;
    const boss = defineAgent({
      name: 'boss',
      mode: 'react',
      model: {
        id: 'b',
        model: async ({ iteration }) =>
          iteration === 1 ? '<action>\ntool: asker\nargs:\n  task: Ask\n</action>' : answer(),
      },
      tools: [agentTool({ agent: asker })],
      onEvent: { url: hook.url },
    });
    const { everloop } = await stage.serve([boss], { callbacks: CALLBACKS });
    const run = await everloop.start('boss', { task: 'Go' });
    const asked = await eventually('the question', () => hook.taken('question.asked')[0]);
    await everloop.attach(asked.body.data.run).answer('q1', 'blue');
    await run.result();
    await endOf(hook);

    expect(asked.body.data).toMatchObject({ root: run.id, agent: 'asker' });
    expect(dataOf(hook.taken('run.ended'))).toMatchObject([{ run: run.id, agent: 'boss' }]);
  });

  it('says in its events that a receiver is gone, and goes on', async () => {
    const hook = await receiver();
    hook.answer({ status: 410 });
    const { everloop } = await stage.serve(peopleAgents(), { callbacks: CALLBACKS });
    const run = await everloop.start('asker', { task: 'Ask', onEvent: { url: hook.url } });
    await eventually('a warning', async () =>
      bodiesOf(await run.events(), 'agent:warning').some(({ code }) => code === 'callback_failed'),
    );
    await run.answer('q1', 'blue');

    expect(await run.result()).toMatchObject({ status: 'success' });
    await stage.replay(run);
  });

  it.runIf(RUNS_ALL)('is heard by way of the next version, when its own is gone', async () => {
    const hook = await receiver();
    hook.answer({ status: 503 });
    const fleet = openFleet(stage, peopleAgents(), { callbacks: CALLBACKS });
    const old = await fleet.release('v1');
    const run = await fleet.everloop.start('asker', { task: 'Ask', onEvent: { url: hook.url } });
    await pendingIn(run);
    await run.answer('q1', 'blue');
    await run.result();
    await fleet.release('v2');
    await old.stop();

    hook.answer({ status: 204 });
    await endOf(hook);
  });

  it.runIf(RUNS_ALL)(
    'opens at most eight deliveries while none succeeds, and loses nothing',
    async () => {
      const hook = await receiver();
      hook.answer({ status: 503 });
      const turns = 14;
      const builder = defineAgent({
        name: 'builder',
        model: {
          id: 'b',
          model: async ({ iteration }) =>
            iteration > turns ? 'done' : { toolCalls: [{ name: 'build', args: {} }] },
        },
        tools: [
          defineTool({
            name: 'build',
            description: 'Builds.',
            repeatable: true,
            execute: () => external({}),
          }),
        ],
      });
      const { everloop } = await stage.serve([builder], { callbacks: CALLBACKS });
      const run = await everloop.start('builder', { task: 'Go', onEvent: { url: hook.url } });
      for (let turn = 1; turn <= turns; turn += 1) {
        const item = await eventually('a build', async () => {
          const [first] = await run.pending();
          return first?.id === `${turn}.1` && first;
        });
        await run.answer(item.id, 'built');
      }
      await run.result();
      expect(await deliveriesOf(run)).toBeLessThanOrEqual(8 + 1);

      hook.answer({ status: 204 });
      await eventually('all callbacks', () => hook.taken().length === turns + 1);
      const builds = hook.taken('external.begun').map(({ body }) => body.data.id);
      expect(new Set(builds)).toEqual(
        new Set(Array.from({ length: turns }, (_, index) => `${index + 1}.1`)),
      );
    },
  );

  it.runIf(RUNS_ALL)('calls back from a loop of its own file too', async () => {
    const hook = await receiver();
    const { everloop } = await stage.serve(spinnerAgents, {
      callbacks: CALLBACKS,
      workflowsPath: TEST_LOOPS,
    });
    const run = await everloop.start('greeter', { task: 'Go', onEvent: { url: hook.url } });
    expect(await run.result()).toMatchObject({ value: 'done' });
    await endOf(hook);
  });

  it('is refused for an address that no browser would take, whoever starts it', async () => {
    const { everloop, taskQueue } = await stage.serve(peopleAgents(), { callbacks: CALLBACKS });
    const onEvent = { url: 'file:///etc/passwd' };
    await expect(everloop.start('asker', { task: 'Go', onEvent })).rejects.toMatchObject({
      code: 'invalid_input',
    });
    const started = await stage.client.workflow.start('agent', {
      taskQueue,
      workflowId: `foreign-${randomUUID()}`,
      args: [{ v: 1, agent: 'asker', task: { text: 'Go' }, onEvent }],
    });
    const step = await everloop.attach(started.workflowId).result();

    expect(step).toMatchObject({
      status: 'error',
      reason: 'invalid_input',
      message: expect.stringContaining('Expected `onEvent.url` to be an address') as string,
    });
  });

  it.runIf(RUNS_ALL)('keeps its callbacks when it hands over', async () => {
    const handing = await openHandoverStage(20);
    try {
      const hook = await receiver();
      const { everloop } = await handing.serve(peopleAgents(), { callbacks: CALLBACKS });
      const run = await everloop.start('asker', { task: 'Ask', onEvent: { url: hook.url } });
      await eventually('the question', () => hook.taken('question.asked')[0]);
      await pendingIn(run);
      // Inputs fill the history, so that the wait hands over.
      for (let index = 0; index < 6; index += 1) await run.send(`and ${index}`);
      await eventually('a hand-over', async () =>
        (await run.events()).some(({ type }) => type === 'agent:execution:handover'),
      );
      await run.answer('q1', 'blue');
      await run.result();
      await endOf(hook);

      expect(hook.taken('question.asked')).toHaveLength(1);
      await handing.replay(run);
    } finally {
      await handing.close();
    }
  });
});
