/**
 * Classifies the errors of model calls: errors of the AI SDK, error objects inside a stream, errors
 * of the network and of model functions. It looks at fields, since `instanceof` fails between
 * copies of a package.
 */
import { defined } from '../core/base/defined.ts';
import type { ModelFailureCode } from '../core/base/failure-types.ts';
import { modelRetryMs } from '../core/attempt/attempts.ts';
import type { EstimatedUsage, TokenUsage } from '../core/contract/model.ts';
import { REDIRECTED, REPLY_TOO_LONG, UNBOUNDED_REPLY } from './bodies/reply-bounds.ts';
import {
  contextTooLong,
  refusedContent,
  statusOfCode,
  serverFault,
  unusableAccount,
} from './model-failure-signs.ts';
import { MAX_READ, parsedBody, shownWords, wordsOfBody } from './provider-words.ts';
import { MODEL_REFUSED } from './reply-end.ts';
import { wellFormedText } from '../core/text/well-formed.ts';
import { redact } from '../core/text/redact.ts';

/** A failed model call, and whether and when to retry it. */
export interface ModelFailure {
  readonly code: ModelFailureCode;
  readonly retryable: boolean;
  /** The HTTP status, or the one that the provider's error code stands for. */
  readonly status?: number;
  /** The wait that the provider asks for, in ms; only when `retryable`. */
  readonly retryAfterMs?: number;
  /** For people: redacted, at most 2,000 bytes. */
  readonly message: string;
  /** The usage that the provider reported before the call failed. */
  readonly usage?: TokenUsage;
  /** What the call used, by estimate: set when the model had written something and nothing was reported. */
  readonly estimated?: EstimatedUsage;
}

/** What a failed call used, as far as that is known. */
export type FailedUsage = Pick<ModelFailure, 'usage' | 'estimated'>;

type Fields = { readonly [key: string]: unknown };

/** What an error says about itself, collected from all of its layers. */
interface Signs {
  readonly names: readonly string[];
  readonly codes: readonly string[];
  /** What the provider said, then what the layers say, outermost first. */
  readonly messages: readonly string[];
  /** What the provider said, for people; absent: nothing. */
  readonly words: string | undefined;
  readonly status: number | undefined;
  readonly header: (name: string) => string | undefined;
  readonly retryDelay: string | undefined;
  /** The message of a bound that the reply crossed. */
  readonly bound: string | undefined;
}

/**
 * The longest wait that a Retry-After header may ask for. A wrong header must not stop a run for
 * years; after this time the call is retried, and the provider may ask for a wait again.
 */
const maxRetryAfterMs = 3_600_000;

/**
 * Milliseconds until a call that failed the `attempt`-th time, from 1, is tried again: what the
 * provider asks for, else 1 s doubling to 30 s.
 */
export function retryDelayMs(failure: ModelFailure, attempt: number): number {
  const asked = failure.retryAfterMs ?? 0;
  if (asked > 0) return Math.min(asked, maxRetryAfterMs);
  return modelRetryMs(attempt);
}

/** Whether `usage` counts anything. */
export function hasCost(usage: TokenUsage): boolean {
  return Object.values(usage).some((count) => count > 0);
}

/** A failed call with what it used; the failure is the `cause`. */
export class ModelCallError extends Error {
  override readonly name = 'ModelCallError';
  readonly used: FailedUsage;

  constructor(cause: unknown, used: FailedUsage) {
    super('The model call failed.', { cause });
    this.used = used;
  }
}

/** The error of a reply that ended before the provider marked it as complete. */
export function brokenStream(code: 'broken_stream' | 'empty_stream'): Error {
  const message =
    code === 'broken_stream'
      ? 'The reply broke off before its end.'
      : 'The provider ended its reply without sending anything.';
  return Object.assign(new Error(message), { name: 'ModelStreamError', code });
}

/**
 * Classifies an error of a model call; never throws. `nowMs` is the current time, for HTTP dates.
 *
 * Final: a refused answer or content (`model_refused`), refused credentials and accounts without quota
 * (`model_auth`), a request that is too long (`context_too_long`), any other 4xx, a redirect and misuse
 * (`model_request_refused`), a reply that is too long (`model_error`). All other errors, unknown ones
 * included, are retried: `model_error`.
 */
