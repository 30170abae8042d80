/**
 * Adds to the result and to the failure of each activity when it ended, and the facts that its
 * workflow named as it ordered it: see `core/base/recorded.ts`.
 */
import { defaultPayloadConverter, ApplicationFailure } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { defined } from '../../core/base/defined.ts';
import { FACTS_HEADER, type LinkFact, type RecordedEnd } from '../../core/base/recorded.ts';

/** The interceptor of a worker's activities. */
export const recordResults: ActivityInterceptorsFactory = () => ({
  inbound: {
    execute: async (input, next): Promise<RecordedEnd> => {
      const facts = factsOf(input.headers[FACTS_HEADER]);
      try {
        const value = await next(input);
        return defined({ recordedAt: Date.now(), value, facts });
      } catch (error) {
        if (error instanceof ApplicationFailure) {
          const known: RecordedEnd = defined({ recordedAt: Date.now(), facts });
          // Readers of a failure take its first detail, so that place stays.
          const details = error.details ?? [];
          Object.defineProperty(error, 'details', {
            value: [...(details.length === 0 ? [null] : details), known],
          });
        }
        throw error;
      }
    },
  },
});

type Header = Parameters<typeof defaultPayloadConverter.fromPayload>[0];

function factsOf(header: Header | undefined): readonly LinkFact[] | undefined {
  if (header === undefined) return undefined;
  return defaultPayloadConverter.fromPayload<readonly LinkFact[]>(header);
}
