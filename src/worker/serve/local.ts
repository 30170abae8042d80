/** Client, worker and server in one process, for scripts and notebooks. */
import { createHash } from 'node:crypto';
import { Client } from '@temporalio/client';
import type { AgentDefinition } from '../../define/definition/definitions.ts';
import type { ModelEntry } from '../../define/model/model-entry.ts';
import { announcedEndpoints } from '../../client/chunk-endpoints.ts';
import { createEverloop, type Everloop } from '../../client/everloop-client.ts';
import { followChunks } from '../../client/follow-chunks.ts';
import { followRun } from '../../client/follow-run.ts';
import { openConnection } from '../../client/open-connection.ts';
import type { RunHandle } from '../../client/run-handle.ts';
import type { Step } from '../../core/contract/step.ts';
import { withCleanup, type Cleanup } from '../config/cleanup.ts';
import { archiveDirOf, configOf, type ConfigOverrides } from '../config/config-of.ts';
import type { WorkerConfig } from '../config/config.ts';
import { createDirectoryArchive } from '../archive/directory-archive.ts';
import type { EmbeddedServerOptions } from '../server/embedded-server.ts';
import { warnOfListener } from './run-worker.ts';
import { serve, type Serving } from './serve.ts';
import { openStreaming } from '../streaming/streaming.ts';
import type { EventListener } from './worker-sinks.ts';

/** What {@link local} takes; only `agents` is needed. */
export interface LocalOptions extends ConfigOverrides {
  readonly agents: readonly AgentDefinition[];
  /** Entries that agents name by id; entries that stand in a definition need not be here. */
  readonly models?: readonly ModelEntry[];
  /**
   * Absolute path of a module that exports the workflow `agent` in place of Everloop's own: the way
   * to a loop of your own, see `everloop/workflow`. Default: Everloop's.
   */
  readonly workflowsPath?: string;
  readonly listeners?: readonly EventListener[];
  /** For a server that is looked for or started here. */
  readonly server?: EmbeddedServerOptions;
}

/** A client whose worker and server are at hand. */
export interface LocalEverloop extends Everloop {
  /** `127.0.0.1:7233` */
  readonly address: string;
  readonly namespace: string;
  readonly taskQueue: string;
  /** Of Temporal's web UI, when the server that was found or started has one. */
  readonly uiUrl?: string;
  /**
   * Stops the worker, closes the connections and stops the server if it was started here. Runs that
   * have not ended stay where they are and go on when a worker with their agents comes.
   */
  close(): Promise<void>;
}

/** Of the log: a script's own output should be all that one sees. */
const LOCAL_LOG_LEVEL = 'ERROR';

/**
 * Starts what is missing and connects it. The task queue is named after the agents unless one is
 * given, so scripts with other agents on the same server do not take each other's work, and a
 * script that starts again goes on with its own runs.
 *
 * @throws UsageError for an environment, agents or models that do not fit, or without a server;
 * whatever was started by then is stopped.
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
    const { bus, url } = await openStreaming(config, cleanup);
    const archive = createDirectoryArchive(archiveDirOf(config.dataDir));
    const serving = await serve(
      {
        config,
        agents: options.agents,
        models: options.models ?? [],
        archive,
        chunks: bus,
        listeners: options.listeners ?? [],
        onListenerError: warnOfListener,
        ...(options.server === undefined ? {} : { server: options.server }),
        ...(options.workflowsPath === undefined ? {} : { workflowsPath: options.workflowsPath }),
      },
      cleanup,
    );
    const client = await connectTo(serving, config, cleanup);
    const { taskQueue, dataDir } = config;
    // Another process with these agents may take a call of a run of ours.
    const others = announcedEndpoints(dataDir);
    const chunks = followChunks({
      beside: bus,
      find: [async () => (await others()).filter((other) => other.url !== url)],
    });
    const everloop = createEverloop({ client, taskQueue, chunks, archive });
    return withWorker(everloop, serving, taskQueue, cleanup);
  });
}

function localConfig(options: LocalOptions): WorkerConfig {
  const env = options.env ?? process.env;
  const queue = options.taskQueue ?? (env['EVERLOOP_TASK_QUEUE'] || queueOf(options.agents));
  const logLevel = options.logLevel ?? (env['EVERLOOP_LOG_LEVEL'] ? undefined : LOCAL_LOG_LEVEL);
  return configOf({
    ...options,
    taskQueue: queue,
    ...(logLevel === undefined ? {} : { logLevel }),
  });
}

/** `local-1f3a…`: equal for equal sets of agent names. */
function queueOf(agents: readonly AgentDefinition[]): string {
  const names = agents.map((agent) => agent?.name ?? '').toSorted();
  const hash = createHash('sha256').update(JSON.stringify(names)).digest('hex');
  return `local-${hash.slice(0, 12)}`;
}

async function connectTo(
  { server }: Serving,
  { temporal }: WorkerConfig,
  cleanup: Cleanup,
): Promise<Client> {
  const { address, namespace } = server;
  const { connection, close } = await openConnection({ ...temporal.connection, address });
  cleanup.add(close);
  return new Client({ connection, namespace });
}

/** The client, with waits that end when the worker of this process cannot go on. */
function withWorker(
  everloop: Everloop,
  { server, stopped }: Serving,
  taskQueue: string,
  cleanup: Cleanup,
): LocalEverloop {
  const failed = new Promise<never>((_resolve, reject) => {
    stopped.catch(reject);
  });
  failed.catch(() => undefined);
  const guarded = (run: RunHandle): RunHandle => {
    const result = (): Promise<Step> => Promise.race([run.result(), failed]);
    return { ...run, result, follow: (following) => followRun({ ...run, result }, following) };
  };
  const { address, namespace, uiUrl } = server;
  return {
    start: async (agent, options) => guarded(await everloop.start(agent, options)),
    compileAgent: (agent, options) => Promise.race([everloop.compileAgent(agent, options), failed]),
    runCompiled: async (compiled, options) =>
      guarded(await everloop.runCompiled(compiled, options)),
    attach: (id) => guarded(everloop.attach(id)),
    list: (query) => everloop.list(query),
    inbox: () => everloop.inbox(),
    address,
    namespace,
    taskQueue,
    ...(uiUrl === undefined ? {} : { uiUrl }),
    close: cleanup.run,
  };
}
