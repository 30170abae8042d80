/** Lists of runs on a real server: `list` with its filters. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { ListOptions } from '../../src/client/run-list.ts';
import { RUNS_ALL } from '../support/extent.ts';
import { peopleAgents } from '../support/people-agents.ts';
import { eventually } from '../support/eventually.ts';
import { openHandoverStage, openStage, type Stage } from '../support/stage.ts';
import { asker, worker } from '../support/tree-agents.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(async () => stage?.close());

describe('a list of runs', () => {
  it('names only runs of an agent, roots, and runs in a state', async () => {
    const prefix = `lists-${randomUUID()}`;
    const { everloop } = await stage.serve([...peopleAgents(), asker(worker(1), 1, 'boss')]);
    const waits = await everloop.start('asker', { task: 'Ask me', id: `${prefix}-waits` });
    const tree = await everloop.start('boss', { task: 'Go', id: `${prefix}-tree` });
    await tree.result();
    const idsOf = async (options: ListOptions): Promise<readonly string[]> => {
      const runs = await everloop.list({ idPrefix: prefix, ...options });
      return runs.map(({ id }) => id.slice(prefix.length)).toSorted();
    };

    await eventually('the run to wait', async () => {
      const waiting = await idsOf({ state: 'waiting' });
      return waiting.length > 0 && waiting;
    });
    const all = await eventually('all ends in the list', async () => {
      const runs = await everloop.list({ idPrefix: prefix });
      return runs.filter(({ state }) => state === 'completed').length === 2 && runs;
    });

    expect(all.find(({ id }) => id.endsWith('-waits'))).toMatchObject({ state: 'waiting' });
    expect(all.find(({ agent }) => agent === 'worker')).toMatchObject({ parent: tree.id });
    expect(await idsOf({ roots: true })).toEqual(['-tree', '-waits']);
    expect(await idsOf({ agent: 'boss' })).toEqual(['-tree']);
    expect(await idsOf({ state: 'running' })).toEqual([]);
    expect(await idsOf({ state: 'completed', roots: true })).toEqual(['-tree']);
    expect(await idsOf({ agent: 'asker', state: 'waiting' })).toEqual(['-waits']);
    await waits.cancel();
    await waits.result();
    await eventually('the cancel in the list', async () => {
      return (await idsOf({ state: 'waiting' })).length === 0;
    });
  });

  it('is filtered by the service, by the attributes of a run and its children', async () => {
    const { everloop } = await stage.serve([...peopleAgents(), asker(worker(1), 1, 'boss')]);
    const waits = await everloop.start('asker', { task: 'Ask me' });
    const tree = await everloop.start('boss', { task: 'Go' });
    await tree.result();
    const found = async (query: string): Promise<readonly string[]> => {
      const ids: string[] = [];
      for await (const { workflowId } of stage.client.workflow.list({ query })) {
        ids.push(workflowId);
      }
      return ids;
    };
    const one = `WorkflowId = '${waits.id}' AND EverloopAgent = 'asker'`;

    await eventually('the run to wait', async () => {
      return (await found(`${one} AND EverloopState = 'waiting'`)).length === 1;
    });
    await eventually('the child', async () => {
      const children = await found(
        `WorkflowId STARTS_WITH '${tree.id}/' AND EverloopAgent = 'worker'`,
      );
      return children.length === 1;
    });
    const items = (await everloop.inbox()).items.filter(({ run }) => run === waits.id);
    await waits.answer(items[0]?.item.id ?? 'none', 'blue');
    await waits.result();

    await eventually('the end of the wait', async () => {
      return (await found(`${one} AND EverloopState = 'running'`)).length === 1;
    });
    const { events } = await stage.client.workflow.getHandle(waits.id).fetchHistory();
    const changes = (events ?? []).filter(
      ({ upsertWorkflowSearchAttributesEventAttributes: changed }) =>
        'EverloopState' in (changed?.searchAttributes?.indexedFields ?? {}),
    );
    expect(changes).toHaveLength(2);
    await stage.replay(waits);
    await stage.replay(tree);
  });

  it('has runs without attributes, which are never given any', async () => {
    const { everloop, taskQueue } = await stage.serve(peopleAgents());
    const id = `lists-${randomUUID()}`;
    await stage.client.workflow.start('agent', {
      workflowId: id,
      taskQueue,
      args: [{ v: 1, agent: 'asker', task: { text: 'Ask me' } }],
      memo: { agent: 'asker' },
    });

    await eventually('the run in the list', async () => {
      const runs = await everloop.list({ agent: 'asker', state: 'waiting', idPrefix: id });
      return runs.length === 1;
    });
    const run = everloop.attach(id);
    const { items } = await everloop.inbox();
    expect(items.filter((item) => item.run === id)).toHaveLength(1);
    await run.cancel();
    await run.result();
    const { searchAttributes } = await stage.client.workflow.getHandle(id).describe();
    expect(Object.keys(searchAttributes)).not.toContain('EverloopState');
    await stage.replay(run);
  });

  it.runIf(RUNS_ALL)('keeps the attributes of a run that is handed over', async () => {
    const own = await openHandoverStage(20);
    try {
      const { everloop } = await own.serve([worker(8, 'long')]);
      const run = await everloop.start('long', { task: 'Go' });
      await run.result();

      expect((await run.status()).link).toBeGreaterThan(1);
      const { searchAttributes } = await own.client.workflow.getHandle(run.id).describe();
      expect(searchAttributes).toMatchObject({
        EverloopAgent: ['long'],
        EverloopState: ['running'],
      });
    } finally {
      await own.close();
    }
  });

  it('refuses an unknown state', async () => {
    const everloop = stage.everloopOf('nowhere');

    await expect(everloop.list({ state: 'lost' as 'failed' })).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringMatching(/^Expected a state of running, waiting, .* got "lost"/),
    });
  });
});
