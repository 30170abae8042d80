/** Lists of runs on a real server: `list` with its filters. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { ListOptions } from '../../src/client/run-list.ts';
import { peopleAgents } from '../support/people-agents.ts';
import { eventually } from '../support/eventually.ts';
import { openStage, type Stage } from '../support/stage.ts';
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

  it('refuses an unknown state', async () => {
    const everloop = stage.everloopOf('nowhere');

    await expect(everloop.list({ state: 'lost' as 'failed' })).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringMatching(/^Expected a state of running, waiting, .* got "lost"/),
    });
  });
});
