/** The environment's configuration with the options of a call above it. Loads no native code. */
import { join } from 'node:path';
import type { ConnectionOptions } from '@temporalio/client';
import type { Environment } from '../../client/temporal-environment.ts';
import { readConfig, type WorkerConfig } from './config.ts';

/** What stands in an options object above the environment. */
export interface ConfigOverrides extends Partial<Omit<WorkerConfig, 'temporal'>> {
  /** Host and port of the service; default `TEMPORAL_ADDRESS`, else a server of this machine. */
  readonly address?: string;
  readonly namespace?: string;
  /** TLS, API key, metadata, on top of those of the environment. */
  readonly connection?: ConnectionOptions;
  /** Default `process.env`. */
  readonly env?: Environment;
}

/** Where pages are kept that the service forgets. */
export function archiveDirOf(dataDir: string): string {
  return join(dataDir, 'archive');
}

/** The environment's configuration, with what `options` say above it. */
export function configOf(options: ConfigOverrides): WorkerConfig {
  const config = readConfig(options.env ?? process.env);
  const { address = config.temporal.address } = options;
  const taskQueue = options.taskQueue ?? config.taskQueue;
  // A queue that the environment did not name follows the task queue.
  const follow = (queue: string): string => (queue === config.taskQueue ? taskQueue : queue);
  const maxCachedWorkflows = options.maxCachedWorkflows ?? config.maxCachedWorkflows;
  const streamListen = options.streamListen ?? config.streamListen;
  const streamToken = options.streamToken ?? config.streamToken;
  return {
    temporal: {
      namespace: options.namespace ?? config.temporal.namespace,
      connection: { ...config.temporal.connection, ...options.connection },
      ...(address === undefined ? {} : { address }),
    },
    taskQueue,
    modelTaskQueue: options.modelTaskQueue ?? follow(config.modelTaskQueue),
    toolTaskQueue: options.toolTaskQueue ?? follow(config.toolTaskQueue),
    dataDir: options.dataDir ?? config.dataDir,
    cacheBytes: options.cacheBytes ?? config.cacheBytes,
    shutdownGraceMs: options.shutdownGraceMs ?? config.shutdownGraceMs,
    logLevel: options.logLevel ?? config.logLevel,
    ...(maxCachedWorkflows === undefined ? {} : { maxCachedWorkflows }),
    ...(streamListen === undefined ? {} : { streamListen }),
    ...(streamToken === undefined ? {} : { streamToken }),
  };
}
