/**
 * A server, a connection and a worker that runs: what `runWorker` and `local` have in common. All of
 * it is handed to a {@link Cleanup}, in the order in which it must be stopped backwards.
 */
import { join } from 'node:path';
import { NativeConnection, Runtime } from '@temporalio/worker';
import type { Archive } from '../../activities/archive-transcript.ts';
import type { AgentDefinition } from '../../define/definition/definitions.ts';
import type { ModelEntry } from '../../define/model/model-entry.ts';
import { createRegistry } from '../../registry/registry.ts';
import type { ChunkPublisher } from '../../core/streaming/chunk-stream.ts';
import type { Cleanup } from '../config/cleanup.ts';
import type { WorkerConfig } from '../config/config.ts';
import { createWorker, WORKER_DEFAULTS, type WorkerRole } from './create-worker.ts';
import {
  startOrFindServer,
  type EmbeddedServer,
  type EmbeddedServerOptions,
} from '../server/embedded-server.ts';
import { installRuntime } from './install-runtime.ts';
import type { EventListener } from './worker-sinks.ts';

/** Shorter than elsewhere: on one machine a silent worker is a dead one, and a person is waiting. */
const EMBEDDED_HEARTBEAT_MS = 3_000;

/** What is served, and how. */
export interface ServeOptions {
  readonly config: WorkerConfig;
  readonly agents: readonly AgentDefinition[];
  readonly models: readonly ModelEntry[];
  readonly archive: Archive;
  readonly chunks: ChunkPublisher;
  readonly listeners: readonly EventListener[];
  /** Told of a listener that threw; the run never is. */
  readonly onListenerError: (error: unknown) => void;
  /** For a server that is looked for or started here. */
  readonly server?: EmbeddedServerOptions;
  readonly roles?: readonly WorkerRole[];
  /** Default: 3 s on a server of this machine, else 5 s. */
  readonly heartbeatMs?: number;
  /** Module that exports the workflow `agent` in place of Everloop's own. */
  readonly workflowsPath?: string;
}

/** A worker that serves. */
export interface Serving {
  readonly server: EmbeddedServer;
  /** Settles when the worker has stopped; rejects when it cannot go on. */
  readonly stopped: Promise<void>;
  /** Begins an ordered stop. */
  readonly shutdown: () => void;
}

/** Starts or finds the server and serves on it until `cleanup` runs. */
export async function serve(options: ServeOptions, cleanup: Cleanup): Promise<Serving> {
  const { config, roles, workflowsPath } = options;
  // What is wrong with the definitions is told before anything is started.
  createRegistry({ agents: options.agents, models: options.models });
  const server = await startOrFindServer(serverOptions(config, options.server));
  cleanup.add(server.stop);
  const { namespace } = server;
  const connection = await connectWorker(config, server.address);
  cleanup.add(() => connection.close());
  const { taskQueue, cacheBytes, maxCachedWorkflows, shutdownGraceMs } = config;
  const worker = await createWorker({
    connection,
    namespace,
    agents: options.agents,
    models: options.models,
    taskQueue,
    ...queueOf('modelQueue', config.modelTaskQueue, taskQueue),
    ...queueOf('toolQueue', config.toolTaskQueue, taskQueue),
    archive: options.archive,
    chunks: options.chunks,
    listeners: options.listeners,
    onListenerError: options.onListenerError,
    heartbeatMs: options.heartbeatMs ?? heartbeatOf(server),
    cacheBytes,
    shutdownGraceMs,
    bundleDir: join(config.dataDir, 'cache'),
    ...(roles === undefined ? {} : { roles }),
    ...(workflowsPath === undefined ? {} : { workflowsPath }),
    ...(maxCachedWorkflows === undefined ? {} : { maxCachedWorkflows }),
  });
  const stopped = worker.run();
  // Whoever waits for `stopped` learns of a failure; nobody has to for the process to go on.
  stopped.catch(() => undefined);
  cleanup.add(async () => {
    worker.shutdown();
    await stopped.catch(() => undefined);
  });
  return { server, stopped, shutdown: () => worker.shutdown() };
}

async function connectWorker(config: WorkerConfig, address: string): Promise<NativeConnection> {
  installRuntime(config.logLevel);
  try {
    return await NativeConnection.connect({ ...nativeOptions(config), address });
  } catch (error) {
    // A runtime that serves nobody would keep the process alive; connections and workers end it.
    await Runtime.instance().shutdown();
    throw error;
  }
}

function serverOptions(
  { temporal, dataDir }: WorkerConfig,
  options: EmbeddedServerOptions = {},
): EmbeddedServerOptions {
  const { address, namespace, connection } = temporal;
  return {
    dataDir,
    namespace,
    connection,
    ...options,
    ...(address === undefined ? {} : { address }),
  };
}

/** A worker's connection takes the same options as a client's, but for the client's own. */
function nativeOptions({ temporal }: WorkerConfig): Parameters<typeof NativeConnection.connect>[0] {
  const { tls, apiKey, metadata } = temporal.connection;
  return {
    ...(tls === undefined || tls === null ? {} : { tls }),
    ...(typeof apiKey === 'string' ? { apiKey } : {}),
    ...(metadata === undefined ? {} : { metadata: metadata as Record<string, string> }),
  };
}

/** A queue of its own only when it differs: activities without one stay beside their workflow. */
function queueOf(
  name: 'modelQueue' | 'toolQueue',
  queue: string,
  taskQueue: string,
): { readonly [key: string]: string } {
  return queue === taskQueue ? {} : { [name]: queue };
}

function heartbeatOf(server: EmbeddedServer): number {
  return server.origin === 'address' ? WORKER_DEFAULTS.heartbeatMs : EMBEDDED_HEARTBEAT_MS;
}
