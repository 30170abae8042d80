/** What the console answers when it refuses a request, or when something below it fails. */
import { errorText } from '../core/base/error-text.ts';
import type { UsageCode } from '../core/base/usage-codes.ts';
import { isUsageError } from '../core/base/usage-error.ts';
import { grpcCodeOf } from '../client/connection/service-errors.ts';
import type { ApiError, ConsoleErrorCode } from './api.ts';

/** An HTTP status that says what went wrong. */
export type ErrorStatus =
  400 | 401 | 403 | 404 | 409 | 413 | 421 | 422 | 429 | 500 | 501 | 502 | 503;

/** The status of each error of the console itself. */
const OWN_STATUS: Readonly<Record<ConsoleErrorCode, ErrorStatus>> = {
  unauthorized: 401,
  forbidden: 403,
  wrong_host: 421,
  not_found: 404,
  too_large: 413,
  conflict: 409,
  not_recorded: 501,
  busy: 503,
  internal: 500,
};

/** The status of errors of the client; those that are missing are 400. */
const STATUS: Partial<Readonly<Record<UsageCode, ErrorStatus>>> = {
  run_not_found: 404,
  not_an_agent: 404,
  agent_not_found: 404,
  no_such_path: 404,
  no_step: 404,
  schedule_not_found: 404,
  history_gone: 404,
  item_unknown: 404,
  item_settled: 409,
  run_ended: 409,
  id_in_use: 409,
  schedule_busy: 409,
  keys_missing: 422,
  payload_damaged: 422,
  no_blobs: 422,
  run_busy: 429,
  no_server: 502,
  service_unavailable: 502,
  service_refused: 502,
  no_worker: 503,
  query_failed: 503,
};

/** A request that is refused: a code, and what was expected, got, and what to do. */
export class ConsoleRefusal extends Error {
  override readonly name = 'ConsoleRefusal';
  readonly code: ApiError['code'];

  constructor(code: ApiError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** The refusal of a body or of a parameter. */
export function invalid(message: string): ConsoleRefusal {
  return new ConsoleRefusal('invalid_input', message);
}

/** Statuses of gRPC: the service did not answer in time, or is not there. */
const DEADLINE_EXCEEDED = 4;
const UNAVAILABLE = 14;

/** `error` as the body of an answer. A bug shows nothing of itself; `isBug` asks to log it. */
export function apiErrorOf(error: unknown): ApiError & { readonly isBug?: true } {
  if (error instanceof ConsoleRefusal || isUsageError(error)) {
    return { code: error.code as ApiError['code'], message: error.message };
  }
  const status = grpcCodeOf(error);
  if (status === UNAVAILABLE) {
    return {
      code: 'no_server',
      message: `Expected the Temporal server to answer, got: ${errorText(error)}. The console goes on when it does.`,
    };
  }
  if (status === DEADLINE_EXCEEDED) {
    return {
      code: 'busy',
      message: 'Expected the Temporal server to answer in time, got silence. Try again.',
    };
  }
  return {
    code: 'internal',
    message: 'Unexpected. The log of the console says what it was.',
    isBug: true,
  };
}

/** The HTTP status of an error. */
export function statusOfError(code: ApiError['code']): ErrorStatus {
  if (Object.hasOwn(OWN_STATUS, code)) return OWN_STATUS[code as ConsoleErrorCode];
  return STATUS[code as UsageCode] ?? 400;
}
