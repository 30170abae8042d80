/**
 * Reads the environment into a typed configuration, and reports all of its problems in one error.
 */
import { isSecret } from '../../callbacks/signature.ts';
import { DEFAULT_DATA_DIR } from '../../client/streaming/chunk-endpoints.ts';
import { DEFAULT_TASK_QUEUE } from '../../client/everloop-client.ts';
import {
  readTemporalEnvironment,
  type Environment,
  type ReportVariable,
  type TemporalEnvironment,
} from '../../client/connection/temporal-environment.ts';
import { defined } from '../../core/base/defined.ts';
import { nearestName } from '../../core/text/nearest.ts';
import { VERSION } from '../../core/base/version.ts';
import { usageErrorOf, type UsageProblem } from '../../core/base/usage-error.ts';
import {
  buildProblem,
  DEFAULT_DEPLOYMENT,
  deploymentNameProblem,
  type WorkerVersion,
} from '../../versioning/worker-version.ts';
import {
  checkTelemetry,
  NO_TELEMETRY,
  readMetricsTarget,
  TRACE_CONTENTS,
  type CheckedTelemetry,
  type TelemetryOptions,
  type TelemetryVariables,
} from '../../telemetry/options.ts';
import {
  environmentProtection,
  protectionOf,
  type Protection,
} from '../../protection/protection.ts';
import { secretValues, type SecretValues } from '../../protection/secret-values.ts';
import { keepMsOf } from '../retention/archive-keep.ts';
import { readHeldPatches, type HeldPatches } from './held-patches.ts';
import {
  checkStreamToken,
  streamListen,
  streamTls,
  streamToken,
  type StreamListen,
  type StreamTlsFiles,
} from './stream-settings.ts';
import {
  asItIs,
  listed,
  nameOf,
  nameUpTo,
  oneOf,
  onOrOff,
  quoted,
  wholeNumber,
  wholeNumberOrInfinity,
  type ReadVariable,
  type Refuse,
} from './variable-values.ts';

/** Levels of the worker's log, from the most to the least verbose. */
export const LOG_LEVELS = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR'] as const;

/** One of {@link LOG_LEVELS}. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Forms of the worker's log. */
export const LOG_FORMATS = ['text', 'json'] as const;

/** One of {@link LOG_FORMATS}. */
export type LogFormat = (typeof LOG_FORMATS)[number];

/** The values of variables that are not set. */
export const CONFIG_DEFAULTS: Pick<
  WorkerConfig,
  'taskQueue' | 'dataDir' | 'cacheBytes' | 'shutdownGraceMs' | 'logLevel' | 'logFormat'
> = {
  /** One queue for everything suffices until models or tools need machines of their own. */
  taskQueue: DEFAULT_TASK_QUEUE,
  dataDir: DEFAULT_DATA_DIR,
  /** 64 MB hold some 300 conversations of 200 KB; a miss costs one query. */
  cacheBytes: 67_108_864,
  /** Most model calls end within this time. The SDK's default of 0 cancels them at once. */
  shutdownGraceMs: 30_000,
  /** What a person at a terminal wants to see. */
  logLevel: 'INFO',
  logFormat: 'text',
};