export function classifyModelError(error: unknown, nowMs: number = Date.now()): ModelFailure {
  const call = error instanceof ModelCallError ? error : undefined;
  const signs = readSigns(call === undefined ? error : call.cause);
  const { code, retryable } = judge(signs);
  const retryAfterMs = retryable ? readRetryAfterMs(signs, nowMs) : undefined;
  return {
    code,
    retryable,
    ...defined({ status: signs.status, retryAfterMs }),
    message: wellFormedText(redact(explain(signs))),
    ...call?.used,
  };
}

/** Errors of the AI SDK and our own that a retry would not fix. */
const misuseNames: readonly string[] = [
  'UsageError',
  'AI_UnsupportedFunctionalityError',
  'AI_InvalidPromptError',
  'AI_InvalidArgumentError',
  'AI_NoSuchModelError',
  'AI_LoadSettingError',
];

/**
 * Temporary statuses below 500: time-out, conflict, another server, a failed dependency, too early, too
 * many requests, a client that did not wait.
 */
const passingStatuses: readonly number[] = [408, 409, 421, 424, 425, 429, 499];

function judge(signs: Signs): { readonly code: ModelFailureCode; readonly retryable: boolean } {
  const { status, names, codes, messages } = signs;
  const final = (code: ModelFailureCode) => ({ code, retryable: false });
  if (names.includes('BlockedError')) return final('blocked');
  if (names.includes('AI_LoadAPIKeyError')) return final('model_auth');
  if (names.includes('ProviderPackageError')) return final('model_error');
  if (codes.includes(REPLY_TOO_LONG)) return final('model_error');
  if (names.some((name) => misuseNames.includes(name))) return final('model_request_refused');
  if (codes.includes(MODEL_REFUSED) || refusedContent(status, codes, messages)) {
    return final('model_refused');
  }
  if (unusableAccount(status, codes, messages)) return final('model_auth');
  if (contextTooLong(status, codes, messages)) return final('context_too_long');
  if (codes.includes(REDIRECTED)) return final('model_request_refused');
  if (serverFault(status, codes, messages)) return { code: 'model_error', retryable: true };
  const refused =
    status !== undefined && status >= 400 && status < 500 && !passingStatuses.includes(status);
  return refused ? final('model_request_refused') : { code: 'model_error', retryable: true };
}

const timeoutCodes: readonly string[] = [
  'etimedout',
  'und_err_connect_timeout',
  'und_err_headers_timeout',
  'und_err_body_timeout',
];
const unreachableCodes: readonly string[] = [
  'econnrefused',
  'enotfound',
  'eai_again',
  'ehostunreach',
  'enetunreach',
];
const brokenCodes: readonly string[] = ['econnreset', 'econnaborted', 'epipe', 'und_err_socket'];

/** Errors of adapters for a response that breaks the provider's protocol; they quote all of it. */
const garbageNames: readonly string[] = ['AI_JSONParseError', 'AI_TypeValidationError'];

/** What the adapter of the AI SDK 7 for Anthropic says when the first event is not one. */
const garbageMessages: readonly string[] = ['Expected a normalized Anthropic stream error'];

/** Our own texts for errors of the runtime, whose messages differ between versions. */
function explain(signs: Signs): string {
  if (signs.bound !== undefined) return signs.bound;
  const isGarbage =
    signs.names.some((name) => garbageNames.includes(name)) ||
    signs.messages.some((message) => garbageMessages.includes(message));
  if (isGarbage) {
    return 'The provider sent what is not in its protocol.';
  }
  const said = signs.words ?? signs.messages.find((message) => message.trim() !== '');
  if (signs.status !== undefined) return `HTTP ${signs.status}: ${said ?? 'no message'}`;
  const network = [
    [unreachableCodes, 'The provider could not be reached'],
    [timeoutCodes, 'The provider did not answer in time'],
    [brokenCodes, 'The connection to the provider broke off'],
  ] as const;
  for (const [codes, text] of network) {
    const code = signs.codes.find((one) => codes.includes(one));
    if (code !== undefined) return `${text} (${code.toUpperCase()}).`;
  }
  return said ?? 'The model call failed without a message.';
}

