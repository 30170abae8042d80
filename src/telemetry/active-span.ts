/** The span of OpenTelemetry that is active in this process, for what continues its trace elsewhere. */

/** Loads OpenTelemetry's API; what it returns reads the traceparent of the active span, if there is one. */
export async function activeTraceparent(): Promise<() => string | undefined> {
  const { isSpanContextValid, trace } = await import('@opentelemetry/api');
  return () => {
    const span = trace.getActiveSpan()?.spanContext();
    if (span === undefined || !isSpanContextValid(span)) return undefined;
    const flags = span.traceFlags.toString(16).padStart(2, '0');
    return `00-${span.traceId}-${span.spanId}-${flags}`;
  };
}
