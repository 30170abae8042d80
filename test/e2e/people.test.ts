/** People and the outside, on a real server: what waits costs no worker, and outlives every process. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { randomUUID } from 'node:crypto';
import { WorkflowUpdateFailedError } from '@temporalio/client';
import { pausesOf, peopleAgents } from '../support/people-agents.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import type { AgentEvent } from '../../src/core/contract/events.ts';
import { valueOf } from '../../src/core/contract/stats.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { AgentDefinition, ToolDefinition } from '../../src/define/definition/definitions.ts';
import { agentTool } from '../../src/define/tool/agent-tool.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { external } from '../../src/define/tool/external.ts';
import { answerUpdate } from '../../src/workflows/messages.ts';
import { fixtureProcesses } from '../support/child-process.ts';
import { eventually } from '../support/eventually.ts';
import type { PeopleWorker } from '../support/fixtures/serve-people.ts';
import { answer, bodiesOf, gate, hasNoGap, typesOf } from '../support/runs.ts';
import { openHandoverStage, openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
const workers = fixtureProcesses<PeopleWorker>('serve-people');
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(async () => {
  await workers.stop();
  await stage?.close();
});

async function pendingIn(run: RunHandle): Promise<readonly string[]> {
  await eventually(
    'a run that waits',
    async () => (await run.status()).state === 'waiting',
    30_000,
  );
  return (await run.pending()).map(({ id }) => id).toSorted();
}

/** What the model read of its calls in the first turn. */
async function observed(run: RunHandle): Promise<string> {
  const [first] = await run.transcript();
  return JSON.stringify(first?.messages[1]?.parts ?? []).replaceAll('\\"', '"');
}

async function updatesOf(run: RunHandle): Promise<number> {
  const { events = [] } = await stage.client.workflow.getHandle(run.id).fetchHistory();
  return (events ?? []).filter(
    (event) => event.workflowExecutionUpdateAcceptedEventAttributes != null,
  ).length;
}

/** The ends of calls by tool: they are recorded in the order in which people and tools are done. */
function endsByTool(
  events: readonly AgentEvent[],
): ReturnType<typeof bodiesOf<'agent:tool_call:after'>> {
  return bodiesOf(events, 'agent:tool_call:after').toSorted((a, b) => a.tool.localeCompare(b.tool));
}

