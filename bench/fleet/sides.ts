/** The two sides of the benchmark `fleet`, each with a server, a worker process and a client. */
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { LOCAL_HEARTBEAT_MS } from '../../src/worker/serve/serve.ts';
import { cliFolder } from '../../src/worker/server/cli-folder.ts';
import {
  BARE_QUEUE,
  FLEET_AGENT,
  fleetTask,
  TURN_MS,
  type ProviderCounts,
  type ProviderQuestion,
  type WorkerOrder,
  type WorkerQuestion,
  type WorkerReadyNote,
  type WorkerUsed,
} from './orders.ts';
import { cpuMsOf, startAsked, type Asked } from './processes.ts';

/** What is measured, and how. */
export interface FleetSetup {
  readonly provider: Asked;
  /** The checkout whose worker and client run. */
  readonly root: string;
  readonly isUnread: boolean;
}

/** A side that is ready. */
export interface Side {
  /** Starts run `id` and settles when it has ended. */
  readonly run: (id: string) => Promise<void>;
  readonly worker: Asked;
  readonly serverPid: number;
  readonly close: () => Promise<void>;
}

/** Agents on the worker of a checkout, each with a reader unless they are unread. */
export async function openAgents(setup: FleetSetup): Promise<Side> {
  return withWorker('worker.ts', setup, async ({ address }, dataDir) => {
    const index = pathToFileURL(join(setup.root, 'src/index.ts')).href;
    const { connect } = (await import(index)) as typeof import('../../src/index.ts');
    const everloop = await connect({ address, dataDir, env: {} });
    const run = async (id: string): Promise<void> => {
      const handle = await everloop.start(FLEET_AGENT, {
        task: fleetTask(id),
        limits: 'unlimited',
      });
      if (!setup.isUnread) void drained(handle.stream());
      const { status, message } = await handle.result();
      if (status !== 'success') throw new Error(`Expected an answer, got ${status}: ${message}`);
    };
    return { run, close: () => everloop.close() };
  });
}

/** Bare workflows that call the same provider by `streamText`. */
export async function openBare(setup: FleetSetup): Promise<Side> {
  return withWorker('bare-worker.ts', setup, async ({ address }) => {
    const connection = await Connection.connect({ address });
    const { workflow } = new Client({ connection });
    const run = async (id: string): Promise<void> => {
      const args = [fleetTask(id), LOCAL_HEARTBEAT_MS];
      await workflow.execute('bareChat', { workflowId: id, taskQueue: BARE_QUEUE, args });
    };
    return { run, close: () => connection.close() };
  });
}

async function drained(pieces: AsyncIterable<unknown>): Promise<void> {
  try {
    for await (const _ of pieces);
  } catch {
    // A reader that breaks off changes nothing for its run.
  }
}

async function withWorker(
  file: string,
  { root, provider, isUnread }: FleetSetup,
  open: (ready: WorkerReadyNote, dataDir: string) => Promise<Pick<Side, 'run' | 'close'>>,
): Promise<Side> {
  const dataDir = await mkdtemp(join(tmpdir(), 'everloop-fleet-'));
  const cliDir = await cliFolder('.everloop');
  // Bundles are built once for all runs of a checkout.
  const bundles = join(root, '.everloop/bundles');
  await mkdir(bundles, { recursive: true });
  await symlink(bundles, join(dataDir, 'cache'));
  const providerUrl = provider.first as string;
  const order: WorkerOrder = { root, dataDir, cliDir, providerUrl, isUnread };
  const worker = await startAsked(file, order);
  const ready = worker.first as WorkerReadyNote;
  const { run, close } = await open(ready, dataDir);
  return {
    run,
    worker,
    serverPid: ready.serverPid,
    close: async () => {
      await close();
      // Its server ends with it.
      await worker.stop();
      await rm(dataDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
}

/** What was measured while `runs` runs were busy. */
export interface Load {
  readonly turnsPerS: number;
  readonly overheadsMs: readonly number[];
  readonly requests: number;
  readonly repeated: number;
  readonly cpuMsWorker: number;
  readonly cpuMsServer: number;
  readonly cpuMsProvider: number;
  readonly rssMb: number;
}

/** How long a load settles before it is measured, and is measured, in ms. */
export interface LoadTimes {
  readonly settleMs: number;
  readonly measureMs: number;
}

/** Runs that make turns until they were measured; then the provider ends them. */
export async function loadWith(
  side: Side,
  provider: Asked,
  runs: number,
  { settleMs, measureMs }: LoadTimes,
): Promise<Load> {
  const tell = (question: ProviderQuestion): Promise<unknown> => provider.ask(question);
  await tell('fill');
  await tell('measure');
  const name = `${runs}-${Date.now()}`;
  const started = async (index: number): Promise<void> => {
    // Spread over a turn: users do not begin in step, and a pace without chance would keep them so.
    await sleep((index * TURN_MS) / runs);
    await side.run(`${name}-${index}`);
  };
  const all = Promise.all(Array.from({ length: runs }, (_, index) => started(index)));
  // Awaited below; a failure ends the benchmark there.
  all.catch(() => undefined);
  await sleep(settleMs);
  const settled = await provider.ask<ProviderCounts>('counts');
  await tell('measure');
  const before = await usedBy(side);
  await sleep(measureMs);
  const after = await usedBy(side);
  const counts = await provider.ask<ProviderCounts>('counts');
  await tell('measure');
  await tell('drain');
  await all;
  const drainedCounts = await provider.ask<ProviderCounts>('counts');
  const { requests, ms, overheadsMs, cpuMs } = counts;
  const each = (total: number): number => total / Math.max(1, requests);
  const parts = [settled, counts, drainedCounts];
  return {
    turnsPerS: (requests * 1_000) / ms,
    overheadsMs,
    requests: parts.reduce((sum, part) => sum + part.requests, 0),
    repeated: parts.reduce((sum, part) => sum + part.repeated, 0),
    cpuMsWorker: each(after.worker.cpuMs - before.worker.cpuMs),
    cpuMsServer: each(after.serverMs - before.serverMs),
    cpuMsProvider: each(cpuMs),
    rssMb: after.worker.rssMb,
  };
}

async function usedBy({ worker, serverPid }: Side): Promise<{
  readonly worker: WorkerUsed;
  readonly serverMs: number;
}> {
  const question: WorkerQuestion = 'used';
  return { worker: await worker.ask<WorkerUsed>(question), serverMs: await cpuMsOf(serverPid) };
}
