/**
 * `everloop/worker`: serves agents, for worker processes and scripts on Node. Workflow code must
 * not import it, and applications that only start runs should import `everloop`.
 */
import './client/connection/require-node.ts';

export type { Archive, ArchivedLink, ArchivedList } from './activities/archive-transcript.ts';
export { createRegistry, type RegistryOptions } from './registry/registry.ts';
export type { CallbackSettings } from './callbacks/deliver.ts';
export type { RegisteredAgent, Registry } from './define/definition/definitions.ts';
export type { ChunkPublisher } from './core/streaming/chunk-stream.ts';
export {
  loadWorkflowBundle,
  type LoadedBundle,
  type WorkflowBundleOptions,
} from './worker/bundle/bundle.ts';
export { WORKFLOWS_PATH } from './worker/bundle/bundle-paths.ts';
export { CHUNK_BUS_DEFAULTS, createChunkBus, type ChunkBus } from './worker/streaming/chunk-bus.ts';
export {
  openChunkEndpoint,
  type ChunkEndpoint,
  type ChunkEndpointOptions,
} from './worker/streaming/chunk-endpoint.ts';
export type { StreamTls } from './worker/streaming/stream-tls.ts';
export type { StreamListen, StreamTlsFiles } from './worker/config/stream-settings.ts';
export type { ChunkSubscription } from './client/streaming/chunk-queue.ts';
export {
  CONFIG_DEFAULTS,
  LOG_FORMATS,
  LOG_LEVELS,
  readConfig,
  type LogFormat,
  type LogLevel,
  type WorkerConfig,
} from './worker/config/config.ts';
export {
  createWorker,
  WORKER_DEFAULTS,
  type EverloopWorker,
  type WorkerParts,
  type WorkerRole,
} from './worker/serve/create-worker.ts';
export {
  codecHandler,
  type CodecAccess,
  type CodecHandlerOptions,
} from './codec-server/codec-handler.ts';
export { openReader } from './worker/reading/open-reader.ts';
export { createDirectoryArchive } from './worker/files/directory-archive.ts';
export {
  EMBEDDED_SERVER_DEFAULTS,
  startOrFindServer,
  type EmbeddedServer,
  type EmbeddedServerOptions,
} from './worker/server/embedded-server.ts';
export { eventLine } from './worker/serve/event-line.ts';
export { local, type LocalEverloop, type LocalOptions } from './worker/serve/local.ts';
export type { ConfigOverrides, DeploymentOption } from './worker/config/config-of.ts';
export type { HeldPatches } from './worker/config/held-patches.ts';
export type { VersionReady } from './worker/serve/version-ready.ts';
export { PATCHES, type Patch } from './workflows/patches.ts';
export type { WorkerVersion } from './versioning/worker-version.ts';
export type { ArchiveOptions } from './worker/retention/archive-keep.ts';
export { runWorker, type RunWorkerOptions, type WorkerReady } from './worker/serve/run-worker.ts';
export { stopOnSignal, type ShutdownOptions, type SignalSource } from './worker/serve/shutdown.ts';
export { subscribe, type EventFilter } from './worker/serve/subscribe.ts';
export type { EventListener } from './worker/serve/worker-sinks.ts';
export type { EventPlace } from './core/contract/events.ts';
export type { TelemetryOptions, TraceOptions } from './telemetry/options.ts';
