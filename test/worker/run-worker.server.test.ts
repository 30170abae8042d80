/** Workers and applications of one folder find each other. */
import { listAgents } from '../../examples/docs/inspecting.ts';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { connect, queueOf } from '../../src/client/connect.ts';
import { folderQueue } from '../../src/worker/server/folder-queue.ts';
import { runWorker, type RunWorkerOptions } from '../../src/worker/serve/run-worker.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { shareBundle } from '../support/bundles.ts';
import { CLI_FOLDER } from '../support/test-server.ts';

const clerk = defineAgent({ name: 'clerk', model: async () => 'Yes.' });

let dataDir = '';
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'everloop-run-worker-'));
  await shareBundle(dataDir);
});
afterAll(() => rm(dataDir, { recursive: true, force: true }));

/** Runs a worker until `work` is done. */
async function during<Result>(
  options: Partial<RunWorkerOptions>,
  work: (address: string, taskQueue: string) => Promise<Result>,
): Promise<Result> {
  const stop = new AbortController();
  let result: Promise<Result> = Promise.reject(new Error('Expected the worker to be ready.'));
  result.catch(() => undefined);
  await runWorker({
    agents: [clerk],
    dataDir,
    env: {},
    signals: null,
    signal: stop.signal,
    onReady: ({ server, config }) => {
      result = work(server.address, config.taskQueue).finally(() => stop.abort());
      result.catch(() => undefined);
    },
    ...options,
  });
  return result;
}

it('serves the queue that `everloop dev` noted for the folder, as `connect` uses it', async () => {
  const noted = await folderQueue(dataDir);

  const step = await during(
    { server: { port: 'free', path: '', cliDir: CLI_FOLDER } },
    async (address, taskQueue) => {
      expect([taskQueue, await queueOf({ dataDir }, {})]).toEqual([noted, noted]);
      const everloop = await connect({ address, taskQueue, dataDir, env: {} });
      try {
        const lines: string[] = [];
        expect(await listAgents(everloop, (line) => lines.push(line))).toBe(true);
        expect(lines).toEqual([`clerk on ${noted}: 0 tools ask, 1 workers`]);
        const run = await everloop.start('clerk', { task: 'Do we have tea?' });
        const step = await run.result();
        const { agents } = await everloop.agents();
        const polling = (await everloop.workers()).map(({ identity }) => identity);
        expect(agents.map(({ workers }) => workers)).toEqual([polling]);
        return step;
      } finally {
        await everloop.close();
      }
    },
  );

  expect(step).toMatchObject({ status: 'success', value: 'Yes.' });
});

it('serves the queue `everloop` of a server that is named', async () => {
  const { address, namespace } = inject('temporal');
  const env = { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace };

  expect(await during({ env }, async (_address, taskQueue) => taskQueue)).toBe('everloop');
});
