/**
 * `everloop/worker`: what serves agents. For worker processes and scripts on Node; never for
 * workflow code, nor for an application that only starts runs (take `everloop` there).
 */
export type { Archive, ArchivedLink, ArchivedList } from './activities/archive-transcript.ts';
export { createRegistry, type RegistryOptions } from './registry/registry.ts';
export type { RegisteredAgent, Registry } from './define/definition/definitions.ts';
export type { ChunkPublisher } from './core/streaming/chunk-stream.ts';
export {
  loadWorkflowBundle,
  WORKFLOWS_PATH,
  type LoadedBundle,
  type WorkflowBundleOptions,
} from './worker/bundle.ts';
export { CHUNK_BUS_DEFAULTS, createChunkBus, type ChunkBus } from './worker/chunk-bus.ts';
export {
  openChunkEndpoint,
  type ChunkEndpoint,
  type ChunkEndpointOptions,
} from './worker/chunk-endpoint.ts';
export type { ChunkSubscription } from './client/chunk-queue.ts';
export {
  CONFIG_DEFAULTS,
  LOG_LEVELS,
  readConfig,
  type LogLevel,
  type WorkerConfig,
} from './worker/config.ts';
export {
  createWorker,
  WORKER_DEFAULTS,
  type EverloopWorker,
  type WorkerParts,
  type WorkerRole,
} from './worker/create-worker.ts';
export { createDirectoryArchive } from './worker/directory-archive.ts';
export {
  EMBEDDED_SERVER_DEFAULTS,
  startOrFindServer,
  type EmbeddedServer,
  type EmbeddedServerOptions,
} from './worker/embedded-server.ts';
export { eventLine } from './worker/event-line.ts';
export { local, type LocalEverloop, type LocalOptions } from './worker/local.ts';
export type { ConfigOverrides } from './worker/config-of.ts';
export { runWorker, type RunWorkerOptions, type WorkerReady } from './worker/run-worker.ts';
export { stopOnSignal, type ShutdownOptions, type SignalSource } from './worker/shutdown.ts';
export { subscribe, type EventFilter } from './worker/subscribe.ts';
export type { EventListener } from './worker/worker-sinks.ts';
