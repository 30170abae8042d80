/** The inbox is read from the list of the service: no worker is asked, whose answer costs a replay. */
import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { showInbox } from '../../examples/docs/inspecting.ts';
import type { PendingItem } from '../../src/core/contract/messages.ts';
import type { InboxItem } from '../../src/client/inbox.ts';
import type { Everloop } from '../../src/client/everloop-client.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { keyRing } from '../../src/protection/key-ring.ts';
import { protectionOf } from '../../src/protection/protection.ts';
import { eventually } from '../support/eventually.ts';
import { peopleAgents } from '../support/people-agents.ts';
import { historiesOf } from '../support/replay.ts';
import { answer } from '../support/runs.ts';
import { openHandoverStage, openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(async () => stage?.close());

async function itemsOf(everloop: Everloop, { id }: RunHandle): Promise<readonly InboxItem[]> {
  return (await everloop.inbox()).items.filter(({ run }) => run === id);
}

async function waitFor(everloop: Everloop, run: RunHandle, ids: readonly string[]): Promise<void> {
  await eventually(`the items ${ids.join()}`, async () => {
    const found = (await itemsOf(everloop, run)).map(({ item }) => item.id);
    return found.toSorted().join() === ids.join();
  });
}

describe('the inbox', () => {
  it('says without a worker what runs wait for, as they change', async () => {
    const { everloop, taskQueue, stop } = await stage.serve(peopleAgents());
    const run = await everloop.start('clerk', { task: 'Pay the bill' });
    await waitFor(everloop, run, ['1.2', '1.3', 'q1']);
    await run.answer('q1', '2');
    await waitFor(everloop, run, ['1.2', '1.3']);
    const pending = await run.pending();
    // Its memo says that it waits, and no item that can be read.
    const strange = `strange-${randomUUID()}`;
    await stage.client.workflow.start('agent', {
      workflowId: strange,
      taskQueue: `nobody-${taskQueue}`,
      args: [{ v: 1, agent: 'clerk', task: { text: 'Pay' } }],
      memo: { agent: 'clerk', waiting: true, waits: { items: [{ id: 7 }], more: 0 } },
    });
    await stop();

    const { items, silent } = await eventually('the strange run', async () => {
      const view = await everloop.inbox({ withinMs: 1_500 });
      return view.silent.includes(strange) && view;
    });

    const own = items.filter((item) => item.run === run.id);
    expect(own.map(({ item }) => item)).toEqual(pending);
    expect(own[0]).toMatchObject({ agent: 'clerk', task: 'Pay the bill' });
    expect(silent).not.toContain(run.id);
    await stage.client.workflow.getHandle(strange).terminate();
    const next = await stage.serve(peopleAgents(), { taskQueue });
    await run.decide('1.2', { approve: true });
    await run.answer('1.3', 'built');
    await run.result();
    await stage.replay(run);
    expect((await run.summary()).state).toBe('completed');
    await next.stop();
  });

  it('asks a run that waits for more than its memo holds, and cuts what is long', async () => {
    const questions = Array.from({ length: 20 }, (_, at) => `Question ${at}?`);
    const agents = [askingAgent('many', questions), askingAgent('long', ['Why? '.repeat(1_000)])];
    const { everloop } = await stage.serve(agents);
    const many = await everloop.start('many', { task: 'Ask' });
    const long = await everloop.start('long', { task: 'Ask' });

    await eventually('20 items', async () => (await itemsOf(everloop, many)).length === 20);
    const [cut] = await eventually('the long one', async () => {
      const items = await itemsOf(everloop, long);
      return items.length === 1 && items;
    });

    expect(cut).toMatchObject({ isCut: true, item: { id: 'q1' } });
    expect(JSON.stringify(cut)).toContain('[cut: 1024 of 5000 bytes shown]');
    const shown: PendingItem[] = [];
    await showInbox(everloop, (agent, item) => void (agent === 'long' && shown.push(item)));
    expect(JSON.stringify(shown)).toContain('Why? '.repeat(1_000));
    await Promise.all([many, long].map((run) => run.cancel()));
  });

  it('is encrypted where runs are', async () => {
    const keys = keyRing({ current: 'in1', keys: { in1: randomBytes(32) } });
    const { everloop, taskQueue } = await stage.serve(
      [askingAgent('secretive', ['Is it Rumpelstiltskin?'])],
      { protection: protectionOf({ keys }) },
    );
    const run = await everloop.start('secretive', { task: 'Guess' });

    await waitFor(everloop, run, ['q1']);

    expect(await itemsOf(everloop, run)).toMatchObject([
      { item: { question: 'Is it Rumpelstiltskin?' } },
    ]);
    const view = await stage.everloopOf(taskQueue).inbox({ withinMs: 1_500 });
    expect(view.items.filter((item) => item.run === run.id)).toEqual([]);
    const histories = await historiesOf(stage.client, run.id);
    const bytes = JSON.stringify(histories, (_key, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
    );
    expect(bytes).toContain('waits');
    expect(bytes).not.toContain('Rumpelstiltskin');
    await run.cancel();
  });

  it('goes on in the next link', async () => {
    const own = await openHandoverStage(12);
    try {
      const { everloop } = await own.serve(peopleAgents());
      const run = await everloop.start('clerk', { task: 'Pay the bill' });
      await eventually('a hand-over', async () => (await run.status()).link > 1);
      await run.answer('q1', '2');

      await waitFor(everloop, run, ['1.2', '1.3']);

      await run.decide('1.2', { approve: true });
      await run.answer('1.3', 'built');
      await run.result();
      await own.replay(run);
    } finally {
      await own.close();
    }
  });
});

/** Asks all of its questions in one turn. */
function askingAgent(name: string, questions: readonly string[]) {
  const turn = questions
    .map((question) => `- tool: ask_user\n  args:\n    question: ${JSON.stringify(question)}\n`)
    .join('');
  return defineAgent({
    name,
    mode: 'react',
    model: {
      id: name,
      model: async ({ iteration }) => (iteration === 1 ? `<action>\n${turn}</action>` : answer()),
    },
    askUser: true,
  });
}
