/** Sets up the Temporal runtime of this process: its log and its metrics. */
import {
  makeTelemetryFilterString,
  Runtime,
  type LogEntry,
  type RuntimeOptions,
} from '@temporalio/worker';
import { createServer } from 'node:net';
import { errorText } from '../../core/base/error-text.ts';
import { defined } from '../../core/base/defined.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import type { HideText } from '../../core/text/hide.ts';
import { histogramBounds } from '../../telemetry/metrics.ts';
import type { MetricsTarget } from '../../telemetry/options.ts';
import type { Environment } from '../../client/connection/temporal-environment.ts';
import type { LogFormat, LogLevel } from '../config/config.ts';
import { logLine } from './log-line.ts';
import { workerLog, workerLogger, type LogHiding } from './worker-log.ts';
import { hostText } from '../../http/host-names.ts';

/** How the runtime of a process is set up. */
export interface RuntimeSetup {
  readonly logLevel: LogLevel;
  /** Default `text`. */
  readonly logFormat?: LogFormat | undefined;
  /** Whether errors are logged without their texts, which hold what runs hold. Default false. */
  readonly hidesFailures?: boolean;
  /** Takes values out of all lines; default: nothing does. */
  readonly hide?: HideText;
  /** Default: no metrics. */
  readonly metrics?: MetricsTarget;
  /** Where the endpoint of `otlp` is read. Default `process.env`. */
  readonly env?: Environment;
}

/**
 * Sets up the Temporal runtime of this process; later calls only add to what its log hides. All of
 * its log goes to stderr, so that stdout belongs to the program. It ignores signals, which `stopOnSignal` handles.
 *
 * @throws UsageError `environment` when metrics are asked for and cannot be had: no endpoint, or
 * another runtime that is installed.
 */
export function installRuntime(setup: RuntimeSetup): void {
  const { logLevel, metrics, logFormat } = setup;
  addHiding(setup);
  if (Runtime._instance !== undefined) {
    warnOfForeignLog(setup);
    if (metrics === undefined || sameMetrics === JSON.stringify(metrics)) return;
    // The user's own runtime takes precedence, or that of another worker of this process.
    throw refused(
      'Expected to install the runtime for `metrics`, got one that is installed. Set its telemetry options yourself.',
    );
  }
  const write =
    logFormat === 'json'
      ? (entry: LogEntry) => void process.stderr.write(logLine(entry))
      : undefined;
  const options: RuntimeOptions = {
    shutdownSignals: [],
    logger: workerLogger({ level: logLevel, hiding: () => hiding, ...defined({ write }) }),
    telemetryOptions: {
      logging: {
        forward: {},
        filter: makeTelemetryFilterString({ core: nativeLevel(logLevel), other: 'ERROR' }),
      },
      ...defined({ metrics: metrics && metricsOptions(metrics, setup.env ?? process.env) }),
    },
  };
  try {
    Runtime.install(options);
  } catch (error) {
    if (metrics === undefined) throw error;
    throw refused(`Expected to serve metrics, got: ${errorText(error)}. Correct \`metrics\`.`);
  }
  sameMetrics = JSON.stringify(metrics);
  isInstalledHere = true;
}

/** Whether the log of this process is the one above. */
let isInstalledHere = false;

/** What any worker of this process hides from their one log. */
let hiding: LogHiding = { hidesFailures: false };

const added = new WeakSet<HideText>();

function addHiding({ hidesFailures = false, hide }: RuntimeSetup): void {
  const { hide: before } = hiding;
  const isNew = hide !== undefined && !added.has(hide);
  if (isNew) added.add(hide);
  const both = isNew && before !== undefined ? (text: string) => hide(before(text)) : hide;
  hiding = {
    hidesFailures: hiding.hidesFailures || hidesFailures,
    ...defined({ hide: isNew ? both : before }),
  };
}

