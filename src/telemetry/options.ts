/** The options of telemetry, and what the environment says about it. */
import { defined } from '../core/base/defined.ts';
import { isLoopback } from '../core/base/loopback.ts';
import { UsageError } from '../core/base/usage-error.ts';
import { tenantProblem } from '../core/tenant/tenant.ts';
import { shown } from '../core/text/shown.ts';
import type { TraceContent } from './content.ts';

/** What traces are made of. */
export interface TraceOptions {
  /**
   * Receive the spans, in place of OTLP over HTTP: span processors of the OpenTelemetry SDK 2, such
   * as `new LangfuseSpanProcessor()`.
   */
  readonly spanProcessors?: readonly object[];
  /** A resource of the OpenTelemetry SDK 2. Default: that of the `OTEL_…` variables. */
  readonly resource?: object;
  /**
   * What spans carry of what was said. `off` (default): nothing. `events`: arguments and results of
   * calls, as events show them. `full`: messages too, at most 32 KB in each attribute.
   */
  readonly content?: TraceContent;
  /** The share of trees that are recorded, from 0 to 1; default 1. All workers choose the same. */
  readonly sample?: number;
}

/** Options of telemetry. */
export interface TelemetryOptions {
  /**
   * True: spans go to the endpoint of the `OTEL_…` variables as OTLP over HTTP. Default:
   * `EVERLOOP_TRACES`; without it, on exactly if `OTEL_EXPORTER_OTLP_ENDPOINT` or
   * `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` is set.
   */
  readonly traces?: boolean | TraceOptions;
  /**
   * Where metrics go: `127.0.0.1:9464` for a scrape of Prometheus, `otlp` to the endpoint of the
   * `OTEL_…` variables, `off`. Default: `EVERLOOP_METRICS`, else `off`.
   */
  readonly metrics?: string;
  /**
   * The tenants that are values of the label `tenant`, at most 100; any other is `other`, and a run
   * without one is `none`. Default: `EVERLOOP_METRICS_TENANTS`; without it there is no such label.
   */
  readonly tenants?: readonly string[];
}

/** Variables of Everloop that say something about telemetry, as far as they are set. */
export interface TelemetryVariables {
  readonly traces?: 'on' | 'off';
  readonly content?: TraceContent;
  readonly metrics?: string;
  readonly metricsPublic?: boolean;
  readonly tenants?: readonly string[];
  /** Whether an endpoint of OTLP is named. */
  readonly hasEndpoint: boolean;
}

/** Options that were checked, with their defaults. */
export interface CheckedTelemetry {
  /** Absent: no traces. */
  readonly traces?: TraceOptions & Required<Pick<TraceOptions, 'content' | 'sample'>>;
  readonly metrics?: MetricsTarget;
  /** The values of the label `tenant`; absent: there is no such label. */
  readonly tenants?: readonly string[];
}

/** Where metrics go: a scrape at an address, or a collector. */
export type MetricsTarget =
  | { readonly kind: 'prometheus'; readonly host: string; readonly port: number }
  | { readonly kind: 'otlp' };

/** Neither traces nor metrics. */
export const NO_TELEMETRY: CheckedTelemetry = {};

/** Values of `content`, from nothing to all. */
export const TRACE_CONTENTS = ['off', 'events', 'full'] as const;

/**
 * Checks `options`, with the environment for what they leave out.
 *
 * @throws UsageError `environment` for what is not allowed.
 */
export function checkTelemetry(
  options: TelemetryOptions | boolean | undefined,
  variables: TelemetryVariables,
): CheckedTelemetry {
  const given: TelemetryOptions =
    typeof options === 'boolean' ? { traces: options } : (options ?? {});
  if (typeof given !== 'object' || given === null) {
    throw refused(
      `Expected \`telemetry\` to be { traces?, metrics? }, got ${shown(options)}. Write it so.`,
    );
  }
  return defined({
    traces: tracesOf(given.traces, variables),
    metrics: metricsOf(given.metrics ?? variables.metrics, variables.metricsPublic === true),
    tenants: tenantsOf(given.tenants ?? variables.tenants),
  });
}

/** Tenants that become labels. */
const MAX_TENANT_LABELS = 100;

function tenantsOf(given: readonly string[] | undefined): CheckedTelemetry['tenants'] {
  if (given === undefined) return undefined;
  if (!Array.isArray(given) || given.length > MAX_TENANT_LABELS) {
    throw refused(
      `Expected \`tenants\` to be a list of at most ${MAX_TENANT_LABELS} tenants, got ${shown(given)}. Name those that you watch.`,
    );
  }
  const [problem] = given.flatMap((name) => tenantProblem(name) ?? []);
  if (problem !== undefined) throw refused(problem);
  return given;
}

function tracesOf(
  given: TelemetryOptions['traces'],
  { traces, content: contentVariable = 'off', hasEndpoint }: TelemetryVariables,
): CheckedTelemetry['traces'] {
  const isOn = given ?? (traces === undefined ? hasEndpoint : traces === 'on');
  if (isOn === false) return undefined;
  const options: TraceOptions = isOn === true ? {} : isOn;
  if (typeof options !== 'object' || options === null) {
    throw refused(
      `Expected \`traces\` to be true, false or { spanProcessors?, resource?, content?, sample? }, got ${shown(given)}. Write it so.`,
    );
  }
  const { content = contentVariable, sample = 1, spanProcessors } = options;
  if (!TRACE_CONTENTS.includes(content)) {
    throw refused(
      `Expected \`traces.content\` to be one of ${TRACE_CONTENTS.join(', ')}, got ${shown(content)}. Choose one.`,
    );
  }
  if (typeof sample !== 'number' || !(sample >= 0 && sample <= 1)) {
    throw refused(`Expected \`traces.sample\` from 0 to 1, got ${shown(sample)}. Change it.`);
  }
  if (spanProcessors !== undefined && !Array.isArray(spanProcessors)) {
    throw refused(
      `Expected \`traces.spanProcessors\` to be a list, got ${shown(spanProcessors)}. Write it as one.`,
    );
  }
  return { ...options, content, sample };
}

function metricsOf(text: string | undefined, isPublic: boolean): MetricsTarget | undefined {
  if (text === undefined || text === 'off') return undefined;
  if (text === 'otlp') return { kind: 'otlp' };
  const target = readMetricsTarget(text);
  if (target === null) {
    throw refused(
      `Expected \`metrics\` to be off, otlp, or a host and a port such as 127.0.0.1:9464, got ${shown(text)}. Correct it.`,
    );
  }
  if (!isPublic && !isLoopback(target.host)) {
    throw refused(
      `Expected \`metrics\` on this machine alone, such as 127.0.0.1:${target.port}, got \`${text}\`. Set EVERLOOP_METRICS_PUBLIC=1 if others may read the names of agents, tools and models.`,
    );
  }
  return target;
}

/** The address in `text`; null if it is none. */
export function readMetricsTarget(
  text: string,
): Extract<MetricsTarget, { readonly kind: 'prometheus' }> | null {
  const [, host = '', digits = ''] = /^(\[[^\]]+\]|[^:\s]+):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (host === '' || port > 65_535) return null;
  return { kind: 'prometheus', host: host.replace(/^\[|\]$/g, ''), port };
}

function refused(message: string): UsageError {
  return new UsageError('environment', message);
}
