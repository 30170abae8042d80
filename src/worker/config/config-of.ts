/** The configuration of the environment, overridden by options. Loads no native code. */
import { defined } from '../../core/base/defined.ts';
import type { ConnectionOptions } from '@temporalio/client';
import type { Environment } from '../../client/connection/temporal-environment.ts';
import {
  checkedVersion,
  DEFAULT_DEPLOYMENT,
  type WorkerVersion,
} from '../../versioning/worker-version.ts';
import type { TelemetryOptions } from '../../telemetry/options.ts';
import { usageErrorOf, type UsageProblem } from '../../core/base/usage-error.ts';
import { protectionOf, type ProtectionOptions } from '../../protection/protection.ts';
import { secretValues, type SecretValues } from '../../protection/secret-values.ts';
import { readConfig, type WorkerConfig } from './config.ts';

/** Options that override the environment. */
export interface ConfigOverrides extends Partial<
  Omit<
    WorkerConfig,
    'temporal' | 'version' | 'telemetry' | 'protection' | 'secrets' | 'archiveKeepMs'
  >
> {
  /**
   * Traces and metrics: see docs/observability.md. `true`: traces as the `OTEL_…` variables say.
   * Default: as the environment says, which is off.
   */
  readonly telemetry?: TelemetryOptions | boolean;
  /** Host and port of the service; default `TEMPORAL_ADDRESS`, else a server on this machine. */
  readonly address?: string;
  readonly namespace?: string;
  /** TLS, API key and metadata; override those of the environment. */
  readonly connection?: ConnectionOptions;
  /**
   * The version that this worker is part of: see docs/deployments.md. Default: `EVERLOOP_BUILD_ID`
   * of the deployment `EVERLOOP_DEPLOYMENT`, else none. `null`: none, whatever the environment says.
   */
  readonly deployment?: DeploymentOption | null;
  /**
   * Keys that encrypt what runs hold, the same for all clients and workers of a namespace. Default:
   * the keys of `EVERLOOP_KEYS` or `EVERLOOP_KEYS_FILE`, else none.
   */
  readonly protection?: ProtectionOptions;
  /**
   * Names of environment variables whose values stand as `[redacted]` in what leaves this worker:
   * failures, results of tools, their events, log and spans. Each has 8 to 8,192 characters. Default:
   * the names of `EVERLOOP_SECRETS`, else none.
   */
  readonly secrets?: readonly string[];
  /** Default `process.env`. */
  readonly env?: Environment;
}

/** A build, and the deployment that it is of; default `EVERLOOP_DEPLOYMENT`, else `everloop`. */
export type DeploymentOption = Pick<WorkerVersion, 'build'> & Partial<WorkerVersion>;

/** The configuration of the environment, overridden by `options`. */
export function configOf(options: ConfigOverrides): WorkerConfig {
  const config = readConfig(options.env ?? process.env, undefined, options.telemetry);
  const taskQueue = options.taskQueue ?? config.taskQueue;
  // A queue that the environment does not name follows the task queue.
  const follow = (queue: string): string => (queue === config.taskQueue ? taskQueue : queue);
  const { temporal } = config;
  return defined({
    temporal: defined({
      namespace: options.namespace ?? temporal.namespace,
      connection: { ...temporal.connection, ...options.connection },
      address: options.address ?? temporal.address,
    }),
    taskQueue,
    modelTaskQueue: options.modelTaskQueue ?? follow(config.modelTaskQueue),
    toolTaskQueue: options.toolTaskQueue ?? follow(config.toolTaskQueue),
    dataDir: options.dataDir ?? config.dataDir,
    cacheBytes: options.cacheBytes ?? config.cacheBytes,
    shutdownGraceMs: options.shutdownGraceMs ?? config.shutdownGraceMs,
    logLevel: options.logLevel ?? config.logLevel,
    logFormat: options.logFormat ?? config.logFormat,
    telemetry: config.telemetry,
    elsewhereMs: options.elsewhereMs ?? config.elsewhereMs,
    maxCachedWorkflows: options.maxCachedWorkflows ?? config.maxCachedWorkflows,
    streamListen: options.streamListen ?? config.streamListen,
    streamToken: options.streamToken ?? config.streamToken,
    streamTls: options.streamTls ?? config.streamTls,
    holdPatches: options.holdPatches ?? config.holdPatches,
    gc: options.gc ?? config.gc,
    codecToken: options.codecToken ?? config.codecToken,
    mcpToken: config.mcpToken,
    archiveKeepMs: config.archiveKeepMs,
    callbackSecrets: options.callbackSecrets ?? config.callbackSecrets,
    callbackHosts: options.callbackHosts ?? config.callbackHosts,
    mediaHosts: options.mediaHosts ?? config.mediaHosts,
    version: versionOf(options, config),
    secrets: secretsOf(options) ?? config.secrets,
    protection:
      options.protection === undefined
        ? config.protection
        : protectionOf(options.protection, config.protection),
  });
}

function secretsOf({ secrets, env = process.env }: ConfigOverrides): SecretValues | undefined {
  if (secrets === undefined) return undefined;
  const problems: UsageProblem[] = [];
  const found = secretValues(secrets, env, (message) =>
    problems.push({ code: 'environment', message }),
  );
  if (problems.length > 0) throw usageErrorOf(problems);
  return found;
}

function versionOf(
  { deployment, env = process.env }: ConfigOverrides,
  { version }: WorkerConfig,
): WorkerVersion | undefined {
  if (deployment === undefined) return version;
  if (deployment === null) return undefined;
  const name = deployment.name ?? (env['EVERLOOP_DEPLOYMENT']?.trim() || DEFAULT_DEPLOYMENT);
  return checkedVersion({ ...deployment, name });
}
