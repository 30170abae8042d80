import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { ModelFunction } from '../../src/core/contract/model.ts';
import { TEST_LOOPS } from '../support/bundles.ts';
import { eventually } from '../support/eventually.ts';
import { RUNS_ALL } from '../support/extent.ts';
import { openStage, type Stage } from '../support/stage.ts';

/** Never answers, until it is aborted. */
const silent: ModelFunction = (_request, { signal }) =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')));
  });

describe('promises in the sandbox', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage(inject('temporal'));
  });
  afterAll(() => stage.close());

  it('have no stacks: __stack_trace says so', async () => {
    const { everloop } = await stage.serve([
      defineAgent({ name: 'waits', mode: 'react', model: { id: 'm', model: silent } }),
    ]);
    const run = await everloop.start('waits', { task: 'Go' });
    await eventually('a model call', async () => {
      const { waitsFor } = await run.status();
      return waitsFor.length > 0;
    });

    await expect(stage.client.workflow.getHandle(run.id).query('__stack_trace')).rejects.toThrow(
      'stack traces are not enabled',
    );
    await run.cancel();
  });

  it.runIf(RUNS_ALL)(
    'that reject unheard fail the task of their own workflow, and of no other',
    async () => {
      let calls = 0;
      const model: ModelFunction = (request, io) =>
        request.iteration === 1 ? Promise.resolve('hm') : ((calls += 1), silent(request, io));
      const { everloop } = await stage.serve(
        ['careful', 'careless'].map((name) =>
          defineAgent({ name, mode: 'react', model: { id: name, model } }),
        ),
        { workflowsPath: TEST_LOOPS },
      );
      const careful = await everloop.start('careful', { task: 'Go' });
      const careless = await everloop.start('careless', { task: 'Go' });

      const failures = async (id: string): Promise<readonly string[]> => {
        const { events } = await stage.client.workflow.getHandle(id).fetchHistory();
        return (events ?? []).flatMap(
          ({ workflowTaskFailedEventAttributes: failed }) => failed?.failure?.message ?? [],
        );
      };
      const messages = await eventually('a failed task', async () => {
        const found = await failures(careless.id);
        return found.length > 0 ? found : undefined;
      });

      expect(messages[0]).toContain('lost');
      await eventually('the second call of the careful one', async () => calls > 0);
      expect(await failures(careful.id)).toEqual([]);
      await careful.cancel();
      await stage.client.workflow.getHandle(careless.id).terminate();
    },
  );
});
