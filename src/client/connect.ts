/** Connects a client to the service that the environment or the options name. */
import {
  isGrpcServiceError,
  type Client,
  type Connection,
  type ConnectionOptions,
} from '@temporalio/client';
import { defined } from '../core/base/defined.ts';
import { UsageError, usageErrorOf, type UsageProblem } from '../core/base/usage-error.ts';
import {
  announcedEndpoints,
  DEFAULT_DATA_DIR,
  namedEndpoints,
} from './streaming/chunk-endpoints.ts';
import { archiveDirOf, createArchiveReader } from './reading/archive-reader.ts';
import type { HistoryReader, ReaderSetup } from './reading/run-reader.ts';
import type { ArchiveReader } from './reading/chain-reader.ts';
import { createEverloop, type Everloop } from './everloop-client.ts';
import { isNotFound } from './connection/service-errors.ts';
import {
  connectionCause,
  credentialsCause,
  timesOf,
  type ConnectionCause,
} from './connection/connection-cause.ts';
import { followChunks } from './streaming/follow-chunks.ts';
import { clientOf, openConnection, type OpenConnection } from './connection/open-connection.ts';
import { notedQueue } from './noted-queue.ts';
import { activeTraceparent } from '../telemetry/active-span.ts';
import type { ChunkSource } from './streaming/run-stream.ts';
import { sentToken } from '../protection/stream-token.ts';
import {
  readTemporalEnvironment,
  type Environment,
  type TemporalEnvironment,
} from './connection/temporal-environment.ts';
import {
  environmentProtection,
  protectionOf,
  type Protection,
  type EnvironmentProtection,
  type ProtectionOptions,
} from '../protection/protection.ts';

/** Defaults of {@link connect}. */
export const CONNECT_DEFAULTS = {
  /** Where a development server listens. */
  address: '127.0.0.1:7233',
  /** Enough for a service on another continent. */
  timeoutMs: 5_000,
} as const;

/** Options of {@link connect}; each overrides the environment. */
export interface ConnectOptions {
  /** Host and port; default `TEMPORAL_ADDRESS`, else 127.0.0.1:7233. */
  readonly address?: string;
  /** Default `TEMPORAL_NAMESPACE`, else `default`. */
  readonly namespace?: string;
  /** TLS, API key and metadata; override those of the environment. */
  readonly connection?: ConnectionOptions;
  /**
   * Default: `EVERLOOP_TASK_QUEUE`; else, when no address is given, the queue on which `everloop dev`
   * serves this folder; else `everloop`.
   */
  readonly taskQueue?: string;
  /**
   * Source of provisional text for `stream()`. Default: the workers on this machine with the same
   * data folder, and the workers at `streamUrls`.
   */
  readonly chunks?: ChunkSource;
  /**
   * Addresses of other workers that serve provisional text, such as `http://workers:7244`. A name
   * that resolves to several addresses counts as several workers. Default: `EVERLOOP_STREAM_URL`,
   * separated by commas.
   */
  readonly streamUrls?: readonly string[];
  /**
   * The token for these workers. Of several, separated by commas, the first is sent and signs scoped
   * tokens. Default `EVERLOOP_STREAM_TOKEN`.
   */
  readonly streamToken?: string;
  /**
   * The data folder of the workers on this machine. Default `EVERLOOP_DATA_DIR`, else `.everloop`.
   */
  readonly dataDir?: string;
  /**
   * Where to read what runs keep outside of the service, so that no worker replays ended ones for it.
   * Default: the archive of the workers on this machine, in the data folder.
   */
  readonly archive?: ArchiveReader;
  /**
   * Opens what reads runs whose workers do not answer, by replaying their histories in this process.
   * Default: one that loads the entry `everloop/worker` when a worker is silent for the first time.
   */
  readonly reader?: (setup: ReaderSetup) => HistoryReader;
  /**
   * Keys that encrypt what runs hold, the same for all clients and workers of a namespace. Default:
   * the keys of `EVERLOOP_KEYS` or `EVERLOOP_KEYS_FILE`, else none.
   */
  readonly protection?: ProtectionOptions;
  /**
   * How long the service may take to answer, in milliseconds; default 5,000. An error comes within
   * this time and names its cause: refused, DNS, TLS, credentials.
   */
  readonly timeoutMs?: number;
  /**
   * True: a run that is started while a span of OpenTelemetry is active continues that trace. Default
   * false.
   */
  readonly telemetry?: boolean;
  /** Default `process.env`. */
  readonly env?: Environment;
}

