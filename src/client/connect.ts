/** A client on a connection of its own, from the environment. */
import {
  Client,
  isGrpcServiceError,
  type Connection,
  type ConnectionOptions,
} from '@temporalio/client';
import { errorText } from '../core/base/error-text.ts';
import { UsageError, usageErrorOf, type UsageProblem } from '../core/base/usage-error.ts';
import { announcedEndpoints, namedEndpoints } from './chunk-endpoints.ts';
import type { ArchiveReader } from './chain-reader.ts';
import { createEverloop, type Everloop } from './everloop-client.ts';
import { followChunks } from './follow-chunks.ts';
import { openConnection, type OpenConnection } from './open-connection.ts';
import type { ChunkSource } from './run-stream.ts';
import { readTemporalEnvironment, type Environment } from './temporal-environment.ts';

/** What {@link connect} goes by when nothing else is said. */
export const CONNECT_DEFAULTS = {
  /** Where a development server listens. */
  address: '127.0.0.1:7233',
  /** A service may be across the world, but not down. */
  timeoutMs: 10_000,
} as const;

/** What {@link connect} takes; each field overrides the environment. */
export interface ConnectOptions {
  /** Host and port; default `TEMPORAL_ADDRESS`, else 127.0.0.1:7233. */
  readonly address?: string;
  /** Default `TEMPORAL_NAMESPACE`, else `default`. */
  readonly namespace?: string;
  /** TLS, API key, metadata, on top of those of the environment. */
  readonly connection?: ConnectionOptions;
  /** Default `EVERLOOP_TASK_QUEUE`, else `everloop`. */
  readonly taskQueue?: string;
  /**
   * Where `stream()` gets provisional text from; default: the workers of this machine with the same
   * data folder, and those at `streamUrls`.
   */
  readonly chunks?: ChunkSource;
  /**
   * Where workers elsewhere offer provisional text, such as `http://workers:7244`; a name that stands
   * for several addresses stands for as many workers. Default `EVERLOOP_STREAM_URL`, separated by
   * commas.
   */
  readonly streamUrls?: readonly string[];
  /** What these workers want to be told. Default `EVERLOOP_STREAM_TOKEN`. */
  readonly streamToken?: string;
  /** Where workers of this machine leave their notes. Default `EVERLOOP_DATA_DIR`, else `.everloop`. */
  readonly dataDir?: string;
  /** Where pages are that the service has forgotten. */
  readonly archive?: ArchiveReader;
  /** How long the service may take to answer; default 10 s. */
  readonly timeoutMs?: number;
  /** Default `process.env`. */
  readonly env?: Environment;
}

/** A client that owns its connection. */
export interface ConnectedEverloop extends Everloop {
  /** `127.0.0.1:7233` */
  readonly address: string;
  readonly namespace: string;
  /** Closes the connection; handles of this client fail afterwards. */
  close(): Promise<void>;
}

/**
 * A client of the service that the environment names.
 *
 * @throws UsageError `environment` for variables that do not fit, `no_server` when nobody answers
 * in time, `server_namespace` when the service lacks the namespace.
 * @example
 * const everloop = await connect();
 * const run = await everloop.start('researcher', { task: 'Compare …' });
 * const step = await run.result();
 * await everloop.close();
 */
export async function connect(options: ConnectOptions = {}): Promise<ConnectedEverloop> {
  const env = options.env ?? process.env;
  const found = environmentOf(env);
  const chunks = options.chunks ?? chunksOf(options, env);
  const address = options.address ?? found.address ?? CONNECT_DEFAULTS.address;
  const namespace = options.namespace ?? found.namespace;
  const { connection, close } = await open(address, {
    ...found.connection,
    ...options.connection,
    connectTimeout: options.timeoutMs ?? CONNECT_DEFAULTS.timeoutMs,
  });
  try {
    await requireNamespace(connection, address, namespace);
  } catch (error) {
    await close();
    throw error;
  }
  const taskQueue = options.taskQueue ?? textOf(env['EVERLOOP_TASK_QUEUE']);
  const { archive } = options;
  const everloop = createEverloop({
    client: new Client({ connection, namespace }),
    ...(taskQueue === undefined ? {} : { taskQueue }),
    chunks,
    ...(archive === undefined ? {} : { archive }),
  });
  return { ...everloop, address, namespace, close };
}

/** The folder of a worker that was not told another one; it is the default of its configuration. */
const DEFAULT_DATA_DIR = '.everloop';

function chunksOf(options: ConnectOptions, env: Environment): ChunkSource {
  const dataDir = options.dataDir ?? textOf(env['EVERLOOP_DATA_DIR']) ?? DEFAULT_DATA_DIR;
  const urls = options.streamUrls ?? (textOf(env['EVERLOOP_STREAM_URL']) ?? '').split(',');
  const named = urls.map((url) => url.trim()).filter((url) => url !== '');
  for (const url of named) {
    if (/^https?:\/\/[^/]/.test(url) && URL.canParse(url)) continue;
    throw new UsageError(
      'environment',
      `Expected \`EVERLOOP_STREAM_URL\` to be addresses such as http://workers:7244, got \`${url.slice(0, 200)}\`. Correct it.`,
    );
  }
  const token = options.streamToken ?? textOf(env['EVERLOOP_STREAM_TOKEN']) ?? '';
  return followChunks({ find: [announcedEndpoints(dataDir), namedEndpoints(named, token)] });
}

function environmentOf(env: Environment): ReturnType<typeof readTemporalEnvironment> {
  const problems: UsageProblem[] = [];
  const found = readTemporalEnvironment(env, (variable, expected, got, advice) => {
    const message = `Expected \`${variable}\` ${expected}, got ${got}. ${advice}`;
    problems.push({ code: 'environment', message });
  });
  if (problems.length > 0) throw usageErrorOf(problems);
  return found;
}

async function open(address: string, options: ConnectionOptions): Promise<OpenConnection> {
  try {
    return await openConnection({ ...options, address });
  } catch (error) {
    const reason = errorText(error).slice(0, 200);
    throw Object.assign(
      new UsageError(
        'no_server',
        `Expected a Temporal server at ${address}, got: ${reason}. ` +
          'Start one with `everloop dev`, or correct `TEMPORAL_ADDRESS`.',
      ),
      { cause: error },
    );
  }
}

/** The gRPC status that a server gives for a namespace it does not have. */
const GRPC_NOT_FOUND = 5;

async function requireNamespace(
  connection: Connection,
  address: string,
  namespace: string,
): Promise<void> {
  try {
    await connection.workflowService.describeNamespace({ namespace });
  } catch (error) {
    // Whoever may not describe a namespace may still use it.
    if (!isGrpcServiceError(error) || error.code !== GRPC_NOT_FOUND) return;
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
