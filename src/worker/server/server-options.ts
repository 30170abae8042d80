/** What a server of this machine is made of: options, their defaults, and files. */
import { join, resolve } from 'node:path';
import type { ConnectionOptions } from '@temporalio/client';
import { DEFAULT_DATA_DIR } from '../../client/streaming/chunk-endpoints.ts';
import type { Json } from '../../core/base/json.ts';
import { SEARCH_ATTRIBUTES } from '../../core/base/search-attributes.ts';

/** Defaults of {@link startOrFindServer}. */
export const EMBEDDED_SERVER_DEFAULTS = {
  dataDir: DEFAULT_DATA_DIR as typeof DEFAULT_DATA_DIR,
  /** The dev server skips HTTP security checks, so it listens on the loopback only. */
  host: '127.0.0.1',
  /** Temporal's own default, which other tools expect. */
  port: 7233,
  namespace: 'default',
  /** A server is ready within 1 s on an idle machine, but needs far longer under load. */
  readyWithinMs: 60_000,
  /** Enough for a server on another continent. */
  addressTimeoutMs: 5_000,
  /** Another process may first fetch the CLI over a slow line, then start its server. */
  lockWaitMs: 360_000,
  /** A server on this machine answers in milliseconds, unless the machine is overloaded. */
  localTimeoutMs: 3_000,
} as const;

/** The port of the web UI; Temporal's own default. */
export const DEFAULT_UI_PORT = 8_233;

/** Options of {@link startOrFindServer}. */
export interface EmbeddedServerOptions {
  /** Use only the server at this address; no server is started. */
  readonly address?: string;
  /** TLS, API key and the like for `address`. */
  readonly connection?: ConnectionOptions;
  readonly namespace?: string;
  /** The folder of the database, the logs and the note about a running server. */
  readonly dataDir?: string;
  /** The folder of the fetched CLI. Default: that of {@link cliFolder}, once for each user. */
  readonly cliDir?: string;
  /**
   * Port to listen on, and to find a running server at. `'free'` takes any free port, and shares
   * only the server of the same data folder.
   */
  readonly port?: number | 'free';
  /** Port of Temporal's web UI; `'free'` takes any. Default: no UI. */
  readonly uiPort?: number | 'free';
  /**
   * The codec server that the web UI of a server that is started here asks, such as
   * `http://127.0.0.1:7246`. Default: none.
   */
  readonly uiCodecEndpoint?: string;
  /**
   * Port at which a server that is started here serves its own metrics for Prometheus, at
   * `/metrics`. Default: none.
   */
  readonly metricsPort?: number;
  /**
   * Overrides the development settings of a server that is started here; null leaves a setting to
   * the server.
   */
  readonly dynamicConfig?: Readonly<Record<string, Json>>;
  /**
   * Further search attributes of a namespace that is created here, such as `{ Team: 'Keyword' }`.
   * Those of runs, `EverloopAgent`, `EverloopState` and `EverloopTenant`, are always added.
   */
  readonly searchAttributes?: Readonly<Record<string, string>>;
  /** Folders that are searched for `temporal`. Default: `PATH`. */
  readonly path?: string;
  /** Returns the path of the pinned CLI. Default: {@link fetchTemporalCli} into `cliDir`. */
  readonly fetchCli?: (folder: string) => Promise<string>;
  /**
   * Receives a line for people, before something that takes long, when something is wrong, and when
   * a server is used that this process did not start.
   */
  readonly onProgress?: (line: string) => void;
  /**
   * Starts a server again that was started here and ended by itself, and says when its database was
   * deleted. Default false.
   */
  readonly keeps?: boolean;
  /** How long a server may take to answer. Default: 60 s for a new one, 5 s for `address`. */
  readonly readyWithinMs?: number;
}

/** A Temporal server that answers. */
export interface EmbeddedServer {
  /** `127.0.0.1:7233` */
  readonly address: string;
  readonly namespace: string;
  /** Whether this process started it, and {@link stop} therefore stops it. */
  readonly startedHere: boolean;
  /** How it was found; for people and logs. */
  readonly origin: 'address' | 'data folder' | 'port' | 'path' | 'pinned CLI';
  /** Process id; absent when another program started the server. */
  readonly pid?: number;
  readonly uiUrl?: string;
  /** Absent when another program started it. */
  readonly logFile?: string;
  /** Stops a server that was started here and waits for its end; does nothing to a shared one. */
  readonly stop: () => Promise<void>;
  /** Settles when a server that was started here has ended; absent for a shared one. */
  readonly ended?: Promise<void>;
}

/** The options with their defaults, and the files of the data folder. */
export interface Setup extends EmbeddedServerOptions {
  readonly namespace: string;
  readonly dataDir: string;
  readonly port: number | 'free';
  /** Whether the caller chose the port. */
  readonly isPortGiven: boolean;
  readonly databaseFile: string;
  readonly stateFile: string;
  readonly lockFile: string;
  readonly logFile: string;
}

/** For lists of runs. */
const OWN_ATTRIBUTES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.values(SEARCH_ATTRIBUTES).map((name) => [name, 'Keyword']),
);

/** `options` with their defaults. */
export function setUp(options: EmbeddedServerOptions): Setup {
  const dataDir = resolve(options.dataDir ?? EMBEDDED_SERVER_DEFAULTS.dataDir);
  return {
    ...options,
    searchAttributes: { ...OWN_ATTRIBUTES, ...options.searchAttributes },
    namespace: options.namespace ?? EMBEDDED_SERVER_DEFAULTS.namespace,
    port: options.port ?? EMBEDDED_SERVER_DEFAULTS.port,
    isPortGiven: typeof options.port === 'number',
    dataDir,
    databaseFile: join(dataDir, 'temporal.db'),
    stateFile: join(dataDir, 'server.json'),
    lockFile: join(dataDir, 'server.lock'),
    logFile: join(dataDir, 'logs', 'temporal-server.log'),
  };
}
