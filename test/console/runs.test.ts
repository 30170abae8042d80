import { describe, expect, it } from 'vitest';
import type { RunsAnswer } from '../../src/console/api.ts';
import { passing } from '../support/passing.ts';
import { peopleAgents } from '../support/people-agents.ts';
import { asker, worker } from '../support/tree-agents.ts';
import { consoleStage } from './console-stage.ts';

describe('the list of runs of a console', () => {
  it('has the runs below one, and those that ended at a limit', async () => {
    const asked: (string | undefined)[] = [];
    const agents = [asker(worker(1, 'leaf'), 2, 'top'), worker(3), ...peopleAgents()];
    const stage = consoleStage(agents, {}, (everloop) => ({
      ...everloop,
      listPage: (options) => {
        asked.push(options?.idPrefix);
        return everloop.listPage(options);
      },
    }));
    const limits = { iterations: 2 };
    const start = (id: string, fields: object): Promise<unknown> =>
      stage.post('/api/v1/runs', { requestId: `request-${id}`, id, task: 'Go.', ...fields });
    await start('whole', { agent: 'worker' });
    await start('short', { agent: 'worker', limits });
    await start('top', { agent: 'top' });
    await start('stopped', { agent: 'clerk' });
    await stage.post('/api/v1/runs/stopped/cancel', {
      requestId: 'request-stop',
      reason: 'Enough.',
    });
    await passing(async () => {
      const { body } = await stage.ask('/api/v1/runs?state=completed');
      expect((body as RunsAnswer).rows).toHaveLength(4);
    });

    const idsOf = async (query: string): Promise<readonly string[]> =>
      ((await stage.ask(`/api/v1/runs?${query}`)).body as RunsAnswer).rows.map(({ id }) => id);
    expect(await idsOf('state=limit')).toEqual(['short']);
    expect(await idsOf('state=limit&q=whole')).toEqual([]);
    // The service lists an agent that has canceled itself as completed.
    expect(await idsOf('state=canceled')).toEqual(['stopped']);
    expect((await idsOf('state=success')).toSorted()).toEqual(['top', 'whole']);
    expect(await idsOf('state=error')).toEqual([]);
    await idsOf('below=top');
    expect(asked.at(-1)).toBe('top/');
    expect((await stage.ask('/api/v1/runs/progress?id=top')).body).toMatchObject({
      runs: [{ id: 'top', children: 2 }],
    });
    expect(await stage.ask('/api/v1/runs?state=tired')).toMatchObject({ status: 400 });
  });
});
