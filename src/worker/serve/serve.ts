/**
 * Starts a server, a connection and a worker: the common part of `runWorker` and `local`.
 * Everything is added to a {@link Cleanup}, which stops it in reverse order.
 */
import { join } from 'node:path';
import { NativeConnection, Runtime } from '@temporalio/worker';
import type { Archive } from '../../activities/archive-transcript.ts';
import { checkPackages } from '../../registry/provider-packages.ts';
import { loadKnownModels } from '../../registry/known-prices.ts';
import { createRegistry } from '../../registry/registry.ts';
import { keylessModels, type KeylessModel } from '../../registry/required-keys.ts';
import { clientOf } from '../../client/connection/open-connection.ts';
import { defined } from '../../core/base/defined.ts';
import { errorText } from '../../core/base/error-text.ts';
import type { ChunkPublisher } from '../../core/streaming/chunk-stream.ts';
import { HIDE_NOTHING, type HideText } from '../../core/text/hide.ts';
import type { Cleanup } from '../config/cleanup.ts';
import { archiveDirOf } from '../../client/reading/archive-reader.ts';
import type { WorkerConfig } from '../config/config.ts';
import { collectHourly, type HourlyCollection } from '../retention/collect-hourly.ts';
import { workerLog } from './worker-log.ts';
import {
  createWorker,
  WORKER_DEFAULTS,
  type WorkerParts,
  type WorkParts,
} from './create-worker.ts';
import { checkMetricsPort, installRuntime } from './install-runtime.ts';
import { isOnThisMachine, nativeOptions } from './native-options.ts';
import { requireKeys } from './require-keys.ts';
import { readVersion, type VersionReady } from './version-ready.ts';
import {
  startOrFindServer,
  type EmbeddedServer,
  type EmbeddedServerOptions,
} from '../server/embedded-server.ts';

/** Shorter than elsewhere: on one machine a silent worker is dead, and a person is waiting. */
export const LOCAL_HEARTBEAT_MS = 4_000;

/** What a process serves: the options that `runWorker` and `local` have in common. */
export interface ServedParts extends WorkParts {
  /** Options of a server on this machine, which is found or started. */
  readonly server?: EmbeddedServerOptions;
  /**
   * A worker without a heartbeat for this time counts as lost, in milliseconds; applies to runs that
   * begin on this worker. Default: 4,000 on a server of this machine, also if it is given by a
   * loopback address, else 15,000.
   */
  readonly heartbeatMs?: number;
}

/** What a process needs to serve. */
export interface ServeResources {
  readonly config: WorkerConfig;
  readonly archive: Archive;
  /** See `WorkerParts`. */
  readonly archivesStates?: boolean;
  readonly chunks: ChunkPublisher;
}

/** A running worker. */
export interface Serving {
  readonly server: EmbeddedServer;
  /** Settles when the worker has stopped; rejects when it fails. */
  readonly stopped: Promise<void>;
  /** The version that the worker is part of; absent: none. */
  readonly version?: VersionReady;
  /** Begins an ordered stop. */
  readonly shutdown: () => void;
}

/** Finds or starts the server, and serves on it until `cleanup` runs. */
export async function serve(
  parts: ServedParts,
  resources: ServeResources,
  cleanup: Cleanup,
): Promise<Serving> {
  const { agents, models = [], roles, agentsModule } = parts;
  const { config } = resources;
  const { protection, version } = config;
  // Report problems of the definitions before anything is started.
  const knownModels = await loadKnownModels();
  const registry = createRegistry(defined({ agents, models, agentsModule, knownModels }));
  const callsModels = roles === undefined || roles.includes('models');
  if (callsModels) checkPackages(registry);
  const { address, namespace, connection: toServer } = config.temporal;
  const server = await startOrFindServer({
    dataDir: config.dataDir,
    namespace,
    connection: toServer,
    ...parts.server,
    ...defined({ address }),
  });
  cleanup.add(server.stop);
  const connection = await connectWorker(config, server.address);
  cleanup.add(() => connection.close());
  await requireKeys(connection, server.namespace, protection);
  const worker = await createWorker(workerPartsOf(parts, resources, { server, connection }));
  const collected = collectedBy(config);
  if (collected !== undefined) {
    const client = clientOf(connection, server.namespace, protection);
    cleanup.add(collectHourly({ client, log: workerLog, ...collected }));
  }
  for (const name of config.secrets?.unset ?? []) workerLog('WARN', unsetText(name));
  const stopped = worker.run();
  // Callers that await `stopped` get its error; if none does, the process must not end for it.
  stopped.catch(() => undefined);
  cleanup.add(async () => {
    worker.shutdown();
    await stopped.catch(() => undefined);
  });
  const ready =
    version === undefined
      ? undefined
      : await readVersion(clientOf(connection, server.namespace), version);
  if (ready?.notice !== undefined) Runtime.instance().logger.info(ready.notice);
  const keyless = callsModels ? await keylessModels(registry) : [];
  for (const model of keyless) Runtime.instance().logger.warn(keyText(model));
  return defined({ server, stopped, version: ready, shutdown: () => worker.shutdown() });
}

