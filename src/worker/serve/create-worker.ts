/**
 * Creates the Temporal workers of a process, one for each task queue that it serves, with their
 * registry, cache, activities and sinks.
 */
import {
  Worker,
  type NativeConnection,
  type PatchActivationCallback,
  type WorkerDeploymentOptions,
  type WorkerOptions,
} from '@temporalio/worker';
import type { Client } from '@temporalio/client';
import type { Archive } from '../../activities/archive-transcript.ts';
import type { StateSource } from '../../activities/load-fork.ts';
import { createActivities } from '../../activities/create-activities.ts';
import { createHeardCancels } from '../../activities/heard-cancels.ts';
import type { CallbackSettings } from '../../callbacks/deliver.ts';
import type { AgentDefinition } from '../../define/definition/definitions.ts';
import type { McpTools } from '../../define/mcp/mcp-tools.ts';
import type { ModelEntry } from '../../define/model/model-entry.ts';
import { clientOf } from '../../client/connection/open-connection.ts';
import { DEFAULT_TASK_QUEUE } from '../../client/everloop-client.ts';
import { defined } from '../../core/base/defined.ts';
import { isOwnEvent } from '../../core/contract/events.ts';
import { NO_EXTENSIONS, type Extensions } from '../../core/extension/store.ts';
import { HIDE_NOTHING, type HideText } from '../../core/text/hide.ts';
import type { ChunkPublisher } from '../../core/streaming/chunk-stream.ts';
import { publishTopic } from '../../core/streaming/topic-stream.ts';
import type { ActivityRuntime } from '../../activities/activity-types.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import { loadWorkflowBundle, type LoadedBundle } from '../bundle/bundle.ts';
import { markOf } from '../bundle/bundle-mark.ts';
import { bundleExtensions } from '../bundle/bundle-extensions.ts';
import { createToolPlaces } from '../../tools/isolate/tool-places.ts';
import { checkPackages } from '../../registry/provider-packages.ts';
import { missingPartWarnings } from '../../registry/missing-parts.ts';
import { loadKnownModels, unpricedWarnings } from '../../registry/known-prices.ts';
import { createRegistry } from '../../registry/registry.ts';
import { workerConverter } from '../../protection/data-converter.ts';
import type { UnreadError } from '../../protection/key-errors.ts';
import { NO_PROTECTION, type Protection } from '../../protection/protection.ts';
import { checkOwner } from '../retention/store-owner.ts';
import { createStateArchive } from '../states/archived-states.ts';
import { createReplayer } from '../states/replayer.ts';
import { createStateSource } from '../states/state-source.ts';
import { guardWorkflowThreads } from '../threads/guard-workflow-threads.ts';
import { identityOf } from './identity.ts';
import { openServers } from './open-servers.ts';
import { recordResults } from '../bundle/record-results.ts';
import { signalOverruns } from './signal-overruns.ts';
import { signalWaits } from './signal-waits.ts';
import type { WorkerVersion } from '../../versioning/worker-version.ts';
import { CONFIG_DEFAULTS } from '../config/config.ts';
import type { HeldPatches } from '../config/held-patches.ts';
import { openTelemetry } from '../../telemetry/open.ts';
import type { CheckedTelemetry } from '../../telemetry/options.ts';
import { createPacing } from '../tenants/pacing.ts';
import { createSlots } from './slots.ts';
import { telemetryParts } from './telemetry-parts.ts';
import { createTranscriptCache } from './transcript-cache.ts';
import { watchEncrypted } from './watch-encrypted.ts';
import { workerLog } from './worker-log.ts';
import { createSinks, type EventListener } from './worker-sinks.ts';

/** A kind of work that a process takes on. */
export type WorkerRole = 'workflows' | 'models' | 'tools';

/** Worker settings that no environment variable sets. */
export const WORKER_DEFAULTS = {
  /**
   * A worker that is silent for this long counts as dead. A shorter time needs more heartbeats, each
   * of which is an action on a bill; a longer one delays recovery.
   */
  heartbeatMs: 15_000,
  /** Long enough for a deploy, short enough that somebody still looks for the run. */
  elsewhereMs: 600_000,
  /** How long a run waits for its own worker before any other may take it; SDK default: 10 s. */
  stickyMs: 1_500,
  /**
   * The SDK sends a heartbeat at once unless it sent another within this time: then it waits. It is
   * shorter than the rhythm of activities, so that none of theirs waits. The SDK's default is 60 s,
   * at most 0.8 of the time-out.
   */
  heartbeatThrottleMs: 1_000,
} as const;