/** The configuration of a worker process. */
export interface WorkerConfig {
  /** Without an address, the embedded server is found or started. */
  readonly temporal: TemporalEnvironment;
  /** For workflows, and for everything without a queue of its own. */
  readonly taskQueue: string;
  readonly modelTaskQueue: string;
  readonly toolTaskQueue: string;
  /** Holds the embedded server's database, the bundle cache, logs and archives. */
  readonly dataDir: string;
  /** Size of the transcript cache; 0 turns it off. */
  readonly cacheBytes: number;
  /** Absent: the SDK derives it from the heap. 0 replays every workflow task from its beginning. */
  readonly maxCachedWorkflows?: number;
  readonly shutdownGraceMs: number;
  readonly logLevel: LogLevel;
  /** `json`: each line of the log is JSON. */
  readonly logFormat: LogFormat;
  /** Traces and metrics, checked. */
  readonly telemetry: CheckedTelemetry;
  /**
   * How long runs wait for a worker that has what they need; Infinity: for ever. Absent: ten
   * minutes, but not at all for `local()` and `everloop dev`.
   */
  readonly elsewhereMs?: number;
  /**
   * Where readers of provisional text connect. Absent: any free port of 127.0.0.1, which a note in
   * the data folder announces to this machine. `off`: nowhere.
   */
  readonly streamListen?: StreamListen | 'off';
  /**
   * The tokens of these readers, separated by commas; the first also signs scoped tokens. Absent: a
   * new one for each process, in the note.
   */
  readonly streamToken?: string;
  /** What they are served with at `streamListen`. Absent: plain HTTP. */
  readonly streamTls?: StreamTlsFiles;
  /** The version that this worker is part of. Absent: none; new runs go to any worker. */
  readonly version?: WorkerVersion;
  /** Patches of the workflow that no run may begin to use on this worker. Absent: none. */
  readonly holdPatches?: HeldPatches;
  /** False: this worker deletes no blobs of forgotten runs, and no archived pages. Default true. */
  readonly gc?: boolean;
  /** The bearer token of a codec server. Absent: it serves this machine only, and asks for none. */
  readonly codecToken?: string;
  /**
   * The bearer tokens of a server for MCP hosts, separated by commas. Absent: it serves this machine
   * only, and asks for none.
   */
  readonly mcpToken?: string;
  /** How long archived pages of runs that have ended stay, in ms. Absent: for ever. */
  readonly archiveKeepMs?: number;
  /**
   * What callbacks are signed with, the newest first: `whsec_` and 24 to 64 bytes in base64 each.
   * Absent: this worker sends none, and they wait for one that does.
   */
  readonly callbackSecrets?: readonly string[];
  /** The hosts that callbacks may go to: `hooks.example.com`, `*.example.com`. Absent: any. */
  readonly callbackHosts?: readonly string[];
  /** The hosts from which media of requests are fetched, in the same form. Absent: any at a public address. */
  readonly mediaHosts?: readonly string[];
  /** What encrypts the payloads of runs. Absent: nothing does. */
  readonly protection?: Protection;
  /** Values that no text that leaves this worker has. Absent: none. */
  readonly secrets?: SecretValues;
}

/** The service refuses longer names of task queues. */
const MAX_QUEUE_NAME_BYTES = 1_000;

const queueName = nameUpTo(MAX_QUEUE_NAME_BYTES);

/** A longer wait would make a deployment appear to hang. */
const MAX_GRACE_MS = 3_600_000;

/** Every variable of Everloop. */
const VARIABLES = {
  EVERLOOP_TASK_QUEUE: queueName,
  EVERLOOP_MODEL_TASK_QUEUE: queueName,
  EVERLOOP_TOOL_TASK_QUEUE: queueName,
  EVERLOOP_DATA_DIR: asItIs,
  EVERLOOP_CACHE_BYTES: wholeNumber('bytes', Number.MAX_SAFE_INTEGER),
  EVERLOOP_MAX_CACHED_WORKFLOWS: wholeNumber('workflows', 1_000_000),
  EVERLOOP_SHUTDOWN_GRACE_MS: wholeNumber('milliseconds', MAX_GRACE_MS),
  EVERLOOP_LOG_LEVEL: logLevel,
  EVERLOOP_ELSEWHERE_MS: wholeNumberOrInfinity('milliseconds'),
  EVERLOOP_STREAM_LISTEN: streamListen,
  EVERLOOP_STREAM_TOKEN: streamToken,
  EVERLOOP_STREAM_TLS: streamTls,
  EVERLOOP_BUILD_ID: nameOf(buildProblem),
  /** Also read by operators. */
  EVERLOOP_DEPLOYMENT: nameOf(deploymentNameProblem),
  EVERLOOP_HOLD_PATCHES: heldPatches,
  EVERLOOP_CALLBACK_SECRET: callbackSecrets,
  EVERLOOP_CALLBACK_HOSTS: listed,
  EVERLOOP_MEDIA_HOSTS: listed,
  EVERLOOP_LOG_FORMAT: oneOf(LOG_FORMATS),
  EVERLOOP_TRACES: oneOf(['on', 'off'] as const),
  EVERLOOP_TRACE_CONTENT: oneOf(TRACE_CONTENTS),
  EVERLOOP_METRICS: metricsTarget,
  EVERLOOP_METRICS_PUBLIC: oneOf(['0', '1'] as const),
  EVERLOOP_METRICS_TENANTS: listed,
  /** Read by the command `trace`. */
  EVERLOOP_TRACE_URL: asItIs,
  /** Read together, by `keysOfEnvironment`. */
  EVERLOOP_KEYS: asItIs,
  EVERLOOP_KEYS_FILE: asItIs,
  /** Read by `ruleOfEnvironment`. */
  EVERLOOP_KEY_FOR: asItIs,
  /** Read by `blobsOfEnvironment`. */
  EVERLOOP_BLOBS: asItIs,
  EVERLOOP_GC: onOrOff,
  EVERLOOP_CODEC_TOKEN: streamToken,
  EVERLOOP_MCP_TOKEN: streamToken,
  EVERLOOP_SECRETS: listed,
  EVERLOOP_ARCHIVE_KEEP: archiveKeep,
  /** Read by clients. */
  EVERLOOP_STREAM_URL: asItIs,
  /** Read by the console. */
  EVERLOOP_CONSOLE_TOKEN: streamToken,
  EVERLOOP_CONSOLE_READ_TOKEN: streamToken,
  EVERLOOP_CONSOLE_HOSTS: asItIs,
  EVERLOOP_CONSOLE_USER_HEADER: asItIs,
} satisfies Readonly<Record<string, ReadVariable<unknown>>>;

