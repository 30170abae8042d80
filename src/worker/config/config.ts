/** The environment as a typed configuration; everything that is wrong with it in one error. */
import {
  readTemporalEnvironment,
  type Environment,
  type TemporalEnvironment,
} from '../../client/temporal-environment.ts';
import { usageErrorOf, type UsageProblem } from '../../core/base/usage-error.ts';

/** Levels of the worker's log, from the most to the least talkative. */
export const LOG_LEVELS = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR'] as const;

/** One of {@link LOG_LEVELS}. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** What a variable that is not set means. */
export const CONFIG_DEFAULTS = {
  /** One queue for all is right until models or tools need machines of their own. */
  taskQueue: 'everloop',
  /** Beside the project's own files, and in its .gitignore. */
  dataDir: '.everloop',
  /** 64 MB hold some 300 conversations of 200 KB; a miss costs one query. */
  cacheBytes: 67_108_864,
  /** A model call that runs may end: most do within this. The SDK's 0 cancels each at once. */
  shutdownGraceMs: 30_000,
  /** What a person at a terminal wants to see. */
  logLevel: 'INFO',
} as const;

/** How a worker process is set up. */
export interface WorkerConfig {
  /** Without an address: find or start the embedded server. */
  readonly temporal: TemporalEnvironment;
  /** Workflows, and whatever has no queue of its own. */
  readonly taskQueue: string;
  readonly modelTaskQueue: string;
  readonly toolTaskQueue: string;
  /** Holds the embedded server's database, the bundle cache, logs and archives. */
  readonly dataDir: string;
  /** Bound of the transcript cache; 0 turns it off. */
  readonly cacheBytes: number;
  /** Absent: what the SDK reckons from the heap. 0 replays every task from its beginning. */
  readonly maxCachedWorkflows?: number;
  readonly shutdownGraceMs: number;
  readonly logLevel: LogLevel;
  /**
   * Where readers of provisional text connect; absent: any free port of 127.0.0.1, told to this
   * machine by a note in the data folder. `off`: nowhere.
   */
  readonly streamListen?: StreamListen | 'off';
  /** What such readers must know; absent: a new one for each process, in the note. */
  readonly streamToken?: string;
}

/** An interface and a port of this machine. */
export interface StreamListen {
  readonly host: string;
  readonly port: number;
}

/** Every variable of Everloop's own: unknown ones are taken for misspelt. */
const OWN_VARIABLES = [
  'EVERLOOP_TASK_QUEUE',
  'EVERLOOP_MODEL_TASK_QUEUE',
  'EVERLOOP_TOOL_TASK_QUEUE',
  'EVERLOOP_DATA_DIR',
  'EVERLOOP_CACHE_BYTES',
  'EVERLOOP_MAX_CACHED_WORKFLOWS',
  'EVERLOOP_SHUTDOWN_GRACE_MS',
  'EVERLOOP_LOG_LEVEL',
  'EVERLOOP_STREAM_LISTEN',
  'EVERLOOP_STREAM_TOKEN',
  // Read by clients.
  'EVERLOOP_STREAM_URL',
] as const;

type OwnVariable = (typeof OWN_VARIABLES)[number];

/** The service refuses longer names of task queues. */
const MAX_QUEUE_NAME_BYTES = 1_000;

/** A deploy that waits longer than an hour has hung. */
const MAX_GRACE_MS = 3_600_000;

/**
 * Reads the configuration from `env`. An empty variable counts as not set.
 *
 * `TEMPORAL_…` variables and profiles are read as the Temporal CLI does, by `@temporalio/envconfig`:
 * address, namespace, API key, TLS, and `TEMPORAL_PROFILE` of a TOML file. Throws one `UsageError`
 * with all problems, code `environment`.
 */