/** What a worker serves. */
export interface WorkParts {
  readonly agents: readonly AgentDefinition[];
  /** Model entries that agents name by id; entries inside an agent definition need not be here. */
  readonly models?: readonly ModelEntry[];
  /**
   * Absolute path of a module that exports the workflow `agent`, for a loop of your own; see
   * `everloop/workflow`. Default: Everloop's.
   */
  readonly workflowsPath?: string;
  readonly listeners?: readonly EventListener[];
  /** The kinds of work that this process takes on; default: all. */
  readonly roles?: readonly WorkerRole[];
  /**
   * How many calls of isolated tools run at once in threads and processes, from 1; others wait.
   * Default: the number of cores, at least 2.
   */
  readonly isolatedCalls?: number;
  /**
   * The module that exports `agents`, as `import.meta.url` has it. With it, a call that five workers
   * died with runs in a child process, which imports that module. Default: such a call runs in the
   * worker, one at a time. The commands `worker` and `dev` set it.
   */
  readonly agentsModule?: string;
}

/** Options of {@link createWorker}. */
export interface WorkerParts extends WorkParts {
  readonly connection: NativeConnection;
  readonly namespace: string;
  /** Default `everloop`. */
  readonly taskQueue?: string;
  /** Task queue of model activities; default: the task queue of the workflows. */
  readonly modelQueue?: string;
  /** Task queue of tool activities; default: the task queue of the workflows. */
  readonly toolQueue?: string;
  readonly archive: Archive;
  /** Whether the states that links hand over are archived, for forks. Default true. */
  readonly archivesStates?: boolean;
  readonly chunks: ChunkPublisher;
  readonly heartbeatMs?: number;
  /** How long runs wait for a worker that has what they need. Default: ten minutes. */
  readonly elsewhereMs?: number;
  readonly cacheBytes?: number;
  readonly maxCachedWorkflows?: number;
  readonly shutdownGraceMs?: number;
  /** What callbacks of runs are sent with. Default: this worker sends none. */
  readonly callbacks?: CallbackSettings;
  /** The hosts from which media of requests are fetched. Default: any. */
  readonly mediaHosts?: readonly string[];
  /** The version that this worker is part of; default: none. */
  readonly version?: WorkerVersion;
  /** Patches of the workflow that no run may begin to use on this worker; default: none. */
  readonly holdPatches?: HeldPatches;
  /** Traces and metrics, as `readConfig` returns them. Default: none. */
  readonly telemetry?: CheckedTelemetry;
  /** The servers of the agents. Default: connections of this worker's own. */
  readonly mcp?: McpTools;
  /** What encrypts the payloads of runs; default: nothing does. */
  readonly protection?: Protection;
  /** Takes values out of failures, results of tools, events and spans; default: nothing does. */
  readonly hide?: HideText;
  /** Folder of the workflow bundle's cache. */
  readonly bundleDir: string;
  readonly onListenerError?: (error: unknown) => void;
}

/** A worker; it polls once `run` is called. */
export interface EverloopWorker {
  /** Serves until `shutdown`; rejects when the worker cannot go on. */
  run(): Promise<void>;
  /** Begins an orderly stop: takes no new work, and gives running work its grace period. */
  shutdown(): void;
}

/**
 * Checks that each kind of work that this process does not take on has its own queue. A process
 * that polls the workflow queue gets every kind of work in that queue.
 */
function checkRoles({
  roles,
  taskQueue = DEFAULT_TASK_QUEUE,
  modelQueue,
  toolQueue,
}: WorkerParts): void {
  if (roles === undefined || !roles.includes('workflows')) return;
  const queues = { models: modelQueue ?? taskQueue, tools: toolQueue ?? taskQueue };
  for (const role of ['models', 'tools'] as const) {
    if (roles.includes(role) || queues[role] !== taskQueue) continue;
    const option = role === 'models' ? 'modelQueue' : 'toolQueue';
    throw new UsageError(
      'worker_roles',
      `Expected \`${option}\` of a worker without the role \`${role}\` to be a queue of its own, got that of the workflows. Set it, or take on the role.`,
    );
  }
}

