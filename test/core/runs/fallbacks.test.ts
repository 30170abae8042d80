/** A model that fails for good, and those that stand in for it: who counts, and at which price. */
import { describe, expect, it } from 'vitest';
import type { ModelEntry } from '../../../src/define/model/model-entry.ts';
import { scriptedModel } from '../../../src/testing/scripted-model.ts';
import { answer, bodiesOf, startRun } from '../../support/runs.ts';

const refusal = (statusCode: number): Error =>
  Object.assign(new Error(`status ${statusCode}`), { statusCode });

describe('[row 52] [row 53] fallbacks', () => {
  it.each([
    {
      name: 'after a refused key',
      failures: [refusal(401)],
      attempts: 1,
      error: { code: 'model_auth', message: 'HTTP 401: status 401' },
    },
    {
      name: '[R12] after two attempts',
      failures: Array.from({ length: 2 }, () => refusal(503)),
      attempts: 2,
      error: { code: 'model_error', message: 'HTTP 503: status 503' },
    },
    {
      name: '[R12] at once when Retry-After is over 10 s',
      failures: [Object.assign(refusal(429), { responseHeaders: { 'retry-after': '11' } })],
      attempts: 1,
      error: { code: 'model_error', message: 'HTTP 429: status 429' },
    },
  ])('answer $name, and statistics name each at its price', async (row) => {
    const broken = scriptedModel(row.failures);
    const second = scriptedModel([answer('by the second')]);
    const models: readonly ModelEntry[] = [
      { id: 'first', model: broken.model, price: { input: 9, output: 9 }, fallbacks: ['second'] },
      { id: 'second', model: second.model, price: { input: 1.5, output: 2.25 } },
    ];
    const { run } = startRun([], { agent: { model: 'first' }, models });

    const step = await run.result;

    broken.assertDone();
    second.assertDone();
    expect([step.status, step.value, step.iterations]).toEqual(['success', 'by the second', 1]);
    // 100 x 1.5 + 10 x 2.25 = 172.5, rounded up; what failed reported no usage.
    expect(step.usage).toEqual({
      inputTokens: 100,
      outputTokens: 10,
      totalTokens: 110,
      cachedInputTokens: 0,
      reasoningTokens: 0,
      costMicroUsd: 173,
      modelCalls: 2,
      modelCallRetries: row.attempts - 1,
      toolCalls: 0,
      durationMs: step.usage.durationMs,
    });
    const { counters } = step.stats;
    const of = (key: string): readonly (number | undefined)[] =>
      ['', ':first', ':second'].map((suffix) => counters[`agent:${key}${suffix}`]);
    expect({
      calls: of('model_calls'),
      retries: of('model_call_retries'),
      tokens: of('total_tokens'),
      cost: of('cost_microusd'),
    }).toEqual({
      calls: [2, 1, 1],
      retries: [row.attempts - 1, row.attempts - 1, 0],
      tokens: [110, 0, 110],
      cost: [173, 0, 173],
    });
    expect(
      bodiesOf(run.events, 'agent:model_call:after').map(({ model, attempts, error }) => ({
        model,
        attempts,
        error,
      })),
    ).toEqual([
      { model: 'first', attempts: row.attempts, error: row.error },
      { model: 'second', attempts: 1, error: undefined },
    ]);
  });

  it('[R12] each failed attempt that is followed by another is an event', async () => {
    const { run } = startRun([refusal(503), refusal(529), answer()]);
    await run.result;

    expect(bodiesOf(run.events, 'agent:model_attempt_failed')).toEqual(
      [
        { attempt: 1, status: 503, retryInMs: 1_000 },
        { attempt: 2, status: 529, retryInMs: 2_000 },
      ].map((shown) => ({
        type: 'agent:model_attempt_failed',
        model: 'm',
        purpose: 'reply',
        code: 'model_error',
        message: `HTTP ${shown.status}: status ${shown.status}`,
        ...shown,
      })),
    );
  });

  it.each([400, 404, 405, 422])('are asked when a request was refused with %i', async (status) => {
    const broken = scriptedModel([refusal(status)]);
    const second = scriptedModel([answer('by the second')]);
    const models: readonly ModelEntry[] = [
      { id: 'first', model: broken.model, fallbacks: ['second'] },
      { id: 'second', model: second.model },
    ];
    const { run } = startRun([], { agent: { model: 'first' }, models });

    const step = await run.result;

    second.assertDone();
    expect([step.status, step.value]).toEqual(['success', 'by the second']);
  });

  it('end the run with what the last one refused', async () => {
    const models: readonly ModelEntry[] = [
      { id: 'first', model: scriptedModel([refusal(404)]).model, fallbacks: ['second'] },
      { id: 'second', model: scriptedModel([refusal(422)]).model },
    ];
    const { run } = startRun([], { agent: { model: 'first' }, models });

    const step = await run.result;

    expect([step.status, step.reason]).toEqual(['error', 'model_request_refused']);
    expect(step.message).toContain('HTTP 422');
  });

  it('are asked at once for a request that is too large for a minute of one account', async () => {
    const message =
      'Request too large for gpt-4.1 on tokens per min (TPM): Limit 30000, Requested 35364.';
    const broken = scriptedModel([Object.assign(new Error(message), { statusCode: 429 })]);
    const models: readonly ModelEntry[] = [
      { id: 'first', model: broken.model, fallbacks: ['second'] },
      { id: 'second', model: scriptedModel([answer('by the second')]).model },
    ];
    const { run } = startRun([], { agent: { model: 'first' }, models });

    expect((await run.result).value).toBe('by the second');
  });

  it('get a request that is too long for the first and cannot be shortened', async () => {
    const tooLong = Object.assign(new Error('prompt is too long'), { statusCode: 400 });
    const models: readonly ModelEntry[] = [
      { id: 'first', model: scriptedModel([tooLong]).model, fallbacks: ['second'] },
      { id: 'second', model: scriptedModel([answer('by the second')]).model },
    ];
    const { run } = startRun([], { agent: { model: 'first' }, models });

    expect((await run.result).value).toBe('by the second');
  });
});
