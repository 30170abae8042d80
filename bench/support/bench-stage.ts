/** A stage for benchmarks: its own server, a connection, and workers that it stops again. */
import './quiet.ts';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import { clientOf } from '../../src/client/connection/open-connection.ts';
import { createEverloop, type Everloop } from '../../src/client/everloop-client.ts';
import { defined } from '../../src/core/base/defined.ts';
import { createChunkBus } from '../../src/worker/streaming/chunk-bus.ts';
import {
  createWorker,
  type EverloopWorker,
  type WorkerParts,
} from '../../src/worker/serve/create-worker.ts';
import { nativeOptions } from '../../src/worker/serve/native-options.ts';
import { cliFolder } from '../../src/worker/server/cli-folder.ts';
import { createDirectoryArchive } from '../../src/worker/files/directory-archive.ts';
import {
  startOrFindServer,
  type EmbeddedServerOptions,
} from '../../src/worker/server/embedded-server.ts';

/** Everything that a benchmark needs. */
export interface Stage {
  /** An empty folder, which the stage removes at its end. */
  readonly folder: string;
  readonly address: string;
  readonly client: Client;
  /** The connection of workers, as `runWorker` makes it. */
  readonly connection: NativeConnection;
  /** Starts a worker for `agents`; the stage stops it at its end. */
  serve(
    agents: readonly AgentDefinition[],
    options?: Partial<WorkerParts>,
  ): Promise<{ readonly everloop: Everloop; readonly stop: () => Promise<void> }>;
}

/**
 * Does `work` on a stage, which it closes then. `dynamicConfig` overrides the settings of the server;
 * null leaves one to the server. At `metricsPort` the server serves its metrics.
 */
export async function withStage<Result>(
  work: (stage: Stage) => Promise<Result>,
  dynamicConfig: NonNullable<EmbeddedServerOptions['dynamicConfig']> = {},
  metricsPort?: number,
): Promise<Result> {
  const stage = await openStage(dynamicConfig, metricsPort);
  try {
    return await work(stage);
  } finally {
    await stage.close();
  }
}

/** Opens a stage on a free port with a database file of its own. */
async function openStage(
  dynamicConfig: NonNullable<EmbeddedServerOptions['dynamicConfig']>,
  metricsPort: number | undefined,
): Promise<Stage & { close(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'everloop-bench-'));
  const server = await startOrFindServer({
    dataDir: folder,
    cliDir: await cliFolder('.everloop'),
    port: 'free',
    dynamicConfig,
    ...defined({ metricsPort }),
  });
  const { address } = server;
  const connection = await NativeConnection.connect(nativeOptions(address));
  const client = new Client({ connection: await Connection.connect({ address }) });
  const stops: (() => Promise<void>)[] = [];
  return {
    folder,
    address,
    client,
    connection,
    serve: async (agents, options = {}) => {
      const taskQueue = options.taskQueue ?? `bench-${stops.length}`;
      const worker = await createWorker({
        connection,
        namespace: 'default',
        agents,
        archive: createDirectoryArchive(join(folder, 'archive')),
        chunks: createChunkBus(),
        bundleDir: '.everloop/bundles',
        heartbeatMs: 5_000,
        ...options,
        taskQueue,
      });
      const stop = runUntilStopped(worker);
      stops.push(stop);
      const { protection } = options;
      const own =
        protection === undefined ? client : clientOf(client.connection, 'default', protection);
      return { everloop: createEverloop({ client: own, taskQueue }), stop };
    },
    close: async () => {
      for (const stop of stops) await stop();
      await client.connection.close();
      await connection.close();
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function runUntilStopped(worker: EverloopWorker): () => Promise<void> {
  const running = worker.run();
  let stopped = false;
  return async () => {
    if (!stopped) worker.shutdown();
    stopped = true;
    await running;
  };
}