describe('a run that waits for people', () => {
  it('shows what waits, takes one answer each, and goes on [row 24] [sub 17] [sub 18]', async () => {
    const { everloop } = await stage.serve(peopleAgents());
    const run = await everloop.start('clerk', { task: 'Pay the bill' });
    expect(await pendingIn(run)).toEqual(['1.2', '1.3', 'q1']);

    const status = await run.status();
    expect(status).toMatchObject({ state: 'waiting' });
    expect([...status.waitsFor].toSorted()).toEqual([
      'approval 1.2',
      'external 1.3',
      'question q1',
    ]);
    // In the order in which they began to wait.
    expect((await run.pending()).toSorted((a, b) => (a.kind < b.kind ? -1 : 1))).toMatchObject([
      { kind: 'approval', tool: 'pay', args: { amount: 50 }, reasoning: 'Three at once.' },
      { kind: 'external', tool: 'build', details: { url: 'https://ci/7' } },
      { kind: 'question', question: 'Which John?', options: ['John Smith', 'John Doe'] },
    ]);

    await expect(run.answer('q1', 'Jane')).rejects.toMatchObject({
      code: 'invalid_input',
      message: 'answer one of: 1 John Smith, 2 John Doe',
    });
    await expect(run.answer('q7', 'x')).rejects.toMatchObject({ code: 'item_unknown' });
    const updateId = randomUUID();
    await run.answer('q1', 2, { updateId });
    await run.answer('q1', 2, { updateId });
    await expect(run.answer('q1', 1)).rejects.toMatchObject({
      code: 'item_settled',
      message: 'question q1 is already answered',
    });
    await run.decide('1.2', { args: { amount: 40 } });
    await run.answer('1.3', { passed: 7 });
    const step = await run.result();

    expect(step).toMatchObject({ status: 'success', value: 'done' });
    expect(await observed(run)).toContain('John Doe');
    expect(await observed(run)).toContain('A person changed the arguments to {"amount":40}.');
    expect(await observed(run)).toContain('passed: 7');
    // Refused updates leave no trace in history.
    expect(await updatesOf(run)).toBe(3);
    expect(valueOf(step.stats, 'agent:active_ms')).toBeLessThan(
      valueOf(step.stats, 'agent:wall_clock_ms'),
    );
    await stage.replay(run);
  });

  it('keeps the end of outside work that comes before its tool returns, also on a new link [sub 18]', async () => {
    const links = await openHandoverStage(20);
    try {
      const begun: string[] = [];
      const mayReturn = gate();
      const build = defineTool({
        name: 'build',
        description: 'Builds.',
        execute: async (_args, { callId }) => {
          begun.push(callId);
          await mayReturn.opened;
          return external();
        },
      }) as ToolDefinition;
      const builder = defineAgent({
        name: 'builder',
        mode: 'react',
        model: {
          id: 'b',
          model: async ({ iteration }) => {
            if (iteration > 1) return answer();
            return '<action>\n- tool: ask_user\n  args:\n    question: Which?\n- tool: build\n</action>';
          },
        },
        tools: [build],
        askUser: true,
      });
      const { everloop } = await links.serve([builder]);
      const run = await everloop.start('builder', { task: 'Build' });
      await eventually('a tool that works', async () => begun.length > 0);

      await run.answer('1.2', { passed: 7 }, { updateId: 'webhook' });
      await run.answer('1.2', { passed: 7 }, { updateId: 'webhook' });
      await expect(run.answer('1.2', 'again')).rejects.toMatchObject({ code: 'item_settled' });
      await expect(run.answer('1.9', 'x')).rejects.toMatchObject({ code: 'item_unknown' });
      expect(await run.status()).toMatchObject({ endedEarly: ['1.2'] });
      mayReturn.open();
      await eventually('its end is applied', async () => {
        const events = await run.events();
        return bodiesOf(events, 'agent:external:ended').length === 1;
      });
      expect(await run.status()).not.toHaveProperty('endedEarly');
      expect((await run.pending()).map(({ id }) => id)).toEqual(['q1']);
      await run.answer('q1', 'all');

      expect(await run.result()).toMatchObject({ status: 'success', value: 'done' });
      expect(await observed(run)).toContain('passed: 7');
      expect(begun).toEqual(['1.2']);
      await links.replay(run);
    } finally {
      await links.close();
    }
  });

  it('no longer lists what was just decided in a run below, and names it by its path', async () => {
    const below = peopleAgents();
    const boss = defineAgent({
      name: 'boss',
      mode: 'react',
      model: {
        id: 'boss',
        model: async ({ iteration }) =>
          iteration === 1
            ? '<action>\ntool: clerk\nargs:\n  task: Pay the bill\n</action>'
            : answer(),
      },
      tools: [agentTool({ agent: below[0] as AgentDefinition, description: 'Pays.' })],
    });
    const { everloop } = await stage.serve([boss, ...below]);
    const run = await everloop.start('boss', { task: 'Go' });
    const ids = async (): Promise<readonly string[]> => (await run.pending()).map(({ id }) => id);
    await eventually('all that waits below', async () => (await ids()).length === 3, 30_000);

    await run.decide('1.1/1.2', { deny: 'no' });
    expect(await ids()).not.toContain('1.1/1.2');
    const { pending } = await run.view();
    expect(pending.map(({ id }) => id)).not.toContain('1.1/1.2');
    await expect(run.decide('1.1/1.2', { approve: true })).rejects.toMatchObject({
      code: 'item_settled',
      message: 'approval 1.1/1.2 is already decided',
    });
    await expect(run.answer('1.1/q9', 'x')).rejects.toMatchObject({ code: 'item_unknown' });
    await run.answer('1.1/q1', 1);
    await run.answer('1.1/1.3', 'green');
    expect((await run.result()).status).toBe('success');
  });

  it('stands in the inbox of all runs while it waits [sub 17]', async () => {
    const { everloop } = await stage.serve(peopleAgents());
    const run = await everloop.start('asker', { task: 'Ask me' });
    await pendingIn(run);

    const found = await eventually('the question in the inbox', async () => {
      const { items } = await everloop.inbox();
      const own = items.filter((item) => item.run === run.id);
      return own.length > 0 && own;
    });
    expect(found).toMatchObject([
      { agent: 'asker', task: 'Ask me', item: { id: 'q1', kind: 'question', question: 'Which?' } },
    ]);
    await run.answer('q1', 'blue');
    await run.result();

    const { items } = await everloop.inbox();
    expect(items.filter((item) => item.run === run.id)).toEqual([]);
  });

  it('ends its wait by a timer [row 24] [sub 17] [sub 18]', async () => {
    const { everloop } = await stage.serve(peopleAgents({ timeoutMs: 1_500 }));
    const run = await everloop.start('clerk', { task: 'Pay the bill' });

    const step = await run.result();

    expect(step.status).toBe('success');
    const text = await observed(run);
    expect(text).toContain('Error: Nobody answered "Which John?" within 1.5 s.');
    expect(text).toContain('Denied by a person: nobody decided within 1.5 s.');
    expect(text).toContain('Error: build did not finish within 1.5 s.');
    expect(valueOf(step.stats, 'agent:approvals_denied')).toBe(1);
    await stage.replay(run);
  });

  it('ends when it is canceled, and at its deadline [row 2] [row 46]', async () => {
    const { everloop } = await stage.serve(peopleAgents());
    const canceled = await everloop.start('clerk', { task: 'Pay the bill' });
    const late = await everloop.start('asker', { task: 'Ask', limits: { wallClockMs: 2_500 } });
    await pendingIn(canceled);

    await canceled.cancel('never mind');

    expect(await canceled.result()).toMatchObject({ status: 'canceled', message: 'never mind' });
    expect(await late.result()).toMatchObject({
      status: 'limit_exceeded',
      reason: 'agent:wall_clock_ms',
    });
    expect(typesOf(await canceled.events())).not.toContain('approval:decided');
    await expect(canceled.answer('q1', 1)).rejects.toMatchObject({ code: 'run_ended' });
    await Promise.all([stage.replay(canceled), stage.replay(late)]);
  });

  it('outlives its worker, which is killed [row 23] [row 24] [sub 17]', async () => {
    const taskQueue = `people-${randomUUID()}`;
    const { address, namespace } = stage;
    const work = { address, namespace, taskQueue, archiveDir: stage.folder };
    const victim = await workers.start(work);
    const everloop = stage.everloopOf(taskQueue);
    const run = await everloop.start('clerk', { task: 'Pay the bill' });
    expect(await pendingIn(run)).toEqual(['1.2', '1.3', 'q1']);

    await victim.kill('SIGKILL');
    // Nobody serves the run: what is sent meanwhile waits for a worker.
    const early = run.answer('1.3', { passed: 7 });
    await workers.start(work);
    await early;
    expect(await pendingIn(run)).toEqual(['1.2', 'q1']);
    await run.decide('1.2', { approve: true });
    await run.answer('q1', 'john smith');
    const step = await run.result();

    expect(step).toMatchObject({ status: 'success', value: 'done' });
    const events = await run.events();
    expect(hasNoGap(events)).toBe(true);
    expect(endsByTool(events)).toMatchObject([
      { tool: 'ask_user', outcome: 'ok', output: 'John Smith' },
      { tool: 'build', outcome: 'ok', output: { passed: 7 }, attempts: 1 },
      { tool: 'pay', outcome: 'ok', output: 'paid 50', attempts: 1 },
    ]);
    await stage.replay(run);
  });
});

