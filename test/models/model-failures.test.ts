import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  brokenStream,
  classifyModelError,
  ModelCallError,
  type ModelFailure,
} from '../../src/models/model-failures.ts';
import { UsageError } from '../../src/core/base/usage-error.ts';
import { noUsage } from '../../src/core/model/usage.ts';

/** An error with fields, as libraries throw them. */
function errorWith(message: string, fields: object): Error {
  return Object.assign(new Error(message), fields);
}

const final = (code: ModelFailure['code'], message: string, status?: number): ModelFailure => ({
  code,
  retryable: false,
  ...(status === undefined ? {} : { status }),
  message,
});
const again = (message: string, status?: number): ModelFailure => ({
  code: 'model_error',
  retryable: true,
  ...(status === undefined ? {} : { status }),
  message,
});

describe('classifyModelError [row 53]', () => {
  const cases: { name: string; error: unknown; failure: ModelFailure }[] = [
    { name: 'a plain error of a function', error: new Error('boom'), failure: again('boom') },
    { name: 'thrown text', error: 'boom', failure: again('boom') },
    {
      name: 'nothing',
      error: undefined,
      failure: again('The model call failed without a message.'),
    },
    {
      name: 'an error with `status` and `Headers`, as client libraries throw them',
      error: errorWith('Slow down.', {
        status: 429,
        headers: new Headers({ 'retry-after': '3' }),
      }),
      failure: { ...again('HTTP 429: Slow down.', 429), retryAfterMs: 3_000 },
    },
    {
      name: 'a misuse of ours',
      error: new UsageError('message_part', 'Expected text.'),
      failure: final('model_request_refused', 'Expected text.'),
    },
    {
      name: 'an adapter without a key',
      error: errorWith('OpenAI API key is missing.', { name: 'AI_LoadAPIKeyError' }),
      failure: final('model_auth', 'OpenAI API key is missing.'),
    },
    {
      name: 'an adapter that cannot do what is asked',
      error: errorWith("'tools' not supported.", { name: 'AI_UnsupportedFunctionalityError' }),
      failure: final('model_request_refused', "'tools' not supported."),
    },
    {
      name: 'an account without a balance',
      error: errorWith('Insufficient balance.', { statusCode: 402 }),
      failure: final('model_auth', 'HTTP 402: Insufficient balance.', 402),
    },
    {
      name: 'a quota that is used up, which no wait mends',
      error: errorWith('You exceeded your current quota.', {
        statusCode: 429,
        data: {
          error: { message: 'You exceeded your current quota.', code: 'insufficient_quota' },
        },
      }),
      failure: final('model_auth', 'HTTP 429: You exceeded your current quota.', 429),
    },
    {
      name: "Google's 400 for a wrong key",
      error: errorWith('API key not valid. Please pass a valid API key.', { statusCode: 400 }),
      failure: final(
        'model_auth',
        'HTTP 400: API key not valid. Please pass a valid API key.',
        400,
      ),
    },
    {
      name: 'a body that is too large',
      error: errorWith('Request exceeds the maximum size', { statusCode: 413 }),
      failure: final('context_too_long', 'HTTP 413: Request exceeds the maximum size', 413),
    },
    {
      name: 'a context that is too long, without a status',
      error: { message: 'n', code: 'exceed_context_size_error' },
      failure: final('context_too_long', 'n'),
    },
    {
      name: 'a rate limit that speaks of tokens',
      error: errorWith('Too many tokens, maximum context length', { statusCode: 429 }),
      failure: again('HTTP 429: Too many tokens, maximum context length', 429),
    },
    {
      name: 'a code in the body alone',
      error: errorWith('Bad Request', {
        statusCode: 400,
        responseBody: '{"error":{"code":"context_length_exceeded","message":"Too long."}}',
      }),
      failure: final('context_too_long', 'HTTP 400: Too long.', 400),
    },
    {
      name: 'an error object of a stream',
      error: { type: 'overloaded_error', message: 'Overloaded' },
      failure: again('HTTP 529: Overloaded', 529),
    },
    {
      name: 'a 500 that means a rate limit',
      error: errorWith('Slow down.', {
        statusCode: 500,
        responseBody: '{"type":"rate_limit_error","message":"Slow down."}',
      }),
      failure: again('HTTP 429: Slow down.', 429),
    },
    {
      name: 'a time-out of the network',
      error: errorWith('fetch failed', { cause: { code: 'UND_ERR_HEADERS_TIMEOUT' } }),
      failure: again('The provider did not answer in time (UND_ERR_HEADERS_TIMEOUT).'),
    },
    {
      name: 'a reset connection',
      error: errorWith('fetch failed', { cause: { code: 'ECONNRESET' } }),
      failure: again('The connection to the provider broke off (ECONNRESET).'),
    },
    {
      name: 'a name that is not known',
      error: errorWith('fetch failed', { cause: { code: 'ENOTFOUND' } }),
      failure: again('The provider could not be reached (ENOTFOUND).'),
    },
    {
      name: 'a broken stream',
      error: brokenStream('broken_stream'),
      failure: again('The reply broke off before its end.'),
    },
    ...[408, 409, 425, 500, 502, 503, 504, 529].map((status) => ({
      name: `status ${status}`,
      error: errorWith('No.', { statusCode: status }),
      failure: again(`HTTP ${status}: No.`, status),
    })),
    ...[400, 404, 405, 410, 422].map((status) => ({
      name: `status ${status}`,
      error: errorWith('No.', { statusCode: status }),
      failure: final('model_request_refused', `HTTP ${status}: No.`, status),
    })),
  ];

  test.each(cases)('reads $name', ({ error, failure }) => {
    expect(classifyModelError(error)).toEqual(failure);
  });

  test('gives the usage that was reported before the failure', () => {
    const usage = { ...noUsage, inputTokens: 5 };

    expect(
      classifyModelError(new ModelCallError(brokenStream('broken_stream'), { usage })),
    ).toEqual({
      ...again('The reply broke off before its end.'),
      usage,
    });
  });

  test('redacts and cuts what it was told', () => {
    const { message } = classifyModelError(new Error(`key sk-abcdefgh12345 ${'x '.repeat(2_000)}`));

    expect(message.startsWith('key [redacted] x x')).toBe(true);
    expect(message.length).toBeLessThanOrEqual(2_000);
  });

  test('never throws, whatever was thrown', () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withMap: true, withNullPrototype: true }),
        (thrown) => {
          const { code, retryable, message } = classifyModelError(thrown);
          expect(retryable).toBe(code === 'model_error');
          expect(message).not.toBe('');
        },
      ),
    );
  });

  test('survives an error that holds itself', () => {
    const error = errorWith('boom', {});
    Object.assign(error, { cause: error, data: error });

    expect(classifyModelError(error)).toEqual(again('boom'));
  });
});
