/**
 * What a failure of a request means for its call.
 *
 * `not_sent`: the request had no effect, since it did not leave. `busy`: the same, because the server
 * turned it away for now. `refused`: the same, because of the credentials. `lost`: it left, and what
 * it did is unknown. `final`: the server has answered, and would answer the same again.
 */
import {
  OAuthClientFlowError,
  OAuthError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
} from '@modelcontextprotocol/client';
import { defined } from '../../core/base/defined.ts';
import { errorText } from '../../core/base/error-text.ts';
import { TOO_LONG_ANSWER } from '../transport/bounded-fetch.ts';
import { LOST, TOO_LONG } from '../transport/failure-codes.ts';
import { MAX_MESSAGE_BYTES, MAX_MESSAGE_VALUES } from '../transport/message-lines.ts';

/** A failure of a request. */
export interface McpFailure {
  readonly kind: 'not_sent' | 'busy' | 'refused' | 'lost' | 'final';
  /** For the model, without the name of the server. */
  readonly message: string;
  /** The wait that the server has asked for. */
  readonly waitMs?: number;
  /** Whether the connection is of no more use. */
  readonly isBroken?: true;
}

/** Thrown when a server cannot be reached; its message names the server. */
export class McpUnreachableError extends Error {
  override readonly name = 'McpUnreachableError';
  /** Whether the server refused the credentials. */
  readonly isRefused: boolean;

  constructor(message: string, isRefused: boolean) {
    super(message);
    this.isRefused = isRefused;
  }
}

/** Thrown when the `auth` function of a server gives no token: nothing was sent. */
export class McpTokenError extends Error {
  override readonly name = 'McpTokenError';
}

/** Causes of a failed `fetch` that come before anything is sent. */
const BEFORE_SENDING = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'ERR_TLS_CERT_ALTNAME_INVALID',
];

/**
 * Reads what `client.request` threw. The caller asks its own signal first: an abort looks alike.
 * `hasSession`: the connection has a session over HTTP, which the server may have forgotten.
 */
export function readFailure(error: unknown, hasSession = false): McpFailure {
  const { retryAfterMs: waitMs } = Object(error) as { readonly retryAfterMs?: number };
  return { ...meaningOf(error, hasSession), ...defined({ waitMs }) };
}

function meaningOf(error: unknown, hasSession: boolean): McpFailure {
  if (isRefused(error)) return REFUSED;
  if (error instanceof McpTokenError) return { kind: 'not_sent', message: error.message };
  if (error instanceof SdkHttpError) return readHttp(error, hasSession);
  if (error instanceof ProtocolError) return readProtocol(error);
  if (error instanceof SdkError) return readSdk(error);
  if (error instanceof Error && isTooLong(error)) return TOO_LONG_FAILURE;
  const message = errorText(error);
  if (message === 'Not connected')
    return { kind: 'not_sent', message: 'no connection', isBroken: true };
  const code = causeCode(error);
  if (code !== undefined && BEFORE_SENDING.includes(code)) {
    return { kind: 'not_sent', message: `no connection (${code})` };
  }
  const cause = code === undefined ? message : `${message} (${code})`;
  return { kind: 'lost', message: `the connection was lost: ${cause}` };
}

/** The server, or the issuer of its tokens, does not take what this worker has. */
function isRefused(error: unknown): boolean {
  const isKind = error instanceof OAuthClientFlowError || error instanceof OAuthError;
  return isKind || (error instanceof Error && error.name === 'UnauthorizedError');
}

const REFUSED: McpFailure = { kind: 'refused', message: 'refused the credentials of this worker' };

const TOO_LONG_FAILURE: McpFailure = {
  kind: 'final',
  message: `its answer has more than ${MAX_MESSAGE_BYTES / 1_048_576} MB or ${MAX_MESSAGE_VALUES} values`,
};

const LOST_FAILURE: McpFailure = { kind: 'lost', message: 'the connection was lost' };

function isTooLong(error: Error): boolean {
  return (
    error.name === TOO_LONG_ANSWER || (error.cause as Error | undefined)?.name === TOO_LONG_ANSWER
  );
}

function readHttp(error: SdkHttpError, hasSession: boolean): McpFailure {
  const { status } = error;
  if (status === 401 || status === 403) return REFUSED;
  if (status === 429) return { kind: 'busy', message: 'it has too many requests (HTTP 429)' };
  // A session that the server has forgotten: a new one begins with a new connection. Without a
  // session, the server itself says it, and may have done something before.
  if (status === 404 && hasSession)
    return { kind: 'not_sent', message: 'HTTP 404', isBroken: true };
  if (status >= 500) return { kind: 'lost', message: `it failed with HTTP ${status}` };
  return { kind: 'final', message: `HTTP ${status}: ${error.message}` };
}

function readProtocol({ code, message }: ProtocolError): McpFailure {
  if ((code as number) === LOST) return LOST_FAILURE;
  if ((code as number) === TOO_LONG) return TOO_LONG_FAILURE;
  return { kind: 'final', message: `${message} (${code})` };
}

function readSdk({ code, message }: SdkError): McpFailure {
  switch (code) {
    case SdkErrorCode.NotConnected:
      return { kind: 'not_sent', message: 'no connection', isBroken: true };
    case SdkErrorCode.ConnectionClosed:
      return { ...LOST_FAILURE, isBroken: true };
    case SdkErrorCode.RequestTimeout:
      return { kind: 'lost', message: 'it did not answer in time' };
    case SdkErrorCode.EraNegotiationFailed:
      return { kind: 'not_sent', message, isBroken: true };
    default:
      return { kind: 'final', message };
  }
}

/** The code of the deepest cause, such as `ECONNREFUSED`. */
function causeCode(error: unknown): string | undefined {
  let code: string | undefined;
  let at: unknown = error;
  for (let depth = 0; depth < 5 && typeof at === 'object' && at !== null; depth++) {
    const { code: own, cause } = at as { readonly code?: unknown; readonly cause?: unknown };
    if (typeof own === 'string') code = own;
    at = cause;
  }
  return code;
}
