/** Opens telemetry: from checked options to what a worker calls. */
import type { MetricMeter } from '@temporalio/common';
import { defined } from '../core/base/defined.ts';
import { HIDE_NOTHING, type HideText } from '../core/text/hide.ts';
import { isOwnEvent, type AgentEvent, type EventPlace } from '../core/contract/events.ts';
import { NO_WATCH, type CallObserver } from './call-observer.ts';
import { CLEAN_NOTHING, type CleanText } from './content.ts';
import { isSampled } from './ids.ts';
import { createLostSpans } from './lost-spans.ts';
import { createMeter, NO_TENANT, type KnownNames, type MetricsWriter } from './meter.ts';
import {
  NO_SERVER_WATCH,
  watchServers,
  type ServerFacts,
  type ServerWatch,
} from './mcp-servers.ts';
import { metricsOf } from './metrics-of.ts';
import { NO_TELEMETRY, type CheckedTelemetry } from './options.ts';
import { spanOf, type SpanContext } from './span-of.ts';
import { openTracer, type Tracer } from './tracer.ts';
import { watchCalls } from './watch-calls.ts';

/** What a worker gives telemetry. */
export interface TelemetryParts {
  /** The meter of the runtime; absent: there is none. */
  readonly meter?: MetricMeter;
  readonly known: KnownNames;
  readonly providerOf?: SpanContext['providerOf'];
  /** How this worker reaches the server of a name. Default: it has none. */
  readonly transportOf?: (server: string) => ServerFacts['transport'];
  /** Bytes in the cache of transcripts. */
  readonly cacheBytes: () => number;
  /** Takes values out of attributes; default: nothing does. */
  readonly hide?: HideText;
  /** The text of a call of an agent as its models may read it; default: as it is. */
  readonly redact?: (agent: string, text: string) => string;
  /** Writes a line to the log of the worker. */
  readonly warn: (text: string) => void;
}

/** Telemetry of a worker. */
export interface Telemetry {
  /** Take every event that is published; none if nothing is on. */
  readonly listeners: readonly ((event: AgentEvent, place: EventPlace) => void)[];
  readonly watch: CallObserver;
  readonly servers: ServerWatch;
  /** Counts payloads that a key has encrypted. */
  readonly countEncrypted: (keyId: string, payloads: number) => void;
  /** Sends what is left, for at most five seconds. */
  close(): Promise<void>;
}

/** Telemetry that is off: it loads nothing, and costs nothing. */
const TELEMETRY_OFF: Telemetry = {
  listeners: [],
  watch: NO_WATCH,
  servers: NO_SERVER_WATCH,
  countEncrypted: () => undefined,
  close: () => Promise.resolve(),
};

/**
 * Opens what `checked` asks for.
 *
 * @throws UsageError `telemetry_package` if a package is missing.
 */
export async function openTelemetry(
  { traces, metrics, tenants }: CheckedTelemetry = NO_TELEMETRY,
  parts: TelemetryParts,
): Promise<Telemetry> {
  if (traces === undefined && metrics === undefined) return TELEMETRY_OFF;
  const opened =
    traces === undefined ? undefined : await openTracer(traces, createLostSpans(parts.warn));
  const { hide = HIDE_NOTHING, redact = CLEAN_NOTHING } = parts;
  const tracer = opened && hidingTracer(opened, hide);
  const known = { ...parts.known, ...defined({ tenants: tenants && new Set(tenants) }) };
  const meter =
    metrics === undefined || parts.meter === undefined
      ? undefined
      : createMeter(parts.meter, known, metrics.kind === 'otlp' ? 'genai' : 'everloop');
  const { content = 'off', sample = 1 } = traces ?? {};
  const clean: CleanText = (agent, text) => redact(agent, hide(text));
  const servers = watchServers(meter, parts.transportOf ?? (() => undefined));
  const { factsOf: serverOf } = servers;
  const shown = { content, clean, serverOf, ...defined({ providerOf: parts.providerOf }) };
  const { cacheBytes } = parts;
  return {
    listeners: [listener({ tracer, meter, sample, shown, labelsTenants: tenants !== undefined })],
    watch: watchCalls({ ...shown, hide, tracer, meter, sample, cacheBytes, now: () => Date.now() }),
    servers: servers.watch,
    countEncrypted: (key, value) =>
      meter?.record({ metric: 'everloop_payloads_encrypted_total', value, labels: { key } }),
    close: async () => tracer?.close(),
  };
}

/** `tracer`, whose spans have none of the values that are hidden. */
function hidingTracer(tracer: Tracer, hide: HideText): Tracer {
  return {
    ...tracer,
    emit: (span) => {
      const shown = Object.entries(span.attributes).map(([name, value]) => [
        name,
        typeof value === 'string' ? hide(value) : value,
      ]);
      tracer.emit({ ...span, attributes: Object.fromEntries(shown) });
    },
  };
}

function listener({
  tracer,
  meter,
  sample,
  shown,
  labelsTenants,
}: {
  readonly tracer: Tracer | undefined;
  readonly meter: MetricsWriter | undefined;
  readonly sample: number;
  readonly shown: Omit<SpanContext, 'place'>;
  readonly labelsTenants: boolean;
}): Telemetry['listeners'][number] {
  return (event, place) => {
    if (isOwnEvent(event)) return;
    if (meter !== undefined) {
      const tenant = labelsTenants ? { tenant: place.tenant ?? NO_TENANT } : undefined;
      for (const one of metricsOf(event, place)) {
        meter.record({ ...one, labels: { ...one.labels, ...tenant } });
      }
    }
    if (tracer === undefined) return;
    const { rootRunId, trace } = place;
    if (!isSampled({ rootRunId, traceparent: trace?.parent }, sample)) return;
    const span = spanOf(event, { ...shown, place });
    if (span !== null) tracer.emit(span);
  };
}