type Variable = keyof typeof VARIABLES;

/**
 * Reads the configuration from `env`. An empty variable counts as not set.
 *
 * `@temporalio/envconfig` reads `TEMPORAL_…` variables and profiles, as for the Temporal CLI:
 * address, namespace, API key, TLS, and `TEMPORAL_PROFILE` of a TOML file. Throws one `UsageError`
 * with all problems, code `environment`. `warn` gets the variables of Everloop that this version
 * does not know: the environment of a newer version must not keep an older one from starting.
 * `telemetry` overrides what the variables say of traces and metrics.
 */
export function readConfig(
  env: Environment,
  warn: (names: readonly string[]) => void = warnOfVariables,
  telemetry?: TelemetryOptions | boolean,
): WorkerConfig {
  const problems: UsageProblem[] = [];
  const report: ReportVariable = (variable, expected, got, advice) => {
    const message = `Expected \`${variable}\` ${expected}, got ${got}. ${advice}`;
    problems.push({ code: 'environment', message });
  };
  const read = variableReader(env, report);
  checkNames(env, report, warn);
  const taskQueue = read('EVERLOOP_TASK_QUEUE') ?? CONFIG_DEFAULTS.taskQueue;
  const name = read('EVERLOOP_DEPLOYMENT') ?? DEFAULT_DEPLOYMENT;
  const build = read('EVERLOOP_BUILD_ID');
  const config = defined({
    temporal: readTemporalEnvironment(env, report),
    protection: readProtection(env, problems),
    secrets: readSecrets(read('EVERLOOP_SECRETS'), env, problems),
    taskQueue,
    modelTaskQueue: read('EVERLOOP_MODEL_TASK_QUEUE') ?? taskQueue,
    toolTaskQueue: read('EVERLOOP_TOOL_TASK_QUEUE') ?? taskQueue,
    dataDir: read('EVERLOOP_DATA_DIR') ?? CONFIG_DEFAULTS.dataDir,
    cacheBytes: read('EVERLOOP_CACHE_BYTES') ?? CONFIG_DEFAULTS.cacheBytes,
    maxCachedWorkflows: read('EVERLOOP_MAX_CACHED_WORKFLOWS'),
    shutdownGraceMs: read('EVERLOOP_SHUTDOWN_GRACE_MS') ?? CONFIG_DEFAULTS.shutdownGraceMs,
    logLevel: read('EVERLOOP_LOG_LEVEL') ?? CONFIG_DEFAULTS.logLevel,
    logFormat: read('EVERLOOP_LOG_FORMAT') ?? CONFIG_DEFAULTS.logFormat,
    telemetry: NO_TELEMETRY,
    elsewhereMs: read('EVERLOOP_ELSEWHERE_MS'),
    streamToken: read('EVERLOOP_STREAM_TOKEN'),
    streamListen: read('EVERLOOP_STREAM_LISTEN'),
    streamTls: read('EVERLOOP_STREAM_TLS'),
    version: build === undefined ? undefined : { name, build },
    holdPatches: read('EVERLOOP_HOLD_PATCHES'),
    gc: read('EVERLOOP_GC'),
    codecToken: read('EVERLOOP_CODEC_TOKEN'),
    mcpToken: read('EVERLOOP_MCP_TOKEN'),
    archiveKeepMs: read('EVERLOOP_ARCHIVE_KEEP'),
    callbackSecrets: read('EVERLOOP_CALLBACK_SECRET'),
    callbackHosts: read('EVERLOOP_CALLBACK_HOSTS'),
    mediaHosts: read('EVERLOOP_MEDIA_HOSTS'),
  });
  checkStreamToken(config, report);
  const variables = telemetryVariables(read, env);
  if (problems.length > 0) throw usageErrorOf(problems);
  return { ...config, telemetry: checkTelemetry(telemetry, variables) };
}

