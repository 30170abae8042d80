/**
 * What went wrong with a model call, read from whatever was thrown: errors of the AI SDK, error
 * objects inside a stream, errors of the network, errors of model functions. Recognised by their
 * fields, since `instanceof` fails between copies of a package.
 */
import { defined } from '../core/base/defined.ts';
import type { ModelFailureCode } from '../core/base/failure-types.ts';
import type { TokenUsage } from '../core/contract/model.ts';
import { contextTooLong, statusOfCode, unusableAccount } from './model-failure-signs.ts';
import { redact } from '../tools/redact.ts';

/** A failed model call; whether another try can help, and when. */
export interface ModelFailure {
  readonly code: ModelFailureCode;
  readonly retryable: boolean;
  /** The status of HTTP, or the one that the provider's error code stands for. */
  readonly status?: number;
  /** How long the provider asks to wait; only when `retryable`. */
  readonly retryAfterMs?: number;
  /** For people: redacted, at most 2,000 bytes. */
  readonly message: string;
  /** What the provider counted before the call failed. */
  readonly usage?: TokenUsage;
}

type Fields = { readonly [key: string]: unknown };

/** What an error says about itself, collected from all of its layers. */
interface Signs {
  readonly names: readonly string[];
  readonly codes: readonly string[];
  /** Outermost first. */
  readonly messages: readonly string[];
  readonly status: number | undefined;
  readonly header: (name: string) => string | undefined;
  readonly retryDelay: string | undefined;
}

/**
 * Waits between the attempts of a model call when the provider asks for none: 1 s, doubling, at most
 * 30 s. They are set on each failure, not in the retry policy, so that a call whose worker was lost
 * starts again at once.
 */
const firstRetryMs = 1_000;
const maxRetryMs = 30_000;

/**
 * The longest wait that a provider's Retry-After may ask for. A wrong header must not put a run to
 * sleep for years; after this time the provider is asked again and may say so once more.
 */
const maxRetryAfterMs = 3_600_000;

/**
 * Milliseconds until a call that failed the `attempt`-th time, from 1, is tried again: what the
 * provider asks for, else 1 s doubling to 30 s.
 */
export function retryDelayMs(failure: ModelFailure, attempt: number): number {
  const asked = failure.retryAfterMs ?? 0;
  if (asked > 0) return Math.min(asked, maxRetryAfterMs);
  return Math.min(firstRetryMs * 2 ** Math.max(0, attempt - 1), maxRetryMs);
}

/** A failed call with the usage that was reported before; the failure itself is the `cause`. */
export function withUsage(cause: unknown, usage: TokenUsage): Error {
  return Object.assign(new Error('The model call failed.', { cause }), {
    name: 'ModelCallError',
    usage,
  });
}

/** A reply that ended before the provider said that it was complete. */
export function brokenStream(code: 'broken_stream' | 'empty_stream'): Error {
  const message =
    code === 'broken_stream'
      ? 'The reply broke off before its end.'
      : 'The provider ended its reply without sending anything.';
  return Object.assign(new Error(message), { name: 'ModelStreamError', code });
}

/**
 * Reads what was thrown by a model call; never throws. `nowMs` is what HTTP dates are compared with.
 *
 * Final: refused credentials and accounts without quota (`model_auth`), a request that is too long
 * (`context_too_long`), any other 4xx and misuse (`model_request_refused`). All else, what nobody
 * knows included, is worth another try: `model_error`.
 */
export function classifyModelError(error: unknown, nowMs: number = Date.now()): ModelFailure {
  const call = isRecord(error) && error['name'] === 'ModelCallError' ? error : undefined;
  const signs = readSigns(call === undefined ? error : call['cause']);
  const { code, retryable } = judge(signs);
  const retryAfterMs = retryable ? readRetryAfterMs(signs, nowMs) : undefined;
  return {
    code,
    retryable,
    ...defined({ status: signs.status, retryAfterMs }),
    message: redact(explain(signs)),
    ...defined({ usage: call === undefined ? undefined : (call['usage'] as TokenUsage) }),
  };
}

