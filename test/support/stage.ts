/**
 * A stage for end-to-end tests: clients and workers on one server, each on a task queue of its own,
 * and the histories of what ran. Everything that was opened is closed by `close`, in order.
 */
import { Client } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import {
  createEverloop,
  type Everloop,
  type EverloopParts,
} from '../../src/client/everloop-client.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { createChunkBus, type ChunkBus } from '../../src/worker/streaming/chunk-bus.ts';
import { createWorker, type WorkerParts } from '../../src/worker/serve/create-worker.ts';
import { clientOf, openConnection } from '../../src/client/connection/open-connection.ts';
import type { Protection } from '../../src/protection/protection.ts';
import { createDirectoryArchive } from '../../src/worker/files/directory-archive.ts';
import { installRuntime } from '../../src/worker/serve/install-runtime.ts';
import { bundleFolder, shareBundle } from './bundles.ts';
import { withHiddenValue } from './hidden-values.ts';
import { replayChain, type ReplayOptions } from './replay.ts';
import { handoverAfter, startTestServer } from './test-server.ts';

/** What a test's worker is made of beside its agents. */
export type ServeOptions = Partial<WorkerParts> & {
  /** Without the archive a client reads earlier links by queries alone. */
  readonly readArchive?: boolean;
};

/** A worker in this process, and a client of its task queue. */
export interface Served {
  readonly everloop: Everloop;
  readonly taskQueue: string;
  readonly chunks: ChunkBus;
  /** Folder of the archive. */
  readonly archiveDir: string;
  /** Stops the worker; called by the stage for those that still run. */
  readonly stop: () => Promise<void>;
}

/** Everything that an end-to-end test stands on. */
export interface Stage {
  readonly address: string;
  readonly namespace: string;
  readonly client: Client;
  readonly connection: NativeConnection;
  /** For files of the test; removed at the end. As a data folder it has the bundle of the run. */
  readonly folder: string;
  /** Starts a worker for `agents` in this process. */
  readonly serve: (agents: readonly AgentDefinition[], options?: ServeOptions) => Promise<Served>;
  /** A client of `taskQueue`, for workers that run elsewhere. */
  everloopOf(taskQueue: string, archiveDir?: string, protection?: Protection): Everloop;
  /** Replays all links of a run with today's workflow code; rejects when they do not fit. */
  replay(run: RunHandle, options?: ReplayOptions): Promise<void>;
  close(): Promise<void>;
}

/**
 * Heartbeats as on the embedded server, and a short grace: a test's worker has nothing to lose. What
 * a worker lacks is nowhere, unless a test has several.
 */
const TEST_WORKER = { heartbeatMs: 3_000, shutdownGraceMs: 500, elsewhereMs: 0 } as const;

/** A client whose runs are all given what no model may see; the end of the suite looks for it. */
function hiding(parts: EverloopParts): Everloop {
  const everloop = createEverloop(parts);
  return {
    ...everloop,
    start: (agent, options) => {
      return everloop.start(agent, { ...options, context: withHiddenValue(options.context) });
    },
  };
}

/**
 * Opens a stage on a server of its own, which wants a hand-over after so many events; `close` also stops
 * the server.
 */
export async function openHandoverStage(events: number): Promise<Stage> {
  const server = await startTestServer({ dynamicConfig: handoverAfter(events) });
  const stage = await openStage(server);
  return {
    ...stage,
    close: async () => {
      await stage.close();
      await server.stop();
    },
  };
}

/** Opens a stage on a server that runs. */
export async function openStage(server: {
  readonly address: string;
  readonly namespace: string;
}): Promise<Stage> {
  installRuntime({ logLevel: 'ERROR' });
  const { address, namespace } = server;
  const folder = await mkdtemp(join(tmpdir(), 'everloop-e2e-'));
  await shareBundle(folder);
  const connection = await NativeConnection.connect({ address });
  // A call that is repeated while it closes must not end the process of the test.
  // Histories with large payloads come in pages that are larger than a client takes by default.
  const channelArgs = { 'grpc.max_receive_message_length': 134_217_728 };
  const opened = await openConnection({ address, channelArgs });
  const client = new Client({ connection: opened.connection, namespace });
  const clientWith = (protection: Protection | undefined): Client =>
    protection === undefined ? client : clientOf(opened.connection, namespace, protection);
  const stops: (() => Promise<void>)[] = [];
  const everloopOf: Stage['everloopOf'] = (taskQueue, archiveDir, protection) =>
    hiding({
      client: clientWith(protection),
      taskQueue,
      ...(archiveDir === undefined
        ? {}
        : { archive: createDirectoryArchive(archiveDir, protection) }),
    });
  return {
    address,
    namespace,
    client,
    connection,
    folder,
    everloopOf,
    serve: async (agents, { readArchive = true, ...parts } = {}) => {
      const taskQueue = parts.taskQueue ?? `e2e-${randomUUID()}`;
      const archiveDir = join(folder, `archive-${randomUUID()}`);
      const archive = createDirectoryArchive(archiveDir);
      const chunks = createChunkBus();
      const worker = await createWorker({
        connection,
        namespace,
        agents,
        archive,
        chunks,
        bundleDir: await bundleFolder(parts.workflowsPath),
        ...TEST_WORKER,
        ...parts,
        taskQueue,
      });
      // Looked at when the stage closes; until then a failure must not end the process.
      const running = worker.run();
      running.catch(() => undefined);
      let stopping: Promise<void> | null = null;
      const stop = (): Promise<void> => {
        if (stopping === null) {
          worker.shutdown();
          stopping = running;
        }
        return stopping;
      };
      stops.push(stop);
      const everloop = hiding({
        client: clientWith(parts.protection),
        taskQueue,
        chunks,
        ...(readArchive ? { archive } : {}),
      });
      return { everloop, taskQueue, chunks, archiveDir, stop };
    },
    replay: (run, options) => replayChain(client, run.id, options),
    close: async () => {
      const ends = await Promise.allSettled(stops.map((stop) => stop()));
      await opened.close();
      await connection.close();
      await rm(folder, { recursive: true, force: true });
      for (const end of ends) if (end.status === 'rejected') throw end.reason;
    },
  };
}
