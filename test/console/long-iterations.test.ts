import { describe, expect, it } from 'vitest';
import type { IterationsAnswer } from '../../src/console/api.ts';
import { passing } from '../support/passing.ts';
import { act, answer, searchTool } from '../support/runs.ts';
import { player } from '../support/trees.ts';
import { consoleStage } from './console-stage.ts';

const ITERATIONS = 30;
const LONG = `<thought>${'x'.repeat(1_000_000)}</thought>`;

describe('a page of iterations', () => {
  it('has fewer of them when each has a megabyte, and its end is the end of the run', async () => {
    const long = player(
      'long',
      ({ iteration }) =>
        iteration < ITERATIONS ? LONG + act(`step ${iteration}`) : answer('done'),
      { tools: [searchTool()] },
    );
    const stage = consoleStage([long]);
    const given = { requestId: 'request-long', id: 'long', agent: 'long', task: 'Go.' };
    await stage.post('/api/v1/runs', given);
    await passing(
      async () =>
        expect(await stage.ask('/api/v1/runs/long')).toMatchObject({
          body: { run: { state: 'ended' } },
        }),
      20_000,
    );

    const { body } = await stage.ask('/api/v1/runs/long/iterations?count=50');
    const { iterations } = body as IterationsAnswer;
    expect(iterations.at(-1)?.number).toBe(ITERATIONS);
    expect(iterations.length).toBeGreaterThan(1);
    expect(JSON.stringify(body).length).toBeLessThan(20_000_000);
  });
});