/** What the worker is made of: what the process serves, and its configuration. */
function workerPartsOf(
  parts: ServedParts,
  { config, archive, archivesStates, chunks }: ServeResources,
  {
    server,
    connection,
  }: { readonly server: EmbeddedServer; readonly connection: NativeConnection },
): WorkerParts {
  const { taskQueue, modelTaskQueue, toolTaskQueue, dataDir } = config;
  const { cacheBytes, shutdownGraceMs, maxCachedWorkflows, elsewhereMs, mediaHosts } = config;
  const { version, holdPatches, callbackSecrets: secrets = [], callbackHosts: hosts } = config;
  const { protection, telemetry } = config;
  const {
    agents,
    models = [],
    listeners,
    workflowsPath,
    roles,
    isolatedCalls,
    agentsModule,
  } = parts;
  // Activities without a queue of their own stay on the worker of their workflow.
  const ownQueue = (queue: string): string | undefined => (queue === taskQueue ? undefined : queue);
  return defined({
    agents,
    listeners,
    workflowsPath,
    roles,
    isolatedCalls,
    agentsModule,
    connection,
    namespace: server.namespace,
    models,
    taskQueue,
    modelQueue: ownQueue(modelTaskQueue),
    toolQueue: ownQueue(toolTaskQueue),
    archive,
    ...defined({ archivesStates }),
    chunks,
    onListenerError: warnOfListener(config.secrets?.hide),
    heartbeatMs: parts.heartbeatMs ?? heartbeatOf(server),
    elsewhereMs,
    cacheBytes,
    shutdownGraceMs,
    bundleDir: join(dataDir, 'cache'),
    maxCachedWorkflows,
    version,
    holdPatches,
    callbacks: { secrets, ...defined({ hosts }) },
    mediaHosts,
    telemetry,
    protection,
    hide: config.secrets?.hide,
  });
}

function unsetText(name: string): string {
  return `Secret ${name} is not set, so nothing of it is hidden. Set it in the environment of this worker, or take it out of \`secrets\`.`;
}

/** What a worker deletes each hour; undefined: nothing. */
function collectedBy({
  gc = true,
  protection,
  archiveKeepMs: keepMs,
  dataDir,
}: WorkerConfig): Pick<HourlyCollection, 'store' | 'archive' | 'forksIn'> | undefined {
  if (!gc || (protection?.blobs === undefined && keepMs === undefined)) return undefined;
  const directory = archiveDirOf(dataDir);
  return defined({
    store: protection?.blobs,
    archive: keepMs === undefined ? undefined : { directory, keepMs },
    forksIn: directory,
  });
}

function keyText({ id, variable }: KeylessModel): string {
  return `Model ${id} has no key: ${variable} is not set. Set it in the environment of this worker.`;
}

async function connectWorker(config: WorkerConfig, address: string): Promise<NativeConnection> {
  const { logLevel, logFormat, telemetry } = config;
  await checkMetricsPort(telemetry.metrics);
  const hidesFailures = config.protection?.keys !== undefined;
  const { metrics } = telemetry;
  const hide = config.secrets?.hide;
  installRuntime({ logLevel, logFormat, hidesFailures, ...defined({ metrics, hide }) });
  try {
    return await NativeConnection.connect(nativeOptions(address, config.temporal.connection));
  } catch (error) {
    // The last connection or worker to close ends the runtime. There is none, so end it here;
    // otherwise it would keep the process alive.
    await Runtime.instance().shutdown();
    throw error;
  }
}

/** The heartbeat time-out that a worker has if its options say nothing. */
export function heartbeatOf({
  origin,
  address,
}: Pick<EmbeddedServer, 'origin' | 'address'>): number {
  const isHere = origin !== 'address' || isOnThisMachine(address);
  return isHere ? LOCAL_HEARTBEAT_MS : WORKER_DEFAULTS.heartbeatMs;
}

/** An error of a listener becomes a warning, and does not affect the run. */
function warnOfListener(hide: HideText = HIDE_NOTHING): (error: unknown) => void {
  return (error) => {
    const text = hide(errorText(error));
    process.emitWarning(`An event listener threw: ${text}`, 'EverloopWarning');
  };
}
