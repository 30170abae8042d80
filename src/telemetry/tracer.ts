/**
 * Hands finished spans to OpenTelemetry, and makes a span of a run the active one around code of
 * users. Its packages are loaded when tracing is on, and not before.
 */
import type { Context, Span } from '@opentelemetry/api';
import type { SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { Resource } from '@opentelemetry/resources';
import { VERSION } from '../core/base/version.ts';
import { becomeGlobal } from './global-api.ts';
import { otherIds, type NextIds } from './id-generator.ts';
import { loadPackages, type Packages } from './packages.ts';
import type { TraceOptions } from './options.ts';
import type { SpanData } from './span-data.ts';
import { watchExporter, watchQueue, type LostSpans } from './lost-spans.ts';

/** The span that is active around code of users. */
export type ActiveSpan = Pick<SpanData, 'traceId' | 'spanId'>;

/** Takes finished spans. */
export interface Tracer {
  /** Never throws and never waits. */
  emit(span: SpanData): void;
  /** Runs `work` with `span` as the active span, so that spans which it makes are below it. */
  within<Result>(span: ActiveSpan, work: () => Result): Result;
  /** Sends what is left, for at most five seconds. */
  close(): Promise<void>;
}

/** How long a worker that stops waits for a collector. */
const MAX_FLUSH_MS = 5_000;

/**
 * Opens a tracer. Where the process has no OpenTelemetry of its own, it becomes that of the process:
 * instrumented libraries then send their spans the same way.
 *
 * @throws UsageError `telemetry_package` if a package is missing.
 */
export async function openTracer(options: TraceOptions, lost: LostSpans): Promise<Tracer> {
  const packages = await loadPackages(options);
  const ids: NextIds = { next: null };
  const provider = new packages.sdk.BasicTracerProvider({
    resource: resourceOf(packages, options),
    idGenerator: otherIds(ids),
    // Everloop decides about whole trees, by their ids.
    sampler: new packages.sdk.AlwaysOnSampler(),
    spanProcessors: processorsOf(packages, options, lost),
  });
  const { api } = packages;
  const leave = becomeGlobal(packages, provider);
  const tracer = provider.getTracer('everloop', VERSION);
  const contextOf = ({ traceId, spanId }: ActiveSpan): Context =>
    api.trace.setSpanContext(api.ROOT_CONTEXT, {
      traceId,
      spanId,
      traceFlags: api.TraceFlags.SAMPLED,
      isRemote: true,
    });
  return {
    emit: (data) => {
      const { parentId, traceId, spanId, name, startMs, attributes } = data;
      const parent =
        parentId === undefined ? api.ROOT_CONTEXT : contextOf({ traceId, spanId: parentId });
      const kind = data.kind === 'client' ? api.SpanKind.CLIENT : api.SpanKind.INTERNAL;
      const options = {
        startTime: startMs,
        kind,
        attributes: attributes as Record<string, string>,
      };
      // The generator is asked inside of `startSpan`, in the same moment.
      ids.next = { traceId, spanId };
      let span: Span;
      try {
        span = tracer.startSpan(name, options, parent);
      } finally {
        ids.next = null;
      }
      if (data.error !== undefined) {
        span.setAttribute('error.type', data.error);
        span.setStatus({ code: api.SpanStatusCode.ERROR });
      }
      span.end(data.endMs);
    },
    within: (span, work) => api.context.with(contextOf(span), work),
    close: async () => {
      await within(MAX_FLUSH_MS, provider.shutdown());
      leave();
    },
  };
}

function resourceOf({ resources }: Packages, { resource }: TraceOptions): Resource {
  if (resource !== undefined) return resource as Resource;
  const { detectResources, envDetector, resourceFromAttributes, defaultResource } = resources;
  const named = resourceFromAttributes({ 'service.name': 'everloop', 'service.version': VERSION });
  return defaultResource()
    .merge(named)
    .merge(detectResources({ detectors: [envDetector] }));
}

function processorsOf(
  { sdk, otlp }: Packages,
  { spanProcessors }: TraceOptions,
  lost: LostSpans,
): SpanProcessor[] {
  if (spanProcessors !== undefined) return [...spanProcessors] as SpanProcessor[];
  const exporter: SpanExporter = watchExporter(new otlp.OTLPTraceExporter(), lost);
  return [watchQueue(new sdk.BatchSpanProcessor(exporter), lost)];
}

/** Waits for `work`, but no longer than `ms`; a failure is one of the collector. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work.catch(() => undefined), late]);
  clearTimeout(timer);
}
