/** Carries the active span to what instrumented clients ask, as a W3C traceparent. */
import type { TextMapPropagator } from '@opentelemetry/api';
import { readTraceparent } from '../core/base/traceparent.ts';
import { traceparentOf } from './active-span.ts';

const HEADER = 'traceparent';

/** A propagator that reads and writes the header `traceparent`. */
export function traceparentPropagator({
  trace,
  TraceFlags,
  isSpanContextValid,
}: typeof import('@opentelemetry/api')): TextMapPropagator {
  return {
    inject: (context, carrier, setter) => {
      const span = trace.getSpanContext(context);
      if (span === undefined || !isSpanContextValid(span)) return;
      setter.set(carrier, HEADER, traceparentOf(span));
    },
    extract: (context, carrier, getter) => {
      const [text] = [getter.get(carrier, HEADER)].flat();
      const parent = text === undefined ? null : readTraceparent(text);
      if (parent === null) return context;
      const { traceId, spanId, isSampled } = parent;
      const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
      return trace.setSpanContext(context, { traceId, spanId, traceFlags, isRemote: true });
    },
    fields: () => [HEADER],
  };
}
