/** Replies that are asked for without a stream, by a provider over real HTTP. */
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { modelAt } from '../support/aimock.ts';
import { eventually } from '../support/eventually.ts';
import { bodiesOf } from '../support/runs.ts';
import { slowProviders, type SlowProvider } from '../support/slow-provider.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
const providers = slowProviders();
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterEach(() => providers.stop());
afterAll(() => stage.close());

const WHOLE = {
  id: 'c1',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'done' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 40, completion_tokens: 2, total_tokens: 42 },
};

/** A run whose first model call is under way; `answer` ends it. */
async function askedRun(): Promise<{
  readonly run: RunHandle;
  readonly provider: SlowProvider;
  readonly answer: () => void;
}> {
  let answer = (): void => undefined;
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const provider = await providers.start([
    (response) => {
      void answered.then(() => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(WHOLE));
      });
    },
  ]);
  const model = { id: 'm', model: modelAt(provider.url, 'openai-compatible') };
  const { everloop } = await stage.serve([
    defineAgent({ name: 'tester', mode: 'chat', model, stream: 'auto' }),
  ]);
  const run = await everloop.start('tester', { task: 'Go' });
  await eventually('a request', async () => provider.requests.length > 0);
  return { run, provider, answer };
}

describe("stream: 'auto' while nobody reads", () => {
  it('asks for the whole reply; a reader who comes late is told, and has it at its end', async () => {
    const { run, provider, answer } = await askedRun();
    const seen: string[] = [];
    const reading = (async () => {
      for await (const item of run.stream()) seen.push('delta' in item ? item.delta : item.kind);
    })();
    await eventually('the marker', async () => seen.length > 0);
    answer();

    expect(await run.result()).toMatchObject({ status: 'success', value: 'done' });
    await reading;
    expect(seen.slice(0, 2)).toEqual(['not_streamed', 'done']);
    expect(provider.requests.map((body) => JSON.parse(body).stream ?? false)).toEqual([false]);
    await stage.replay(run);
  });

  it('charges an estimate of the prompt when its call is canceled', async () => {
    const { run, provider, answer } = await askedRun();
    await run.cancel();

    expect(await run.result()).toMatchObject({ status: 'canceled' });
    await eventually('the aborted connection', async () => provider.abortedAt.length > 0);
    answer();
    const [call] = bodiesOf(await run.events(), 'agent:model_call:after');
    expect(call).toMatchObject({ attempts: 1, usageKnown: false, estimated: { costMicroUsd: 0 } });
    expect(call?.estimated?.totalTokens).toBeGreaterThan(0);
    await stage.replay(run);
  });
});
