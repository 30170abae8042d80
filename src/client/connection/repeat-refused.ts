/** Which calls a connection repeats that the service has refused, and when. */
import {
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
  type ConnectionOptions,
} from '@temporalio/client';

/** What stands between a client and its channel. */
export type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];

type GrpcRetryOptions = ReturnType<typeof defaultGrpcRetryOptions>;
type Status = Parameters<GrpcRetryOptions['delayFunction']>[1];

const SDK_RETRIES: GrpcRetryOptions = defaultGrpcRetryOptions();

/** The gRPC status for what the service refuses for now. */
export const RESOURCE_EXHAUSTED = 8;

/**
 * Whether the service refused a query because another one of its workflow waits for the end of a
 * task. A task takes milliseconds, and the SDK would wait for more than a second.
 */
export function isQueryBufferFull({ code, details }: Pick<Status, 'code' | 'details'>): boolean {
  return code === RESOURCE_EXHAUSTED && details.includes('query buffer is full');
}

/** How long to wait after such a refusal, the first of which has number 1, in ms. */
export function fullBufferPauseMs(attempt: number): number {
  return Math.min(1_000, 10 * 1.5 ** (attempt - 1)) * (0.5 + Math.random());
}

/** Such refusals of one call that are repeated: for half a minute. */
const FULL_BUFFER_TRIES = 40;

/** For queries, which their caller repeats: what a connection repeats cannot be given up. */
const retryQuery = makeGrpcRetryInterceptor({
  ...SDK_RETRIES,
  retryableDecider: (attempt, status) =>
    !isQueryBufferFull(status) && SDK_RETRIES.retryableDecider(attempt, status),
});

/** For all others: to describe a schedule, the service queries the workflow behind it. */
const retryOther = makeGrpcRetryInterceptor({
  retryableDecider: (attempt, status) =>
    isQueryBufferFull(status)
      ? attempt < FULL_BUFFER_TRIES
      : SDK_RETRIES.retryableDecider(attempt, status),
  delayFunction: (attempt, status) =>
    isQueryBufferFull(status)
      ? fullBufferPauseMs(attempt)
      : SDK_RETRIES.delayFunction(attempt, status),
});

/** Repeats calls that the service has refused for now. */
export const repeatRefused: Interceptor = (callOptions, nextCall) => {
  const isQuery = callOptions.method_definition.path.endsWith('/QueryWorkflow');
  return (isQuery ? retryQuery : retryOther)(callOptions, nextCall);
};
