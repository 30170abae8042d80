/** Runs a worker process of a fleet. */
import type { Archive } from '../../activities/archive-transcript.ts';
import { queueOf } from '../../client/connect.ts';
import { defined } from '../../core/base/defined.ts';
import { errorText } from '../../core/base/error-text.ts';
import type { ChunkPublisher } from '../../core/streaming/chunk-stream.ts';
import { withCleanup } from '../config/cleanup.ts';
import { archiveDirOf } from '../../client/reading/archive-reader.ts';
import { configOf, type ConfigOverrides } from '../config/config-of.ts';
import type { WorkerConfig } from '../config/config.ts';
import { checkedKeepMs, type ArchiveOptions } from '../retention/archive-keep.ts';
import { createDirectoryArchive } from '../files/directory-archive.ts';
import type { EmbeddedServer } from '../server/embedded-server.ts';
import { loadKnownModels } from '../../registry/known-prices.ts';
import { eventLine } from './event-line.ts';
import { serve, type ServedParts } from './serve.ts';
import { servedAgents } from './served-agents.ts';
import { stopOnSignal, type SignalSource } from './shutdown.ts';
import type { VersionReady } from './version-ready.ts';
import { openStreaming } from '../streaming/streaming.ts';
import { watchUncaught } from './uncaught.ts';
import { workerLog } from './worker-log.ts';
import type { EventListener } from './worker-sinks.ts';

/** What {@link RunWorkerOptions.onReady} receives. */
export interface WorkerReady {
  readonly server: EmbeddedServer;
  readonly config: WorkerConfig;
  /** The version that this worker is part of, and which new runs it gets; absent: none. */
  readonly version?: VersionReady;
}

/** Options of {@link runWorker}; only `agents` is required. */
export interface RunWorkerOptions extends ConfigOverrides, ServedParts {
  /**
   * Keeps the pages that the service drops: an archive of your own, or how long those in the data
   * folder stay. Default: in the data folder, for as long as `EVERLOOP_ARCHIVE_KEEP` says, else for
   * ever.
   *
   * @example archive: { keep: '90d' }
   */
  readonly archive?: Archive | ArchiveOptions;
  /**
   * Receives provisional text, in place of the bus and the endpoint for other processes; see
   * `streamListen`.
   */
  readonly chunks?: ChunkPublisher;
  /** Writes one line of JSON for each event, without content: `true` for stdout, or a function. */
  readonly logEvents?: boolean | ((line: string) => void);
  /** Called once, when the worker is ready. */
  readonly onReady?: (ready: WorkerReady) => void;
  /** The source of signals; default `process`. `null`: no signals. */
  readonly signals?: SignalSource | null;
  /** Abort it to stop the worker, as a signal does. */
  readonly signal?: AbortSignal;
}

/** How long all but the calls in flight may take to stop, in ms. */
const LATE_MS = 5_000;

/**
 * Serves agents until SIGTERM, SIGINT or SIGHUP, then stops in order: takes no new work, and gives
 * running work its grace period, after which the process ends. A second signal ends it at once. Resolves when everything
 * has stopped. Its task queue is that of `connect` in the same folder and environment. Until it has
 * stopped, errors that a tool, a model or other code of a run leaves uncaught are
 * logged with whose they are, and do not end the process. Any other uncaught error is logged, stops
 * the worker in order, and rejects.
 *
 * @throws UsageError for an invalid environment, agents or models, or when there is no server.
 * @example
 * await runWorker({ agents: [researcher], models, logEvents: true });
 */
export async function runWorker(options: RunWorkerOptions): Promise<void> {
  // As a client of the folder does, so that its runs reach this worker.
  const taskQueue = await queueOf(options, options.env ?? process.env);
  const { archive: ownArchive, archiveKeepMs, archivesStates } = archiveOf(options.archive);
  const environment = configOf({ ...options, ...defined({ taskQueue }) });
  const config = { ...environment, ...defined({ archiveKeepMs }) };
  let failure: { readonly error: unknown } | undefined;
  await withCleanup(async (cleanup) => {
    const { signal, signals, logEvents, listeners = [] } = options;
    const stop = new AbortController();
    if (signals !== null) {
      const deadlineMs = config.shutdownGraceMs + LATE_MS;
      const onDeadline = (): void => workerLog('WARN', lateText(config.shutdownGraceMs));
      const ending = { stop: () => stop.abort(), deadlineMs, onDeadline };
      cleanup.add(stopOnSignal(defined({ source: signals, ...ending })));
    }
    const onStray = (error: unknown): void => {
      failure ??= { error };
      stop.abort();
    };
    cleanup.add(watchUncaught({ log: (text) => workerLog('ERROR', text), stop: onStray }));
    const { body } = servedAgents(options, config, await loadKnownModels());
    const chunks = options.chunks ?? (await openStreaming(config, cleanup, body)).bus;
    const archive =
      ownArchive ?? createDirectoryArchive(archiveDirOf(config.dataDir), config.protection);
    const { server, version, stopped, shutdown } = await serve(
      {
        ...options,
        listeners: [...listeners, ...eventLog(logEvents, config.telemetry.traces !== undefined)],
      },
      { config, archive, chunks, ...defined({ archivesStates }) },
      cleanup,
    );
    for (const cause of [stop.signal, signal]) {
      if (cause?.aborted === true) shutdown();
      else cause?.addEventListener('abort', shutdown, { once: true });
    }
    options.onReady?.(defined({ server, config, version }));
    await stopped;
    await cleanup.run();
  });
  if (failure !== undefined) throw strayError(failure.error);
}

/** The archive of the caller's own, or how long the pages of the default one stay. */
function archiveOf(given: RunWorkerOptions['archive']): {
  readonly archive?: Archive;
  readonly archiveKeepMs?: number;
  readonly archivesStates?: boolean;
} {
  if (given === undefined) return {};
  if ('write' in given) return { archive: given };
  return defined({ archiveKeepMs: checkedKeepMs(given), archivesStates: given.states });
}

function lateText(graceMs: number): string {
  return `Calls were still in flight ${(graceMs + LATE_MS) / 1_000} s after the signal, and did not heed that they were cancelled. The process ends; other workers make them again, or this one when it is started again.`;
}

function strayError(cause: unknown): Error {
  const text = `The worker stopped after an uncaught error in code that no call of a run started: ${errorText(cause)}`;
  return new Error(text, { cause });
}

function eventLog(
  logEvents: RunWorkerOptions['logEvents'],
  isTraced: boolean,
): readonly EventListener[] {
  if (logEvents === undefined || logEvents === false) return [];
  const write =
    logEvents === true ? (line: string) => process.stdout.write(`${line}\n`) : logEvents;
  return [(event, place) => write(eventLine(event, place, isTraced))];
}