/** Creates a worker. Throws a UsageError for invalid agents or roles. */
export async function createWorker(parts: WorkerParts): Promise<EverloopWorker> {
  checkRoles(parts);
  await checkStore(parts);
  const { connection, namespace, taskQueue = DEFAULT_TASK_QUEUE } = parts;
  const { agents, models, agentsModule } = parts;
  const knownModels = await loadKnownModels();
  const known = createRegistry(defined({ agents, models, agentsModule, knownModels }));
  const roles = parts.roles ?? ['workflows', 'models', 'tools'];
  const { workflowBundle, extensions } = await loadBundle(parts, roles);
  const registry = { ...known, extensions };
  const warnings = [...missingPartWarnings(registry), ...unpricedWarnings(registry.models)];
  for (const warning of warnings) workerLog('WARN', warning);
  if (roles.includes('models')) checkPackages(registry);
  const cache = createTranscriptCache({ maxBytes: parts.cacheBytes ?? CONFIG_DEFAULTS.cacheBytes });
  const runtime = await runtimeOf(parts);
  const { archive, chunks, callbacks = { secrets: [] }, hide = HIDE_NOTHING } = parts;
  const observed = { ...telemetryParts(registry, cache), hide };
  const telemetry = await openTelemetry(parts.telemetry, observed);
  const stopCounting = watchEncrypted(parts.protection, telemetry.countEncrypted);
  const places = createToolPlaces(parts);
  const mcp = parts.mcp ?? (await openServers(registry, telemetry.servers));
  const watch = telemetry.watch;
  const cancels = createHeardCancels();
  const given = { archive, chunks, callbacks, watch, hide, cancels, ...defined({ mcp }) };
  const onError = parts.onListenerError ?? (() => undefined);
  const client = clientOf(connection, namespace, parts.protection);
  const pacing = createPacing(client, taskQueue);
  const states = statesOf(parts, client, workflowBundle, runtime);
  const activities = createActivities({
    ...given,
    ...pacing,
    registry,
    runtime,
    cache,
    places,
    states: states?.source,
    archivesStates: parts.archivesStates,
    mediaHosts: parts.mediaHosts,
  });
  const waits = signalWaits(client, onError);
  const sinks = createSinks({
    cache,
    onUnlistedWaits: waits.tell,
    cancels,
    archive,
    listeners: [...telemetry.listeners, ...(parts.listeners ?? []), feedStreams(chunks)],
    onListenerError: onError,
  });
  const identity = identityOf(registry, parts.version);
  const interceptors = { activity: [recordResults] };
  const common = { ...tuning(parts), activities, identity, interceptors };
  const workflows = workflowBundle === undefined ? undefined : { workflowBundle, sinks };
  const workers = await workersFor({ ...parts, roles, taskQueue }, common, workflows);
  const stopSignals = signalOverruns({ client, namespace, taskQueue, onError });
  return {
    run: async () => {
      try {
        await Promise.all(workers.map((worker) => worker.run()));
      } finally {
        for (const stop of [stopSignals, waits.stop, stopCounting]) stop();
        await pacing.permits.close();
        await places.close();
        await mcp?.close();
        await states?.close();
        await telemetry.close();
      }
    },
    shutdown: () => {
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
    },
  };
}

/** A worker for each queue that the roles poll; the one for workflows serves its queue alone. */
async function workersFor(
  { roles, taskQueue, ...parts }: WorkerParts & Required<Pick<WorkerParts, 'roles' | 'taskQueue'>>,
  common: Omit<WorkerOptions, 'taskQueue'>,
  workflows: Pick<WorkerOptions, 'workflowBundle' | 'sinks'> | undefined,
): Promise<readonly Worker[]> {
  const workers: Worker[] = [];
  const isWorkflows = roles.includes('workflows');
  if (workflows !== undefined && isWorkflows) {
    guardWorkflowThreads();
    workers.push(await Worker.create({ ...common, ...workflows, taskQueue }));
  }
  const { modelQueue = taskQueue, toolQueue = taskQueue } = parts;
  const queues = new Set([
    ...(roles.includes('models') ? [modelQueue] : []),
    ...(roles.includes('tools') ? [toolQueue] : []),
  ]);
  if (isWorkflows) queues.delete(taskQueue);
  for (const queue of queues) workers.push(await Worker.create({ ...common, taskQueue: queue }));
  return workers;
}

/** Gets moments of runs; undefined on a worker without workflows. */
function statesOf(
  { archive, protection = NO_PROTECTION }: WorkerParts,
  client: Client,
  workflowBundle: LoadedBundle | undefined,
  { workflows }: ActivityRuntime,
): { readonly source: StateSource; readonly close: () => Promise<void> } | undefined {
  if (workflowBundle === undefined) return undefined;
  const replayer = createReplayer(workflowBundle, protection);
  const states = createStateArchive(archive);
  const source = createStateSource({ client, replayer, workflows, archive: states });
  return { source, close: () => replayer.close() };
}

/** Makes sure that this process may write the store, and that it is the service's own. */
async function checkStore({ connection, namespace, protection }: WorkerParts): Promise<void> {
  if (protection?.blobs === undefined) return;
  await protection.blobs.probe();
  await checkOwner(connection.workflowService, namespace, protection.blobs);
}