export function readConfig(env: Environment): WorkerConfig {
  const problems: UsageProblem[] = [];
  const report = (variable: string, expected: string, got: string, advice: string): void => {
    const message = `Expected \`${variable}\` ${expected}, got ${got}. ${advice}`;
    problems.push({ code: 'environment', message });
  };
  const reader = createReader(env, report);

  for (const name of Object.keys(env)) {
    if (!name.startsWith('EVERLOOP_') || OWN_VARIABLES.some((known) => known === name)) continue;
    const known = OWN_VARIABLES.join(', ');
    report(name, 'to be a variable of Everloop', 'an unknown one', `Known are ${known}.`);
  }
  const taskQueue = reader.queue('EVERLOOP_TASK_QUEUE', CONFIG_DEFAULTS.taskQueue);
  const maxCachedWorkflows = reader.integer('EVERLOOP_MAX_CACHED_WORKFLOWS', {
    what: 'workflows',
    max: 1_000_000,
  });
  const config: WorkerConfig = {
    temporal: readTemporalEnvironment(env, report),
    taskQueue,
    modelTaskQueue: reader.queue('EVERLOOP_MODEL_TASK_QUEUE', taskQueue),
    toolTaskQueue: reader.queue('EVERLOOP_TOOL_TASK_QUEUE', taskQueue),
    dataDir: reader.text('EVERLOOP_DATA_DIR') ?? CONFIG_DEFAULTS.dataDir,
    cacheBytes:
      reader.integer('EVERLOOP_CACHE_BYTES', { what: 'bytes', max: Number.MAX_SAFE_INTEGER }) ??
      CONFIG_DEFAULTS.cacheBytes,
    ...(maxCachedWorkflows === undefined ? {} : { maxCachedWorkflows }),
    shutdownGraceMs:
      reader.integer('EVERLOOP_SHUTDOWN_GRACE_MS', { what: 'milliseconds', max: MAX_GRACE_MS }) ??
      CONFIG_DEFAULTS.shutdownGraceMs,
    logLevel: reader.logLevel('EVERLOOP_LOG_LEVEL') ?? CONFIG_DEFAULTS.logLevel,
    ...readStreaming(reader.text, report),
  };
  if (problems.length > 0) throw usageErrorOf(problems);
  return config;
}

type Report = (variable: string, expected: string, got: string, advice: string) => void;

/** Reads single variables; one that does not fit is reported and counts as not set. */
function createReader(env: Environment, report: Report) {
  const text = (name: OwnVariable): string | undefined => {
    const value = env[name]?.trim();
    return value === '' ? undefined : value;
  };
  return {
    text,
    queue: (name: OwnVariable, fallback: string): string => {
      const value = text(name) ?? fallback;
      const bytes = Buffer.byteLength(value);
      if (bytes <= MAX_QUEUE_NAME_BYTES) return value;
      const expected = `to be a name of at most ${MAX_QUEUE_NAME_BYTES} bytes`;
      report(name, expected, `${bytes}`, 'Shorten it.');
      return fallback;
    },
    integer: (
      name: OwnVariable,
      { what, max }: { readonly what: string; readonly max: number },
    ): number | undefined => {
      const value = text(name);
      if (value === undefined) return undefined;
      const number = Number(value);
      if (/^\d+$/.test(value) && number <= max) return number;
      const range = max === Number.MAX_SAFE_INTEGER ? 'from 0 up' : `from 0 to ${max}`;
      report(
        name,
        `to be a whole number of ${what} ${range}`,
        quote(value),
        'Correct or unset it.',
      );
      return undefined;
    },
    logLevel: (name: OwnVariable): LogLevel | undefined => {
      const value = text(name);
      const level = LOG_LEVELS.find((known) => known === value?.toUpperCase());
      if (value !== undefined && level === undefined) {
        const expected = `to be one of ${LOG_LEVELS.join(', ')}`;
        report(name, expected, quote(value), 'Correct or unset it.');
      }
      return level;
    },
  };
}

/** Shorter ones could be tried out. */
const MIN_TOKEN_CHARACTERS = 16;

const LOOPBACK: readonly string[] = ['127.0.0.1', '[::1]', 'localhost'];

function readStreaming(
  text: (name: OwnVariable) => string | undefined,
  report: Report,
): Pick<WorkerConfig, 'streamListen' | 'streamToken'> {
  const listen = text('EVERLOOP_STREAM_LISTEN');
  const token = text('EVERLOOP_STREAM_TOKEN');
  if (token !== undefined && token.length < MIN_TOKEN_CHARACTERS) {
    const expected = `to have at least ${MIN_TOKEN_CHARACTERS} characters`;
    report('EVERLOOP_STREAM_TOKEN', expected, `${token.length}`, 'Take a longer one.');
  }
  const streamToken = token === undefined ? {} : { streamToken: token };
  if (listen === undefined || listen === 'off') {
    return { ...streamToken, ...(listen === undefined ? {} : { streamListen: listen }) };
  }
  const [, host = '', digits = ''] = /^(\[[^\]]+\]|[^:]+):(\d{1,5})$/.exec(listen) ?? [];
  const port = Number(digits);
  if (host === '' || port > 65_535) {
    const expected = 'to be `off`, or an interface and a port such as 0.0.0.0:7244';
    report('EVERLOOP_STREAM_LISTEN', expected, quote(listen), 'Correct or unset it.');
    return streamToken;
  }
  if (token === undefined && !LOOPBACK.includes(host)) {
    const expected = `to be set when others can reach ${host}`;
    report('EVERLOOP_STREAM_TOKEN', expected, 'none', 'Give workers and readers the same one.');
  }
  return { ...streamToken, streamListen: { host: host.replace(/^\[|\]$/g, ''), port } };
}

function quote(value: string): string {
  return `\`${value.slice(0, 200)}\``;
}
