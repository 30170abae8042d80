/** What a run knows about the trace that its spans belong to. Only workers make spans. */

/** What a start says about traces; at most 1 KB as JSON. */
export interface TraceInput {
  /** A W3C traceparent: the tree continues that trace, under that span. Default: a trace of its own. */
  readonly parent?: string;
  /** Put on the span of each run of the tree, such as `{ 'user.id': 'u7' }`. */
  readonly attributes?: { readonly [name: string]: string | number | boolean };
}

/** Where a run stands, sent to workers beside its events. It is in no history. */
export interface EventPlace {
  readonly workflowId: string;
  /** Number of the link of the chain, from 1. */
  readonly link: number;
  readonly rootRunId: string;
  /** Workflow id of the root of the tree. */
  readonly rootWorkflowId: string;
  /** The conversation that the root is a turn of; absent: none. */
  readonly conversation?: string;
  /** What the root was started with; absent: nothing. */
  readonly trace?: TraceInput;
  /** The call or the iteration of the parent that started the run; absent for a root. */
  readonly parent?: {
    readonly runId: string;
    /** Absent: a loop started it in its iteration, without a tool call. */
    readonly callId?: string;
    readonly iteration: number;
  };
  /** A pipeline and a fan-out are workflows of agents. */
  readonly kind: 'agent' | 'workflow';
  /** When the run began, in milliseconds since 1970. */
  readonly startedAt: number;
  /** When the link began. */
  readonly linkStartedAt: number;
  /** Events and bytes of the link's history so far. */
  readonly historyEvents: number;
  readonly historyBytes: number;
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