/** The log of a runtime that somebody else installed hides nothing. */
function warnOfForeignLog({ hidesFailures = false, hide }: RuntimeSetup): void {
  if (isInstalledHere || isWarned || (!hidesFailures && hide === undefined)) return;
  isWarned = true;
  workerLog(
    'WARN',
    'This process has a Temporal runtime of its own, whose log shows failures of runs and values of `secrets`. Install none, or hide them in its logger.',
  );
}

let isWarned = false;

/** What this process has installed; a runtime is installed once. */
let sameMetrics: string | undefined;

type Metrics = NonNullable<NonNullable<RuntimeOptions['telemetryOptions']>['metrics']>;

function metricsOptions(target: MetricsTarget, env: Environment): Metrics {
  const histogramBucketOverrides = histogramBounds();
  if (target.kind === 'prometheus') {
    const host = target.host === 'localhost' ? '127.0.0.1' : target.host;
    const bindAddress = `${hostText(host)}:${target.port}`;
    return { prometheus: { bindAddress, useSecondsForDurations: true, histogramBucketOverrides } };
  }
  const own = env['OTEL_EXPORTER_OTLP_METRICS_ENDPOINT']?.trim();
  const base = env['OTEL_EXPORTER_OTLP_ENDPOINT']?.trim();
  const url = own ? own : base ? `${base.replace(/\/$/, '')}/v1/metrics` : undefined;
  if (url === undefined) {
    throw refused(
      'Expected `OTEL_EXPORTER_OTLP_ENDPOINT` to be set for metrics `otlp`, got none. Set it to an address such as http://127.0.0.1:4318.',
    );
  }
  const headers = headersOf(
    env['OTEL_EXPORTER_OTLP_METRICS_HEADERS'] ?? env['OTEL_EXPORTER_OTLP_HEADERS'] ?? '',
  );
  const options = { url, http: true, headers, useSecondsForDurations: true };
  const metricsExportInterval = intervalOf(env['OTEL_METRIC_EXPORT_INTERVAL']);
  return { otel: { ...options, metricsExportInterval, histogramBucketOverrides } };
}

/** Milliseconds between two exports, as the variable of OpenTelemetry has them. */
function intervalOf(text: string | undefined): number {
  const ms = Number(text?.trim() || 10_000);
  if (Number.isInteger(ms) && ms > 0) return ms;
  throw refused(
    `Expected \`OTEL_METRIC_EXPORT_INTERVAL\` to be milliseconds such as 10000, got \`${text?.slice(0, 100)}\`. Correct it.`,
  );
}

/** `name=value,…`, as the variables of OpenTelemetry have it. */
function headersOf(text: string): Record<string, string> {
  return Object.fromEntries(
    text
      .split(',')
      .map((part) => part.split('='))
      .filter(([name = '', ...value]) => name.trim() !== '' && value.length > 0)
      .map(([name = '', ...value]) => [name.trim(), decodedHeader(value.join('=').trim())]),
  );
}

function decodedHeader(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw refused(
      'Expected `OTEL_EXPORTER_OTLP_HEADERS` to have values that are encoded as in a URL, got one with a `%` that begins no code. Write %25 for it.',
    );
  }
}

/**
 * Tries the port of metrics, of which the native runtime says nothing when it does not get it.
 *
 * @throws UsageError `environment` if it is in use.
 */
export async function checkMetricsPort(metrics: MetricsTarget | undefined): Promise<void> {
  if (metrics?.kind !== 'prometheus' || sameMetrics === JSON.stringify(metrics)) return;
  const { host, port } = metrics;
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, resolve);
    });
  } catch (error) {
    throw refused(
      `Expected a free port for \`metrics\` at ${host}:${port}, got: ${errorText(error)}. Choose another, or stop what listens there.`,
    );
  } finally {
    await new Promise((resolve) => {
      server.close(resolve);
    });
  }
}

function refused(message: string): UsageError {
  return new UsageError('environment', message);
}

/** The native part logs a lot, so at level INFO only its warnings are shown. */
function nativeLevel(logLevel: LogLevel): LogLevel {
  return logLevel === 'INFO' ? 'WARN' : logLevel;
}