/** The value of a variable; undefined if it is not set, or not valid. */
type ReadSetting = <Name extends Variable>(
  name: Name,
) => ReturnType<(typeof VARIABLES)[Name]> | undefined;

function variableReader(env: Environment, report: ReportVariable): ReadSetting {
  return <Name extends Variable>(name: Name) => {
    const text = env[name]?.trim() ?? '';
    if (text === '') return undefined;
    const refuse: Refuse = (expected, got = quoted(text), advice = 'Correct or unset it.') => {
      report(name, expected, got, advice);
      return undefined;
    };
    const readVariable: ReadVariable<unknown> = VARIABLES[name];
    return readVariable(text, refuse) as ReturnType<(typeof VARIABLES)[Name]>;
  };
}

/** What the environment says of traces and metrics. */
function telemetryVariables(read: ReadSetting, env: Environment): TelemetryVariables {
  return defined({
    traces: read('EVERLOOP_TRACES'),
    content: read('EVERLOOP_TRACE_CONTENT'),
    metrics: read('EVERLOOP_METRICS'),
    metricsPublic: read('EVERLOOP_METRICS_PUBLIC') === '1',
    tenants: read('EVERLOOP_METRICS_TENANTS'),
    hasEndpoint: ENDPOINTS.some((name) => (env[name]?.trim() ?? '') !== ''),
  });
}

/** Variables of OpenTelemetry that name where spans go. */
const ENDPOINTS = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] as const;

function readProtection(env: Environment, problems: UsageProblem[]): Protection | undefined {
  const found = environmentProtection(env, (message) =>
    problems.push({ code: 'environment', message }),
  );
  return Object.keys(found).length === 0 ? undefined : protectionOf(undefined, found);
}

function readSecrets(
  names: readonly string[] | undefined,
  env: Environment,
  problems: UsageProblem[],
): SecretValues | undefined {
  if (names === undefined) return undefined;
  return secretValues(names, env, (message) => problems.push({ code: 'environment', message }));
}

/** Reports names that look misspelled, and warns of other unknown ones. */
function checkNames(
  env: Environment,
  report: ReportVariable,
  warn: (names: readonly string[]) => void,
): void {
  const unknown = unknownVariables(env);
  for (const [name, near] of unknown) {
    if (near === undefined) continue;
    report(name, 'to be a variable of Everloop', 'an unknown one', `Did you mean \`${near}\`?`);
  }
  const strange = unknown.filter(([, near]) => near === undefined).map(([name]) => name);
  if (strange.length > 0) warn(strange);
}

/**
 * Variables of Everloop that nothing reads, each with the known name that it may be meant to be.
 */
export function unknownVariables(
  env: Environment,
): readonly (readonly [string, string | undefined])[] {
  const known = Object.keys(VARIABLES);
  return Object.keys(env)
    .filter((name) => name.startsWith('EVERLOOP_') && !known.includes(name))
    .map((name) => [name, nearestName(name, known)]);
}

let isWarned = false;

/** One warning for each process, which may read its environment several times. */
function warnOfVariables(names: readonly string[]): void {
  if (isWarned) return;
  isWarned = true;
  const message = `Everloop ${VERSION} does not know ${names.join(', ')}, and ignores it.`;
  process.emitWarning(message, 'EverloopWarning');
}

function logLevel(text: string, refuse: Refuse): LogLevel | undefined {
  const level = LOG_LEVELS.find((known) => known === text.toUpperCase());
  return level ?? refuse(`to be one of ${LOG_LEVELS.join(', ')}`);
}

function archiveKeep(text: string, refuse: Refuse): number | undefined {
  return keepMsOf(text) ?? refuse('to be hours or days such as 12h or 90d');
}

function metricsTarget(text: string, refuse: Refuse): string | undefined {
  if (text === 'off' || text === 'otlp' || readMetricsTarget(text) !== null) return text;
  return refuse('to be off, otlp, or a host and a port such as 127.0.0.1:9464');
}

/** The message never shows the text, which is a secret even if it has a wrong form. */
function callbackSecrets(text: string, refuse: Refuse): readonly string[] | undefined {
  const secrets = listed(text);
  if (secrets.every(isSecret)) return secrets;
  const expected = 'to be `whsec_` and 24 to 64 bytes in base64, several with spaces between';
  return refuse(expected, 'another text', 'Make one: see docs/callbacks.md.');
}

function heldPatches(text: string, refuse: Refuse): HeldPatches | undefined {
  return readHeldPatches(text, (name, near) =>
    refuse('to be `all` or names of patches', quoted(name), `Did you mean \`${near}\`?`),
  );
}
