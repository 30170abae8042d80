/**
 * A worker of Temporal for one of the two loops, with the pollers of Everloop's worker, and more
 * slots than the benchmark has calls at once.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Context } from '@temporalio/activity';
import { Client, Connection } from '@temporalio/client';
import {
  bundleWorkflowCode,
  NativeConnection,
  Runtime,
  DefaultLogger,
  Worker,
} from '@temporalio/worker';
import type { WorkerPlugin, BundlerPlugin } from '@temporalio/worker';
import type { Places } from '../../side.ts';
import { askModel, readPart } from '../../work.ts';
import type { Activities } from './loop.ts';

const BEAT_MS = 3_000;

/** What {@link startTemporal} takes. */
export interface TemporalOptions {
  readonly workflows: string;
  readonly taskQueue: string;
  readonly plugins?: readonly (WorkerPlugin & BundlerPlugin)[];
}

/** Starts a worker, and returns a client. The bundle of a code is made once, and kept. */
export async function startTemporal(
  { temporal = '' }: Places,
  { workflows, taskQueue, plugins = [] }: TemporalOptions,
): Promise<Client> {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const path = fileURLToPath(new URL(workflows, import.meta.url));
  const lockfile = fileURLToPath(new URL('../../package-lock.json', import.meta.url));
  const hash = createHash('sha256').update(readFileSync(path)).update(readFileSync(lockfile));
  const cache = join(dirname(lockfile), '.everloop');
  const file = join(cache, `${taskQueue}-${hash.digest('hex').slice(0, 16)}.js`);
  if (!existsSync(file)) {
    mkdirSync(cache, { recursive: true });
    const made = await bundleWorkflowCode({
      workflowsPath: path,
      plugins: [...plugins],
      logger: new DefaultLogger('ERROR'),
    });
    writeFileSync(file, made.code);
  }
  const worker = await Worker.create({
    connection: await NativeConnection.connect({ address: temporal }),
    taskQueue,
    workflowBundle: { code: readFileSync(file, 'utf8') },
    activities,
    plugins: [...plugins],
    maxConcurrentWorkflowTaskExecutions: 100,
    maxConcurrentActivityTaskExecutions: 200,
    workflowTaskPollerBehavior: { type: 'autoscaling', initial: 5, minimum: 1, maximum: 100 },
    activityTaskPollerBehavior: { type: 'autoscaling', initial: 5, minimum: 1, maximum: 100 },
  });
  worker.run().catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
  return new Client({ connection: await Connection.connect({ address: temporal }) });
}

const activities: Activities = {
  askModel: (order, turn) => withBeats(() => askModel(order, turn)),
  readPart: (args) => withBeats(() => readPart(args)),
};

/** Heartbeats, so that a lost worker is noticed after ten seconds and not after a minute. */
async function withBeats<T>(run: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => Context.current().heartbeat(), BEAT_MS);
  try {
    return await run();
  } finally {
    clearInterval(timer);
  }
}
