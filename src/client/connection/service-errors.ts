/**
 * Errors of the service. No error of the SDK or of gRPC leaves a client: each gets a code of ours.
 *
 * I1  What may pass is `service_unavailable`, and repeating what failed so is safe. What will not pass
 *     by itself is `service_refused`.
 * I2  An error that is not of the service, such as one of a callback, stays as it is.
 */
import {
  isGrpcServiceError,
  ScheduleNotFoundError,
  ServiceError,
  WorkflowFailedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { errorText } from '../../core/base/error-text.ts';
import { isUsageError, UsageError } from '../../core/base/usage-error.ts';
import { clip } from '../../core/text/cut.ts';
import { unreadableError } from '../../protection/key-errors.ts';
import type { isQueryBufferFull } from './repeat-refused.ts';

/** The gRPC status of a failed call. */
export function grpcCodeOf(error: unknown): number | undefined {
  return grpcErrorOf(error)?.code;
}

/** The gRPC error of a failed call, which the SDK wraps in an error of its own. */
export function grpcErrorOf(error: unknown): Parameters<typeof isQueryBufferFull>[0] | undefined {
  // The error of a worker's connection counts as one of that class too, and has no cause.
  const inner = error instanceof ServiceError ? (error.cause ?? error) : error;
  return isGrpcServiceError(inner) ? inner : undefined;
}

/** The gRPC status for what a service does not have. */
const NOT_FOUND = 5;

/** Whether a failed call says that the service does not have what it was asked about. */
export function isNotFound(error: unknown): boolean {
  return grpcCodeOf(error) === NOT_FOUND;
}

/**
 * The statuses of gRPC for what may pass: UNKNOWN and INTERNAL, as of a service without its database,
 * DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, ABORTED, UNAVAILABLE.
 */
const PASSING: readonly number[] = [2, 4, 8, 10, 13, 14];

/** Whether a call failed because the service is away, or cannot answer for now. */
export function isAway(error: unknown): boolean {
  if (isUsageError(error)) return error.code === 'service_unavailable';
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return true;
  return PASSING.includes(grpcCodeOf(error) ?? 0);
}

/** The gRPC status of a call that was given up, as by a client that is closed. */
const CANCELLED = 1;

/** How gRPC says that its channel was closed. */
const CLOSED_CHANNEL = /channel has been (?:shut down|closed)|client (?:has been|is) closed/i;

/** `error` with a code of ours, if it is of the service, or else as it is. */
function codedError(error: unknown): unknown {
  if (isUsageError(error)) return error;
  const unreadable = unreadableError(error, 'to read what the service has');
  if (unreadable !== undefined) return unreadable;
  if (error instanceof WorkflowNotFoundError) {
    return caused(
      error,
      'run_not_found',
      `Expected a run that the service has, got none: ${reasonOf(error)}.`,
    );
  }
  if (error instanceof ScheduleNotFoundError) {
    return caused(
      error,
      'schedule_not_found',
      `Expected a schedule that the service has, got none: ${reasonOf(error)}.`,
    );
  }
  const isClosed = error instanceof Error && CLOSED_CHANNEL.test(error.message);
  if (isAway(error) || isClosed || grpcCodeOf(error) === CANCELLED) return unavailable(error);
  return isOfService(error) ? refused(error) : error;
}

function isOfService(error: unknown): boolean {
  return (
    grpcCodeOf(error) !== undefined ||
    error instanceof ServiceError ||
    error instanceof WorkflowUpdateFailedError ||
    error instanceof WorkflowFailedError
  );
}

/** The error for a service that does not answer. `what` was asked. */
export function unavailable(error: unknown): UsageError {
  return caused(
    error,
    'service_unavailable',
    `Expected the Temporal service to answer, got: ${reasonOf(error)}. Runs lose nothing meanwhile. Repeat it: that is safe, for a message under the same id.`,
  );
}

function refused(error: unknown): UsageError {
  return caused(
    error,
    'service_refused',
    `Expected the Temporal service to take the call, got: ${reasonOf(error)}. See what it says, and its log.`,
  );
}

function caused(cause: unknown, code: UsageError['code'], message: string): UsageError {
  return Object.assign(new UsageError(code, message), { cause });
}

/** Characters of what the service says. */
const MAX_REASON = 500;

function reasonOf(error: unknown): string {
  const inner = error instanceof Error ? (error.cause ?? error) : error;
  return clip(errorText(inner).replace(/\.$/, ''), MAX_REASON);
}

/**
 * `api`, whose methods fail with codes of ours only: also what they promise, and the items that they
 * give one by one.
 */
export function coded<Api extends object>(api: Api): Api {
  const entries = Object.entries(api).map(([name, value]): [string, unknown] => [
    name,
    typeof value === 'function' ? codedMethod(value as Method) : value,
  ]);
  return Object.fromEntries(entries) as Api;
}

type Method = (...args: readonly unknown[]) => unknown;

function codedMethod(method: Method): Method {
  return (...args) => {
    try {
      const given = method(...args);
      if (given instanceof Promise) return given.catch(rethrow);
      return isIterable(given) ? codedItems(given) : given;
    } catch (error) {
      return rethrow(error);
    }
  };
}

function rethrow(error: unknown): never {
  throw codedError(error);
}

function isIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

function codedItems<Item>(items: AsyncIterable<Item>): AsyncIterable<Item> {
  return {
    [Symbol.asyncIterator]: () => {
      const reader = items[Symbol.asyncIterator]();
      return {
        next: () => reader.next().catch(rethrow),
        return: async (value) =>
          (await reader.return?.(value).catch(rethrow)) ?? { done: true, value: undefined },
      };
    },
  };
}
