/** A span as plain data, before OpenTelemetry has it. */

/** The value of an attribute. */
export type AttributeValue = string | number | boolean | readonly string[];

/** A finished span. */
export interface SpanData {
  readonly traceId: string;
  readonly spanId: string;
  /** Absent: the span is the root of its trace. */
  readonly parentId?: string;
  readonly name: string;
  /** `client` asks a provider; everything else is `internal`. */
  readonly kind: 'internal' | 'client';
  /** Milliseconds since 1970. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  /** What failed; absent: nothing did. */
  readonly error?: string;
}
