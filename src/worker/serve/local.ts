/** A client and a worker in one process, for scripts and notebooks. Starts a server if needed. */
import { createHash } from 'node:crypto';
import type { Client } from '@temporalio/client';
import type { AgentDefinition } from '../../define/definition/definitions.ts';
import { announcedEndpoints } from '../../client/streaming/chunk-endpoints.ts';
import { createEverloop, runWith, type Everloop } from '../../client/everloop-client.ts';
import { followChunks } from '../../client/streaming/follow-chunks.ts';
import { followRun } from '../../client/follow-run.ts';
import { clientOf, openConnection } from '../../client/connection/open-connection.ts';
import type { RunHandle } from '../../client/run-handle.ts';
import { defined } from '../../core/base/defined.ts';
import { agentNameOf } from '../../core/start/agent-types.ts';
import { withCleanup, type Cleanup } from '../config/cleanup.ts';
import { archiveDirOf } from '../../client/reading/archive-reader.ts';
import { configOf, type ConfigOverrides } from '../config/config-of.ts';
import type { WorkerConfig } from '../config/config.ts';
import { createDirectoryArchive } from '../files/directory-archive.ts';
import { loadKnownModels } from '../../registry/known-prices.ts';
import { serve, type ServedParts, type Serving } from './serve.ts';
import { servedAgents } from './served-agents.ts';
import { createLastCallbacks, type LastCallbacks } from './last-callbacks.ts';
import { openStreaming } from '../streaming/streaming.ts';

/** Options of {@link local}; only `agents` is required. Its worker is of no version. */
export type LocalOptions = Omit<ConfigOverrides, 'deployment'> & Omit<ServedParts, 'roles'>;

/** A client with a worker in the same process. */
export interface LocalEverloop extends Everloop {
  /** The address of the server, such as `127.0.0.1:7233`. */
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  /** Temporal's web UI, if the server has one. */
  readonly uiUrl?: string;
  /**
   * Stops the worker, closes the connections, and stops the server if it was started here. Live
   * runs stay on the server and continue when a worker serves their agents again. Callbacks of runs
   * that have ended are sent first, for at most 10 s.
   */
  close(): Promise<void>;
}

/** Keeps the log out of a script's own output. */
const LOCAL_LOG_LEVEL = 'ERROR';

/**
 * Starts a worker and a client in this process, and a server if none is running. The default task
 * queue is named after the agents. So scripts with different agents on one server do not take each
 * other's work, and a script that is started again continues its own runs.
 *
 * @throws UsageError if the environment, agents or models are invalid, or if no server can be
 * reached or started. Everything that was already started is then stopped.
 * @example
 * const everloop = await local({ agents: [researcher] });
 * try {
 *   const run = await everloop.start('researcher', { task: 'Compare …' });
 *   console.log((await run.result()).value);
 * } finally {
 *   await everloop.close();
 * }
 */
export async function local(options: LocalOptions): Promise<LocalEverloop> {
  const config = localConfig(options);
  return withCleanup(async (cleanup) => {
    const served = servedAgents(options, config, await loadKnownModels());
    const { bus, url } = await openStreaming(config, cleanup, served.body);
    const archive = createDirectoryArchive(archiveDirOf(config.dataDir), config.protection);
    const serving = await serve(options, { config, archive, chunks: bus }, cleanup);
    const client = await connectTo(serving, config, cleanup);
    const { taskQueue, dataDir, streamToken } = config;
    // Another process that serves these agents may take calls of our runs.
    const others = announcedEndpoints(dataDir);
    const chunks = followChunks({
      beside: { ...bus, agents: served.list },
      find: [async () => (await others()).filter((other) => other.url !== url)],
    });
    const keyIds = config.protection?.keys?.ids;
    const parts = { client, taskQueue, chunks, archive, ...defined({ streamToken, keyIds }) };
    const everloop = createEverloop(parts);
    const callbacks = createLastCallbacks(client, options.agents);
    // Without a secret, no callback can be sent here.
    if (config.callbackSecrets !== undefined) cleanup.add(callbacks.sent);
    return withWorker(everloop, { ...serving, taskQueue, callbacks }, cleanup);
  });
}