async function runtimeOf(parts: WorkerParts): Promise<ActivityRuntime> {
  const { modelQueue, toolQueue, workflowsPath } = parts;
  return defined({
    heartbeatMs: parts.heartbeatMs ?? WORKER_DEFAULTS.heartbeatMs,
    elsewhereMs: parts.elsewhereMs ?? WORKER_DEFAULTS.elsewhereMs,
    modelQueue,
    toolQueue,
    blobs: parts.protection?.blobs === undefined ? undefined : true,
    workflows: workflowsPath === undefined ? undefined : await markOf(workflowsPath),
  });
}

/** The bundle, if this process needs it, and the own parts of replies that it adds. */
async function loadBundle(
  { bundleDir: cacheDir, workflowsPath, protection }: WorkerParts,
  roles: readonly WorkerRole[],
): Promise<{ readonly workflowBundle?: LoadedBundle; readonly extensions: Extensions }> {
  const hidesFailures = protection?.keys !== undefined;
  if (workflowsPath === undefined) {
    const extensions = NO_EXTENSIONS;
    if (!roles.includes('workflows')) return { extensions };
    return { workflowBundle: await loadWorkflowBundle({ cacheDir, hidesFailures }), extensions };
  }
  // A process without the role needs it as well: prompts describe own parts.
  const workflowBundle = await loadWorkflowBundle({ cacheDir, workflowsPath, hidesFailures });
  return { workflowBundle, extensions: bundleExtensions(workflowBundle.code) };
}

/** Ids of keys come as data, so only the first ones are logged. */
const MAX_LOGGED_KEYS = 100;

/** Logs once for each key that payloads cannot be decrypted with it. */
function warnOfUnread(): (error: UnreadError) => void {
  const seen = new Set<string>();
  return (error) => {
    const { keyId, message, name } = error;
    if (seen.has(`${name} ${keyId}`) || seen.size >= MAX_LOGGED_KEYS) return;
    seen.add(`${name} ${keyId}`);
    workerLog(
      'WARN',
      name === 'keys_missing'
        ? `A run is encrypted with key ${keyId}, which this worker does not have. Give it EVERLOOP_KEYS.`
        : message,
    );
  };
}

/**
 * Publishes each event, and what loops and validators emit also as a topic; ends the streams of a
 * run when the run ends.
 */
function feedStreams(chunks: ChunkPublisher): EventListener {
  return (event, { rootRunId }) => {
    const { type, runId, agentPath, iteration, seq } = event;
    chunks.publishEvent?.({ kind: 'event', rootRunId, event });
    if (type === 'agent:execution:after') return chunks.endRun?.(runId);
    // A tool's events were published when it emitted them; null data only moves statistics.
    if (!isOwnEvent(event) || event.callId !== undefined || event.data === null) return;
    const origin = { rootRunId, runId, agentPath, iteration, attempt: 1 };
    const { data, id, keep } = event;
    publishTopic(chunks, origin, { seq, topic: type, data, ...defined({ id, keep }) });
  };
}

/** A run stays on its version until it hands itself over; see `continuation.ts`. */
function deploymentOptions({ name, build }: WorkerVersion): WorkerDeploymentOptions {
  return {
    version: { deploymentName: name, buildId: build },
    useWorkerVersioning: true,
    defaultVersioningBehavior: 'PINNED',
  };
}

function activation(held: HeldPatches): PatchActivationCallback {
  return ({ patchId }) => held !== 'all' && !held.includes(patchId);
}

const POLLERS = { type: 'autoscaling', initial: 5, minimum: 1, maximum: 100 } as const;

function tuning(parts: WorkerParts): Omit<WorkerOptions, 'taskQueue'> {
  const { connection, namespace, maxCachedWorkflows, version, holdPatches } = parts;
  const { protection = NO_PROTECTION } = parts;
  return defined({
    workerDeploymentOptions: version === undefined ? undefined : deploymentOptions(version),
    patchActivationCallback: holdPatches === undefined ? undefined : activation(holdPatches),
    connection,
    namespace,
    dataConverter: workerConverter(protection, warnOfUnread()),
    shutdownGraceTime: parts.shutdownGraceMs ?? CONFIG_DEFAULTS.shutdownGraceMs,
    stickyQueueScheduleToStartTimeout: WORKER_DEFAULTS.stickyMs,
    maxHeartbeatThrottleInterval: WORKER_DEFAULTS.heartbeatThrottleMs,
    tuner: createSlots(),
    workflowTaskPollerBehavior: POLLERS,
    activityTaskPollerBehavior: POLLERS,
    maxCachedWorkflows,
  });
}
