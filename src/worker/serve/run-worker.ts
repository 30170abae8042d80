/** One worker process of a fleet: the composition root. */
import { errorText } from '../../core/base/error-text.ts';
import type { Archive } from '../../activities/archive-transcript.ts';
import type { AgentDefinition } from '../../define/definition/definitions.ts';
import type { ModelEntry } from '../../define/model/model-entry.ts';
import type { ChunkPublisher } from '../../core/streaming/chunk-stream.ts';
import { withCleanup } from '../config/cleanup.ts';
import { archiveDirOf, configOf, type ConfigOverrides } from '../config/config-of.ts';
import type { WorkerConfig } from '../config/config.ts';
import type { WorkerRole } from './create-worker.ts';
import { createDirectoryArchive } from '../archive/directory-archive.ts';
import type { EmbeddedServer, EmbeddedServerOptions } from '../server/embedded-server.ts';
import { eventLine } from './event-line.ts';
import { serve } from './serve.ts';
import { stopOnSignal, type SignalSource } from './shutdown.ts';
import { openStreaming } from '../streaming/streaming.ts';
import type { EventListener } from './worker-sinks.ts';

/** What a worker that runs can tell. */
export interface WorkerReady {
  readonly server: EmbeddedServer;
  readonly config: WorkerConfig;
}

/** What {@link runWorker} takes; only `agents` is needed. */
export interface RunWorkerOptions extends ConfigOverrides {
  readonly agents: readonly AgentDefinition[];
  /** Entries that agents name by id; entries that stand in a definition need not be here. */
  readonly models?: readonly ModelEntry[];
  /** What this process takes on; default: everything. */
  readonly roles?: readonly WorkerRole[];
  /**
   * Absolute path of a module that exports the workflow `agent` in place of Everloop's own: the way
   * to a loop of your own, see `everloop/workflow`. Default: Everloop's.
   */
  readonly workflowsPath?: string;
  /** Default: 3 s on a server of this machine, else 5 s. */
  readonly heartbeatMs?: number;
  /** Where pages go that the service forgets; default: a folder in the data folder. */
  readonly archive?: Archive;
  /**
   * Takes provisional text in place of the bus and the endpoint that other processes read; see
   * `streamListen`.
   */
  readonly chunks?: ChunkPublisher;
  readonly listeners?: readonly EventListener[];
  /** One line of JSON for each event, without content: true for stdout, or what takes lines. */
  readonly logEvents?: boolean | ((line: string) => void);
  /** For a server that is looked for or started here. */
  readonly server?: EmbeddedServerOptions;
  /** Called once, when the worker serves. */
  readonly onReady?: (ready: WorkerReady) => void;
  /** Where signals come from; default `process`. `null` listens to none. */
  readonly signals?: SignalSource | null;
  /** Aborted to stop the worker as a signal does. */
  readonly signal?: AbortSignal;
}

/**
 * Serves agents until SIGTERM, SIGINT or SIGHUP, then stops in order: no new work, and what runs
 * gets its grace. A second signal ends the process at once. Resolves when everything has stopped.
 *
 * @throws UsageError for an environment, agents or models that do not fit, or without a server.
 * @example
 * await runWorker({ agents: [researcher], models, logEvents: true });
 */
export async function runWorker(options: RunWorkerOptions): Promise<void> {
  const config = configOf(options);
  await withCleanup(async (cleanup) => {
    const { signal, signals, logEvents } = options;
    const stop = new AbortController();
    if (signals !== null) {
      const source = signals === undefined ? {} : { source: signals };
      cleanup.add(stopOnSignal({ ...source, stop: () => stop.abort() }));
    }
    const chunks = options.chunks ?? (await openStreaming(config, cleanup)).bus;
    const { server, stopped, shutdown } = await serve(
      {
        config,
        agents: options.agents,
        models: options.models ?? [],
        archive: options.archive ?? createDirectoryArchive(archiveDirOf(config.dataDir)),
        chunks,
        listeners: [...(options.listeners ?? []), ...eventLog(logEvents)],
        onListenerError: warnOfListener,
        ...(options.server === undefined ? {} : { server: options.server }),
        ...(options.roles === undefined ? {} : { roles: options.roles }),
        ...(options.workflowsPath === undefined ? {} : { workflowsPath: options.workflowsPath }),
        ...(options.heartbeatMs === undefined ? {} : { heartbeatMs: options.heartbeatMs }),
      },
      cleanup,
    );
    for (const cause of [stop.signal, signal]) {
      if (cause?.aborted === true) shutdown();
      else cause?.addEventListener('abort', shutdown, { once: true });
    }
    options.onReady?.({ server, config });
    await stopped;
    await cleanup.run();
  });
}

function eventLog(logEvents: RunWorkerOptions['logEvents']): readonly EventListener[] {
  if (logEvents === undefined || logEvents === false) return [];
  const write =
    logEvents === true ? (line: string) => process.stdout.write(`${line}\n`) : logEvents;
  return [(event) => write(eventLine(event))];
}

/** A listener's mistake is told once for each event and changes nothing else. */
export function warnOfListener(error: unknown): void {
  const message = errorText(error);
  process.emitWarning(`An event listener threw: ${message}`, 'EverloopWarning');
}