/** Errors of the AI SDK, and ours, that no repetition changes. */
const misuseNames: readonly string[] = [
  'UsageError',
  'AI_UnsupportedFunctionalityError',
  'AI_InvalidPromptError',
  'AI_InvalidArgumentError',
  'AI_NoSuchModelError',
  'AI_LoadSettingError',
];

/** Statuses below 500 that pass by themselves: time-out, conflict, too early, too many requests. */
const passingStatuses: readonly number[] = [408, 409, 425, 429];

function judge(signs: Signs): { readonly code: ModelFailureCode; readonly retryable: boolean } {
  const { status, names, codes, messages } = signs;
  const final = (code: ModelFailureCode) => ({ code, retryable: false });
  if (names.includes('AI_LoadAPIKeyError')) return final('model_auth');
  if (names.some((name) => misuseNames.includes(name))) return final('model_request_refused');
  if (unusableAccount(status, codes, messages)) return final('model_auth');
  if (contextTooLong(status, codes, messages)) return final('context_too_long');
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

/** What the adapters throw when an answer is not in the provider's protocol; they quote all of it. */
const garbageNames: readonly string[] = ['AI_JSONParseError', 'AI_TypeValidationError'];

/** Own words where the runtime would speak, as its messages differ between versions. */
function explain(signs: Signs): string {
  if (signs.names.some((name) => garbageNames.includes(name))) {
    return 'The provider sent what is not in its protocol.';
  }
  const said = signs.messages.find((message) => message.trim() !== '');
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
  const layers = layersOf(error);
  const texts = (key: string) => layers.flatMap((layer) => nonEmptyText(layer[key]));
  const codes = [...texts('code'), ...texts('type'), ...texts('status'), ...texts('reason')].map(
    (code) => code.toLowerCase(),
  );
  const stated = layers
    .flatMap((layer) => [layer['statusCode'], layer['status'], layer['code']])
    .find((value) => typeof value === 'number' && value >= 200 && value <= 599);
  const details = layers.flatMap((layer) =>
    Array.isArray(layer['details']) ? (layer['details'] as readonly unknown[]) : [],
  );
  return {
    names: texts('name'),
    codes: [...codes, ...details.flatMap((one) => reasonOf(one))],
    messages: typeof error === 'string' ? [error] : texts('message'),
    status: effectiveStatus(stated as number | undefined, codes),
    header: (name) => layers.map((layer) => headerOf(layer, name)).find((value) => value),
    retryDelay: details.flatMap((one) => retryDelayOf(one))[0],
  };
}

/**
 * What the provider's own code means counts where HTTP says nothing of use: an error inside a
 * stream comes with status 200 or none, and the adapter for Anthropic makes most of them a 500.
 */
function effectiveStatus(stated: number | undefined, codes: readonly string[]): number | undefined {
  if (stated !== undefined && stated >= 300 && stated !== 500) return stated;
  const meant = codes.map(statusOfCode).find((status) => status !== undefined);
  return meant ?? (stated !== undefined && stated >= 300 ? stated : undefined);
}

/** The error and the objects inside that describe it, outermost first; the depth is bounded. */
function layersOf(error: unknown, depth = 0): readonly Fields[] {
  if (!isRecord(error) || depth > 4) return [];
  const inner = ['data', 'error', 'response', 'cause', 'lastError']
    .map((key) => error[key])
    .concat(parsed(error['responseBody']))
    .flatMap((value) => layersOf(value, depth + 1));
  return [error, ...inner];
}

function parsed(body: unknown): unknown {
  if (typeof body !== 'string' || !body.trimStart().startsWith('{')) return undefined;
  try {
    return JSON.parse(body) as unknown;
  } catch {
    // Not JSON after all: the message of the error is all that there is.
    return undefined;
  }
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