/** A client with its own connection. */
export interface ConnectedEverloop extends Everloop {
  /** `127.0.0.1:7233` */
  readonly address: string;
  readonly namespace: string;
  /** Closes the connection; handles of this client fail from then on. */
  close(): Promise<void>;
}

/**
 * Connects to the service that the environment names.
 *
 * @throws UsageError `environment` for invalid variables, `protection` for invalid keys, `no_server`
 * when no server answers in time, `server_namespace` when the service lacks the namespace.
 * @example
 * const everloop = await connect();
 * const run = await everloop.start('researcher', { task: 'Compare …' });
 * const step = await run.result();
 * await everloop.close();
 */
export async function connect(options: ConnectOptions = {}): Promise<ConnectedEverloop> {
  const env = options.env ?? process.env;
  // Report problems of the environment before anything is opened.
  const chunks = options.chunks ?? chunksOf(options, env);
  const { client, protection, ...opened } = await connectClient(options);
  const taskQueue = await queueOf(options, env);
  const archive =
    options.archive ?? createArchiveReader(archiveDirOf(dataDirOf(options, env)), protection);
  const streamToken = tokenOf(options, env);
  const { reader: openReader = lazyReader } = options;
  const reader = openReader({ protection, dataDir: dataDirOf(options, env) });
  const traceparent = options.telemetry === true ? await activeTraceparent() : undefined;
  const keyIds = protection.keys?.ids;
  const everloop = createEverloop(
    defined({ client, taskQueue, chunks, archive, streamToken, traceparent, keyIds, reader }),
  );
  const close = async (): Promise<void> => {
    await opened.close();
    await reader.close();
  };
  return { ...everloop, ...opened, close };
}

/** A reader that loads the code of workers with the first run that it reads. */
function lazyReader(setup: ReaderSetup): HistoryReader {
  let opened: Promise<HistoryReader> | null = null;
  const open = (): Promise<HistoryReader> => {
    opened ??= loadWorker().then(({ openReader }) => openReader(setup));
    // Loaded again by the next read.
    opened.catch(() => (opened = null));
    return opened;
  };
  return {
    read: async (client, place) => (await open()).read(client, place),
    close: async () => (await opened?.catch(() => null))?.close(),
  };
}

/** What the reader needs of the entry `everloop/worker`. */
interface WorkerEntry {
  readonly openReader: (of: ReaderSetup) => HistoryReader;
}

/** Where this file is; undefined in a bundle in CommonJS. */
const PLACE: string | undefined = import.meta.url;

/**
 * The entry `everloop/worker`, of the installed package or of these sources. Bundlers leave it out:
 * who bundles a client wants no native packages.
 */
async function loadWorker(): Promise<WorkerEntry> {
  const entry = PLACE?.endsWith('.ts')
    ? PLACE.replace(/client\/[^/]*$/, 'worker.ts')
    : 'everloop/worker';
  try {
    return (await import(
      /* webpackIgnore: true */ /* turbopackIgnore: true */ /* @vite-ignore */ entry
    )) as WorkerEntry;
  } catch (error) {
    const lacks = new UsageError(
      'reader_needs_worker',
      'Expected a worker that answers, or the entry `everloop/worker` to replay the history with, got neither. Start a worker, or have the package `everloop` in `node_modules` beside this program.',
    );
    throw Object.assign(lacks, { cause: error });
  }
}

/** The task queue that a client starts runs on; undefined: the default one. */
export async function queueOf(
  options: Pick<ConnectOptions, 'address' | 'taskQueue' | 'dataDir'>,
  env: Environment,
): Promise<string | undefined> {
  const named = options.taskQueue ?? textOf(env['EVERLOOP_TASK_QUEUE']);
  const isElsewhere = (options.address ?? environmentOf(env).address) !== undefined;
  if (named !== undefined || isElsewhere) return named;
  return notedQueue(dataDirOf(options, env));
}

function dataDirOf({ dataDir }: Pick<ConnectOptions, 'dataDir'>, env: Environment): string {
  return dataDir ?? textOf(env['EVERLOOP_DATA_DIR']) ?? DEFAULT_DATA_DIR;
}

/** A client of the service, and the way to close it. */
export interface ConnectedClient extends Pick<
  ConnectedEverloop,
  'address' | 'namespace' | 'close'
