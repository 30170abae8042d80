/** Gives the next span the ids that it has to have, and every other span random ones. */
import { randomBytes } from 'node:crypto';
import type { IdGenerator } from '@opentelemetry/sdk-trace-base';
import type { SpanData } from './span-data.ts';

/** The ids of the span that is about to start; null: it is a user's. */
export interface NextIds {
  next: Pick<SpanData, 'traceId' | 'spanId'> | null;
}

/** A generator that takes its ids from `ids`. */
export function otherIds(ids: NextIds): IdGenerator {
  return {
    generateTraceId: () => ids.next?.traceId ?? randomBytes(16).toString('hex'),
    generateSpanId: () => ids.next?.spanId ?? randomBytes(8).toString('hex'),
  };
}