describe('a run that waits and hands over [row 6] [sub 17]', () => {
  let small: Stage;
  beforeAll(async () => {
    small = await openHandoverStage(40);
  });
  afterAll(() => small?.close());

  it('goes on in the middle of its turn, and repeats no call', async () => {
    const paid: number[] = [];
    const { everloop } = await small.serve(peopleAgents({ onPay: (amount) => paid.push(amount) }));
    const run = await everloop.start('clerk', { task: 'Pay the bill' });
    await pendingIn(run);
    const handle = small.client.workflow.getHandle(run.id);
    const updateId = randomUUID();
    await run.answer('1.3', { passed: 7 }, { updateId });

    // Messages make the history long; a run that only waits hands over all the same.
    await eventually('a second link', async () => {
      await run.send('still there?');
      return (await run.status()).link > 1;
    });
    expect(await pendingIn(run)).toEqual(['1.2', 'q1']);
    const inbox = await eventually('the second link in the inbox', async () => {
      const { items } = await everloop.inbox();
      const own = items.filter((item) => item.run === run.id);
      return own.length === 2 && own;
    });
    expect(inbox.map(({ item }) => item.id).toSorted()).toEqual(['1.2', 'q1']);
    // The update was accepted by the first link: the second knows it.
    await run.answer('1.3', { passed: 7 }, { updateId });
    await expect(
      handle.executeUpdate(answerUpdate, {
        args: [{ id: '1.3', value: 1, updateId: 'another' }],
      }),
    ).rejects.toBeInstanceOf(WorkflowUpdateFailedError);
    await run.decide('1.2', { approve: true });
    await run.answer('q1', 1);
    const step = await run.result();

    expect(step).toMatchObject({ status: 'success', value: 'done' });
    expect(paid).toEqual([50]);
    expect(pausesOf(step)).toBeGreaterThan(0);
    const events = await run.events();
    expect(hasNoGap(events)).toBe(true);
    expect(bodiesOf(events, 'agent:question:asked')).toHaveLength(1);
    expect(bodiesOf(events, 'agent:iteration:before').length).toBe(step.iterations);
    expect(endsByTool(events)).toMatchObject([
      { tool: 'ask_user', output: 'John Smith' },
      { tool: 'build', output: { passed: 7 } },
      { tool: 'pay', output: 'paid 50' },
    ]);
    await small.replay(run);
  });
});