> {
  readonly client: Client;
  readonly protection: Protection;
}

/** Options of {@link connectClient}. */
export type ConnectClientOptions = Pick<
  ConnectOptions,
  'address' | 'namespace' | 'connection' | 'timeoutMs' | 'env' | 'protection'
>;

/** Connects to the service as {@link connect} does. */
export async function connectClient(options: ConnectClientOptions): Promise<ConnectedClient> {
  const found = environmentOf(options.env ?? process.env);
  const protection = protectionOf(options.protection, found);
  const address = options.address ?? found.address ?? CONNECT_DEFAULTS.address;
  const namespace = options.namespace ?? found.namespace;
  const timeoutMs = options.timeoutMs ?? CONNECT_DEFAULTS.timeoutMs;
  const deadline = Date.now() + timeoutMs;
  const wanted = { ...found.connection, ...options.connection };
  const { connection, close } = await open(address, wanted, timeoutMs);
  try {
    await connection.withDeadline(deadline, () => requireNamespace(connection, address, namespace));
  } catch (error) {
    await close();
    throw error;
  }
  const client = clientOf(connection, namespace, protection);
  return { client, protection, address, namespace, close };
}

function chunksOf(options: ConnectOptions, env: Environment): ChunkSource {
  const urls = options.streamUrls ?? (textOf(env['EVERLOOP_STREAM_URL']) ?? '').split(',');
  const named = urls.map((url) => url.trim()).filter((url) => url !== '');
  for (const url of named) {
    if (/^https?:\/\/[^/]/.test(url) && URL.canParse(url)) continue;
    throw new UsageError(
      'environment',
      `Expected \`EVERLOOP_STREAM_URL\` to be addresses such as http://workers:7244, got \`${url.slice(0, 200)}\`. Correct it.`,
    );
  }
  const token = sentToken(tokenOf(options, env) ?? '');
  return followChunks({
    find: [announcedEndpoints(dataDirOf(options, env)), namedEndpoints(named, token)],
  });
}

function tokenOf({ streamToken }: ConnectOptions, env: Environment): string | undefined {
  return streamToken ?? textOf(env['EVERLOOP_STREAM_TOKEN']);
}

function environmentOf(env: Environment): TemporalEnvironment & EnvironmentProtection {
  const problems: UsageProblem[] = [];
  const found = readTemporalEnvironment(env, (variable, expected, got, advice) => {
    const message = `Expected \`${variable}\` ${expected}, got ${got}. ${advice}`;
    problems.push({ code: 'environment', message });
  });
  const protection = environmentProtection(env, (message) =>
    problems.push({ code: 'environment', message }),
  );
  if (problems.length > 0) throw usageErrorOf(problems);
  return { ...found, ...protection };
}

async function open(
  address: string,
  connection: ConnectionOptions,
  timeoutMs: number,
): Promise<OpenConnection> {
  const { connectMs, causeMs } = timesOf(timeoutMs);
  try {
    return await openConnection({ ...connection, address, connectTimeout: connectMs });
  } catch (error) {
    const found = await connectionCause(error, { address, connection, withinMs: causeMs });
    throw noServer(address, found, error);
  }
}

function noServer(address: string, { text, advice }: ConnectionCause, cause: unknown): UsageError {
  const message = `Expected a Temporal server at ${address}, got: ${text}. ${advice}`;
  return Object.assign(new UsageError('no_server', message), { cause });
}

/** The gRPC status for a caller that the server does not know. */
const GRPC_UNAUTHENTICATED = 16;

async function requireNamespace(
  connection: Connection,
  address: string,
  namespace: string,
): Promise<void> {
  try {
    await connection.workflowService.describeNamespace({ namespace });
  } catch (error) {
    if (!isGrpcServiceError(error)) return;
    const unknown = error.code === GRPC_UNAUTHENTICATED ? credentialsCause(error) : undefined;
    if (unknown !== undefined) throw noServer(address, unknown, error);
    // A caller without permission to describe a namespace may still use it.
    if (!isNotFound(error)) return;
    throw new UsageError(
      'server_namespace',
      `Expected the Temporal server at ${address} to have a namespace \`${namespace}\`, got none ` +
        'of that name. Create it, or correct `TEMPORAL_NAMESPACE`.',
    );
  }
}

function textOf(value: string | undefined): string | undefined {
  const text = value?.trim();
  return text === '' ? undefined : text;
}
