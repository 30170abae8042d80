/** What activities tell telemetry of the calls that they make. */
import type { Json } from '../core/base/json.ts';
import type { ModelOrder } from '../core/contract/host-order.ts';
import type { ToolOrder } from '../core/contract/outcome.ts';

/** Where the transcript of a model call came from. */
export type TranscriptOrigin = 'cache' | 'query' | 'failed';

/** One attempt of a model call, as the activity knows it. */
export interface AttemptOrder {
  readonly order: ModelOrder;
  /** Number of the attempt in its call, from 1; lost ones count. */
  readonly attempt: number;
  /** How long the activity waited for a worker. */
  readonly queueMs: number;
}

/** What happens in an attempt; each is called at most once. */
export interface AttemptNotes {
  transcript(origin: TranscriptOrigin): void;
  /** The messages of the request, as the model gets them. */
  asked(messages: Json): void;
  firstChunk(): void;
  replied(parts: Json): void;
}

/** Watches the calls of activities. It changes nothing about them. */
export interface CallObserver {
  /** Runs an attempt of a model call in its span. A failure that `run` throws is thrown on. */
  model<Result>(
    order: AttemptOrder,
    run: (notes: AttemptNotes) => Promise<Result>,
  ): Promise<Result>;
  /** Runs an attempt of a tool call in the span of the call, whose traceparent `run` gets. */
  tool<Result>(order: ToolOrder, run: (traceparent?: string) => Promise<Result>): Promise<Result>;
}

const NO_NOTES: AttemptNotes = {
  transcript: () => undefined,
  asked: () => undefined,
  firstChunk: () => undefined,
  replied: () => undefined,
};

/** Watches nothing. */
export const NO_WATCH: CallObserver = {
  model: (_order, run) => run(NO_NOTES),
  tool: (_order, run) => run(),
};