function localConfig(options: LocalOptions): WorkerConfig {
  const env = options.env ?? process.env;
  const queue = options.taskQueue ?? (env['EVERLOOP_TASK_QUEUE'] || queueOf(options.agents));
  const logLevel = options.logLevel ?? (env['EVERLOOP_LOG_LEVEL'] ? undefined : LOCAL_LOG_LEVEL);
  const given = { ...options, taskQueue: queue, deployment: null };
  const config = configOf({ ...given, ...defined({ logLevel }) });
  // There is no other worker to wait for.
  return { ...config, elsewhereMs: config.elsewhereMs ?? 0 };
}

/** `local-1f3a…`, the same for the same set of agent names. */
function queueOf(agents: readonly AgentDefinition[]): string {
  const names = agents.map((agent) => agent?.name ?? '').toSorted();
  const hash = createHash('sha256').update(JSON.stringify(names)).digest('hex');
  return `local-${hash.slice(0, 12)}`;
}

async function connectTo(
  { server }: Serving,
  { temporal, protection }: WorkerConfig,
  cleanup: Cleanup,
): Promise<Client> {
  const { address, namespace } = server;
  const { connection, close } = await openConnection({ ...temporal.connection, address });
  cleanup.add(close);
  return clientOf(connection, namespace, protection);
}

interface LocalServing extends Serving {
  readonly taskQueue: string;
  readonly callbacks: LastCallbacks;
}

/** The client, whose waits reject when the worker of this process fails. */
function withWorker(
  everloop: Everloop,
  { server, stopped, taskQueue, callbacks }: LocalServing,
  cleanup: Cleanup,
): LocalEverloop {
  const failed = new Promise<never>((_resolve, reject) => {
    stopped.catch(reject);
  });
  failed.catch(() => undefined);
  const guarded = <Value>(run: RunHandle<Value>): RunHandle<Value> => {
    const result: RunHandle<Value>['result'] = (wait) => Promise.race([run.result(wait), failed]);
    return { ...run, result, follow: (following) => followRun({ ...run, result }, following) };
  };
  const { address, namespace, uiUrl } = server;
  const start: Everloop['start'] = async (agent, options) => {
    const run = await everloop.start(agent, options);
    callbacks.add({ id: run.id, agent: agentNameOf(agent), onEvent: options.onEvent });
    return guarded(run);
  };
  return {
    start,
    run: runWith(start),
    fork: async (source, options) => guarded(await everloop.fork(source, options)),
    evaluate: async (input, options) => guarded(await everloop.evaluate(input, options)),
    compileAgent: (agent, options) => Promise.race([everloop.compileAgent(agent, options), failed]),
    runCompiled: async (compiled, options) => {
      const run = await everloop.runCompiled(compiled, options);
      callbacks.add({ id: run.id, agent: compiled.agent });
      return guarded(run);
    },
    attach: (id) => guarded(everloop.attach(id)),
    conversation: (agent, options) => everloop.conversation(agent, options),
    conversations: (query) => everloop.conversations(query),
    list: (query) => everloop.list(query),
    listPage: (query) => everloop.listPage(query),
    counts: (query) => everloop.counts(query),
    workers: (name) => everloop.workers(name),
    agents: () => everloop.agents(),
    tenants: everloop.tenants,
    setup: () => everloop.setup(),
    pushedEvents: (wanted) => everloop.pushedEvents(wanted),
    inbox: (query) => everloop.inbox(query),
    schedules: everloop.schedules,
    address,
    namespace,
    taskQueue,
    ...defined({ uiUrl }),
    close: cleanup.run,
  };
}
