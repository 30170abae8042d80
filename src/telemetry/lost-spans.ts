/**
 * Counts the spans that a dead, slow or refusing collector did not take, and says so once a minute. A
 * run never waits for a collector, and the queue is bounded: what does not fit is lost.
 */
import type { SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace-base';

/** Spans on their way, since the process began. */
export interface LostSpans {
  /** One more span has ended. */
  ended(): void;
  /** An export of `count` spans begins; call the result when it has ended. */
  sending(count: number): (isTaken: boolean, cause?: string) => void;
}

/** The spans that wait for a collector; the default of the batch processor. */
const MAX_WAITING = 2_048;

const EVERY_MS = 60_000;

/** A count that is told to `warn`, at most once a minute. */
export function createLostSpans(
  warn: (text: string) => void,
  now: () => number = Date.now,
): LostSpans {
  let open = 0;
  let lost = 0;
  let saidAt = -Infinity;
  const lose = (count: number, cause: string): void => {
    lost += count;
    if (now() - saidAt < EVERY_MS) return;
    saidAt = now();
    warn(`${lost} spans were not sent: ${cause}. Runs are not affected.`);
    lost = 0;
  };
  return {
    ended: () => {
      // Of those on their way, the processor keeps this many and drops the rest.
      if (open < MAX_WAITING) open += 1;
      else lose(1, 'the collector is too slow');
    },
    sending:
      (count) =>
      (isTaken, cause = 'the collector did not take them') => {
        open = Math.max(0, open - count);
        if (!isTaken) lose(count, cause);
      },
  };
}

/** `exporter`, whose failures are counted. */
export function watchExporter(exporter: SpanExporter, lost: LostSpans): SpanExporter {
  return {
    export: (spans, onResult) => {
      const sent = lost.sending(spans.length);
      exporter.export(spans, (result) => {
        // 0 is SUCCESS.
        sent(result.code === 0, result.error?.message);
        onResult(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}

/** `processor`, whose spans are counted. */
export function watchQueue(processor: SpanProcessor, lost: LostSpans): SpanProcessor {
  return {
    onStart: (span, context) => processor.onStart(span, context),
    onEnd: (span) => {
      lost.ended();
      processor.onEnd(span);
    },
    forceFlush: () => processor.forceFlush(),
    shutdown: () => processor.shutdown(),
  };
}