function readSigns(error: unknown): Signs {
  const layers = errorLayers(error);
  // What a provider says may be as long as a whole event.
  const texts = (key: string) =>
    layers.flatMap((layer) => nonEmptyText(layer[key])).map((text) => text.slice(0, MAX_READ));
  const codes = [...texts('code'), ...texts('type'), ...texts('status'), ...texts('reason')].map(
    (code) => code.toLowerCase(),
  );
  const stated = layers
    .flatMap((layer) => [layer['statusCode'], layer['status'], layer['code']])
    .find((value) => typeof value === 'number' && value >= 200 && value <= 599);
  const words = layers.flatMap((layer) => wordsOfBody(layer['responseBody']));
  const details = layers.flatMap((layer) =>
    Array.isArray(layer['details'])
      ? (layer['details'] as readonly unknown[]).slice(0, MAX_DETAILS)
      : [],
  );
  return {
    names: texts('name'),
    codes: [...codes, ...details.flatMap((one) => reasonOf(one))],
    messages:
      typeof error === 'string' ? [error.slice(0, MAX_READ)] : [...words, ...texts('message')],
    words: shownWords(words),
    status: effectiveStatus(stated as number | undefined, codes),
    header: (name) => layers.map((layer) => headerOf(layer, name)).find((value) => value),
    retryDelay: details.flatMap((one) => retryDelayOf(one))[0],
    bound: layers
      .filter((layer) => layer['name'] === UNBOUNDED_REPLY)
      .flatMap((layer) => nonEmptyText(layer['message']))[0],
  };
}

/** The most details of an error that are read; Google sends a few. */
const MAX_DETAILS = 64;

/**
 * The provider's error code decides where the HTTP status is useless: an error inside a stream
 * has status 200 or none, and the adapter for Anthropic turns most of them into a 500.
 */
function effectiveStatus(stated: number | undefined, codes: readonly string[]): number | undefined {
  if (stated !== undefined && stated >= 300 && stated !== 500) return stated;
  const meant = codes.map(statusOfCode).find((status) => status !== undefined);
  return meant ?? (stated !== undefined && stated >= 300 ? stated : undefined);
}

/** Errors of a list that are read. */
const MAX_LISTED = 4;

/** The error and the error objects inside of it, outermost first, to a bounded depth. */
export function errorLayers(error: unknown, depth = 0): readonly Fields[] {
  if (!isRecord(error) || depth > 4) return [];
  const inner = ['data', 'error', 'response', 'cause', 'lastError']
    .map((key) => error[key])
    .concat(parsedBody(error['responseBody']))
    .flatMap((value) =>
      Array.isArray(value) ? (value as unknown[]).slice(0, MAX_LISTED) : [value],
    )
    .flatMap((value) => errorLayers(value, depth + 1));
  return [error, ...inner];
}

function headerOf(layer: Fields, name: string): string | undefined {
  const headers = layer['responseHeaders'] ?? layer['headers'];
  if (!isRecord(headers)) return undefined;
  const get = headers['get'];
  if (typeof get === 'function') {
    const value: unknown = Reflect.apply(get, headers, [name]);
    return typeof value === 'string' ? value : undefined;
  }
  const key = Object.keys(headers).find((one) => one.toLowerCase() === name);
  const value = key === undefined ? undefined : headers[key];
  return typeof value === 'string' ? value : undefined;
}

/**
 * The wait that the provider asks for: `retry-after-ms` (OpenAI, Azure), `retry-after` in seconds
 * or as an HTTP date (RFC 9110 §10.2.3), `RetryInfo.retryDelay` in Google's error details.
 */
function readRetryAfterMs(signs: Signs, nowMs: number): number | undefined {
  const ms = toNumber(signs.header('retry-after-ms'));
  if (ms !== undefined) return Math.ceil(ms);
  const after = signs.header('retry-after');
  const seconds = toNumber(after) ?? toNumber(signs.retryDelay?.replace(/s$/, ''));
  if (seconds !== undefined) return Math.ceil(seconds * 1_000);
  const dateMs = after === undefined ? Number.NaN : Date.parse(after);
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - nowMs);
}

function toNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*\d{1,12}(\.\d{1,9})?\s*$/.test(text) ? Number(text) : undefined;
}

function retryDelayOf(detail: unknown): string[] {
  return isRecord(detail) ? nonEmptyText(detail['retryDelay']) : [];
}

function reasonOf(detail: unknown): string[] {
  return isRecord(detail) ? nonEmptyText(detail['reason']).map((one) => one.toLowerCase()) : [];
}

function nonEmptyText(value: unknown): string[] {
  return typeof value === 'string' && value !== '' ? [value] : [];
}

/** Errors are instances of classes, so any object counts. */
function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}
