/** Workers that are killed while they replay the source of a fork: another one makes the fork. */
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Everloop } from '../../src/client/everloop-client.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { fixtureProcesses } from '../support/child-process.ts';
import { extentOf } from '../support/extent.ts';
import type { ForksWorker } from '../support/fixtures/serve-forks.ts';
import { payer, paymentsIn } from '../support/fork-agents.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
const workers = fixtureProcesses<ForksWorker>('serve-forks');
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(async () => {
  await workers.stop();
  await stage?.close();
});

/** An ended run whose queue is served by a process that dies as told, and what it has paid. */
interface Played {
  readonly everloop: Everloop;
  readonly run: RunHandle;
  readonly paid: () => readonly string[];
  /** Settles when the process has died, and another worker serves in its place. */
  readonly replaced: () => Promise<void>;
}

async function play(told: Pick<ForksWorker, 'activity' | 'dies'>): Promise<Played> {
  const taskQueue = `kill-forks-${randomUUID()}`;
  const payments = join(stage.folder, taskQueue);
  writeFileSync(payments, '');
  const first = await stage.serve([payer(paymentsIn(payments))], { taskQueue });
  const run = await first.everloop.start('payer', { task: 'Go' });
  await run.result();
  await first.stop();
  const { address, namespace, folder: archiveDir } = stage;
  const worker = await workers.start({
    address,
    namespace,
    archiveDir,
    taskQueue,
    payments,
    ...told,
  });
  return {
    everloop: first.everloop,
    run,
    paid: () => readFileSync(payments, 'utf8').trim().split('\n'),
    replaced: async () => {
      expect(await worker.ended).toBe('SIGKILL');
      await stage.serve([payer(paymentsIn(payments))], { taskQueue });
    },
  };
}

describe.concurrent('a worker that is killed', () => {
  it.each(extentOf(['before', 'in-replay', 'after'] as const))(
    'while it loads a fork (%s) loses nothing: the next one loads it',
    async (dies) => {
      const { everloop, run, paid, replaced } = await play({ activity: 'loadFork', dies });
      const fork = await everloop.fork(
        { run: run.id, at: { iteration: 2 } },
        { effects: 'reuse', stats: 'keep' },
      );
      await replaced();

      const step = await fork.result();
      expect(step).toMatchObject({ status: 'success', value: 'done', usage: { modelCalls: 4 } });
      expect(step.trace.forkedFrom).toMatchObject({ workflowId: run.id, iteration: 2 });
      expect(await fork.transcript()).toEqual(await run.transcript());
      const seqs = (await fork.events()).map(({ seq }) => seq);
      expect(seqs).toEqual(seqs.map((_, at) => at + 1));
      expect(paid()).toEqual(['b']);
      await stage.replay(fork);
    },
    120_000,
  );

  it('while it looks at a moment delays the answer', async () => {
    const { run, replaced } = await play({ activity: 'viewMoment', dies: 'in-replay' });
    const seen = run.at({ iteration: 3 });
    await replaced();

    expect(await seen).toMatchObject({ iteration: 3, run: run.id });
    expect((await seen).entries.map(({ index }) => index)).toEqual([0, 1]);
  }, 120_000);
});
