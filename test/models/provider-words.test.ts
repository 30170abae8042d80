/** What providers say when they refuse, in every shape that is known. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { utf8Length } from '../../src/core/base/json.ts';
import { classifyModelError } from '../../src/models/model-failures.ts';

/** The error of an adapter: most give the text of the status where they do not know the shape. */
function errorOf(status: number, responseBody: string): Error {
  return Object.assign(new Error('Bad Request'), {
    name: 'AI_APICallError',
    statusCode: status,
    responseBody,
  });
}

const SHAPES: { readonly [name: string]: (words: string) => unknown } = {
  OpenAI: (message) => ({
    error: { message, type: 'invalid_request_error', param: null, code: null },
  }),
  Anthropic: (message) => ({ type: 'error', error: { type: 'invalid_request_error', message } }),
  Google: (message) => ({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }),
  'Google in a list': (message) => [{ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }],
  Mistral: (message) => ({ object: 'error', message, type: 'invalid_request_error', code: '3051' }),
  'Mistral with details': (msg) => ({
    object: 'error',
    message: { detail: [{ type: 'value_error', loc: ['body', 'messages'], msg }] },
  }),
  'FastAPI text': (detail) => ({ detail }),
  'FastAPI list': (msg) => ({ detail: [{ loc: ['body', 'messages', 0], msg, type: 'x' }] }),
  'error as text': (error) => ({ error }),
  'code and error': (error) => ({ code: 'Client specified an invalid argument', error }),
  Cohere: (message) => ({ id: '1', message }),
  Bedrock: (message) => ({ message }),
  'OpenRouter around another': (message) => ({
    error: {
      message: 'Provider returned error',
      code: 400,
      metadata: { raw: JSON.stringify({ error: { message } }), provider_name: 'x' },
    },
  }),
  'a list of errors': (message) => ({ errors: [{ message }] }),
};

const bodies = (words: string): readonly (readonly [string, string])[] => [
  ...Object.entries(SHAPES).map(([name, shape]) => [name, JSON.stringify(shape(words))] as const),
  ['plain text', words],
  ['a page', `<html><head><title>${words}</title></head><body><h1>x</h1></body></html>`],
];

describe('[row 53] the words of a refusal', () => {
  const tooLong = "This model's maximum context length is 8192 tokens, you sent 9000.";

  it.each(bodies(tooLong))('tell a request that is too long: %s', (_name, body) => {
    const failure = classifyModelError(errorOf(400, body));

    expect([failure.code, failure.retryable]).toEqual(['context_too_long', false]);
    expect(failure.message).toContain(tooLong);
  });

  it.each(bodies('The tool schema is odd.'))('are in the message: %s', (_name, body) => {
    const failure = classifyModelError(errorOf(400, body));

    expect(failure.code).toBe('model_request_refused');
    expect(failure.message).toContain('The tool schema is odd.');
  });

  it.each([
    [400, 'Your credit balance is too low to access the Anthropic API.', 'model_auth'],
    [400, 'User location is not supported for the API use.', 'model_auth'],
    [400, 'Your project was suspended.', 'model_auth'],
    [429, 'Insufficient balance or no resource package. Please recharge.', 'model_auth'],
    [400, 'Content Exists Risk', 'model_refused'],
    [403, 'Your chosen model requires moderation and your input was flagged.', 'model_refused'],
    [400, 'The prompt was filtered', 'model_refused'],
    [404, 'The model `gpt-4-32k` has been deprecated', 'model_request_refused'],
    [400, "Unsupported value: 'temperature' does not support 0.", 'model_request_refused'],
    [400, 'too many tokens: total number of tokens cannot exceed 4081', 'context_too_long'],
    [422, 'Requested tokens exceed the context window of 4096', 'context_too_long'],
    [500, 'n_past exceeds the available context size', 'context_too_long'],
    [
      429,
      'Rate limit reached on tokens per min (TPM): Limit 10000, Used 9500, Requested 1000.',
      'model_error',
    ],
    [
      429,
      'Request too large for m on tokens per min (TPM): Limit 30000, Requested 35364.',
      'context_too_long',
    ],
    [429, 'You exceeded your current quota. Please retry in 34s.', 'model_error'],
  ])('%i %s is %s', (status, message, code) => {
    const body = JSON.stringify({ error: { message } });

    expect(classifyModelError(errorOf(status, body)).code).toBe(code);
  });

  it('are bounded, well-formed and without secrets, whatever the body is', () => {
    const body = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 400 }),
      fc.json(),
      fc
        .constantFrom(...Object.values(SHAPES))
        .chain((shape) =>
          fc
            .string({ unit: 'binary', maxLength: 3_000 })
            .map((text) => JSON.stringify(shape(`${text} sk-abcdefgh12345678 \ud83d`))),
        ),
    );
    fc.assert(
      fc.property(body, fc.integer({ min: 400, max: 599 }), (text, status) => {
        const { message } = classifyModelError(errorOf(status, text));
        expect(message.isWellFormed()).toBe(true);
        expect(utf8Length(message)).toBeLessThanOrEqual(2_100);
        expect(message).not.toContain('abcdefgh12345678');
      }),
    );
  });

  it('of a body that nests without end are read in no time', () => {
    const deep = '['.repeat(30_000) + ']'.repeat(30_000);

    expect(classifyModelError(errorOf(400, deep)).code).toBe('model_request_refused');
  });
});
