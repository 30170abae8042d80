/** The span of OpenTelemetry that is active in this process, for what continues its trace elsewhere. */
import type { SpanContext } from '@opentelemetry/api';

/** Loads OpenTelemetry's API; what it returns reads the traceparent of the active span, if there is one. */
export async function activeTraceparent(): Promise<() => string | undefined> {
  const { isSpanContextValid, trace } = await import('@opentelemetry/api');
  return () => {
    const span = trace.getActiveSpan()?.spanContext();
    if (span === undefined || !isSpanContextValid(span)) return undefined;
    return traceparentOf(span);
  };
}

/** A span as a W3C traceparent. */
export function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}
