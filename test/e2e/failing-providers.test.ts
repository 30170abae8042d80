/** Providers that fail: what shows while a call waits for its next attempt, and what ends the wait. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { RunHandle } from '../../src/client/run-handle.ts';
import type { LimitsInput } from '../../src/core/contract/input.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { eventually } from '../support/eventually.ts';
import { answer, bodiesOf } from '../support/runs.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(() => stage.close());

/** A run whose provider is overloaded once, and wants to be left alone for an hour. */
async function play(options: { readonly limits?: LimitsInput } = {}): Promise<RunHandle> {
  let asked = 0;
  const model = async (): Promise<string> => {
    asked += 1;
    if (asked > 1) return answer();
    const responseHeaders = { 'retry-after': '3600' };
    throw Object.assign(new Error('Overloaded'), { statusCode: 503, responseHeaders });
  };
  const agent = defineAgent({ name: 'asker', mode: 'react', model: { id: 'gpt', model } });
  const { everloop } = await stage.serve([agent]);
  const run = await everloop.start('asker', { task: 'Ask', ...options });
  await eventually('a wait', async () =>
    /^model gpt \(attempt 2 of 8 at 20.*Z: HTTP 503: Overloaded\)$/.test(
      (await run.status()).waitsFor.join(),
    ),
  );
  return run;
}

describe.concurrent('[R12] a call that waits for its provider', () => {
  it('shows attempt and reason, and a cancel ends it at once', async () => {
    const run = await play();
    expect(bodiesOf(await run.events(), 'agent:model_attempt_failed')).toEqual([
      {
        type: 'agent:model_attempt_failed',
        model: 'gpt',
        purpose: 'reply',
        attempt: 1,
        code: 'model_error',
        message: 'HTTP 503: Overloaded',
        status: 503,
        retryInMs: 3_600_000,
      },
    ]);
    await run.cancel();

    expect(await run.result()).toMatchObject({ status: 'canceled' });
    await stage.replay(run);
  });

  it('ends with the time of its run', async () => {
    const run = await play({ limits: { wallClockMs: 4_000 } });

    expect(await run.result()).toMatchObject({ status: 'limit_exceeded' });
    await stage.replay(run);
  });

  it('is tried at once when its run was paused and is resumed', async () => {
    const run = await play();
    await run.pause();
    await eventually('a pause', async () => (await run.status()).state === 'paused');
    await run.resume();

    expect(await run.result()).toMatchObject({ status: 'success', value: 'done' });
    expect((await run.stats()).counters['agent:model_call_retries']).toBe(1);
    await stage.replay(run);
  });
});
