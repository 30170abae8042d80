/** The trace that a run belongs to, as its start names it, and W3C traceparents. */

/** What a start says about traces; at most 1 KB as JSON. */
export interface TraceInput {
  /** A W3C traceparent: the tree continues that trace, under that span. Default: a trace of its own. */
  readonly parent?: string;
  /** Put on the span of each run of the tree, such as `{ 'user.id': 'u7' }`. */
  readonly attributes?: { readonly [name: string]: string | number | boolean };
}

/** The parts of a traceparent. */
export interface SpanParent {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** Whether the caller records its trace. */
  readonly isSampled: boolean;
}

const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})$/;

/** Reads a W3C traceparent; null if `text` is none. */
export function readTraceparent(text: string): SpanParent | null {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(text) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}
