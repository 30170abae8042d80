/** Modes `json` and `text`, piping and preparation of inputs, on a real server with a model over HTTP. */
import type { LLMock } from '@copilotkit/aimock';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { unwrap } from '../../src/core/run/unwrap.ts';
import { modelAt, startAimock } from '../support/aimock.ts';
import { openStage, type Served, type Stage } from '../support/stage.ts';

let mock: LLMock;
let stage: Stage;
let served: Served;
beforeAll(async () => {
  mock = await startAimock();
  stage = await openStage(inject('temporal'));
  const model = {
    id: 'mock/model',
    model: modelAt(mock.url, 'openai-chat'),
    structuredOutput: 'schema' as const,
  };
  served = await stage.serve([
    defineAgent({
      name: 'triage',
      mode: 'json',
      model,
      signature: '(review :string, stars :int?) -> {sentiment :string, score :float?}',
      prompt: 'Classify: {{review}}',
      fieldDescriptions: { sentiment: 'positive or negative' },
    }),
    defineAgent({ name: 'writer', mode: 'text', model, prompt: 'Feels {{sentiment}}. {{task}}' }),
    defineAgent({
      name: 'novelist',
      mode: 'text',
      model: { id: 'long', model: () => Promise.resolve('x'.repeat(300_000)) },
    }),
  ]);
});
afterEach(() => {
  mock.clearFixtures();
  mock.clearRequests();
});
afterAll(async () => {
  await stage.close();
  await mock.stop();
});

const usage = { prompt_tokens: 20, completion_tokens: 7 };
const good = { content: '{"sentiment": "positive"}', usage };

describe('on a server [sub 5]', () => {
  it('a refused schema is asked for by a forced call, and the misfit is repaired', async () => {
    mock.on(
      { predicate: (sent) => sent.response_format !== undefined },
      { error: { message: 'No schemas here.', type: 'invalid_request_error' }, status: 400 },
    );
    mock.on(
      { predicate: (sent) => sent.messages.length === 2 },
      { toolCalls: [{ name: 'respond', arguments: '{"sentiment": 1}' }], usage },
    );
    mock.on(
      { predicate: (sent) => sent.messages.length > 2 },
      { toolCalls: [{ name: 'respond', arguments: good.content }], usage },
    );

    const run = await served.everloop.start('triage', { context: { review: 'Great', stars: '5' } });
    const step = await run.result();
    const events = await run.events();

    expect(step).toMatchObject({
      mode: 'json',
      status: 'success',
      value: { sentiment: 'positive' },
      signature: '(review :string, stars :int?) -> {sentiment :string, score :float?}',
      iterations: 2,
      usage: { schemaUsed: true, modelCalls: 3 },
    });
    expect(
      events.flatMap((event) =>
        event.type === 'agent:structured_output_downgraded' || event.type === 'agent:warning'
          ? [event]
          : [],
      ),
    ).toMatchObject([
      { code: 'input_coerced', message: 'stars: "5" was read as 5', iteration: 0 },
      { model: 'mock/model', from: 'schema', to: 'tool', iteration: 1 },
    ]);
    // Refused, misfit, repaired: the repair did not ask for the schema again.
    expect(mock.getRequests()).toHaveLength(3);
  });
});

describe('piping on a server [sub 7]', () => {
  it('a value that no Step can hold ends the run with a Step', async () => {
    const run = await served.everloop.start('novelist', { task: 'Write.' });

    expect(await run.result()).toMatchObject({
      status: 'error',
      reason: 'value_too_large',
      value: null,
      usage: { modelCalls: 1 },
    });
    await stage.replay(run);
  });

  it('a Step is the context of the next run', async () => {
    mock.onMessage(/Classify: Great/, good);
    mock.onMessage(/Feels positive\. Be brief\./, { content: ' Glad to hear it.\n', usage });

    const first = await served.everloop.start('triage', { context: { review: 'Great' } });
    const second = await served.everloop.start('writer', {
      task: 'Be brief.',
      context: await first.result(),
    });

    expect(unwrap(await second.result())).toBe(' Glad to hear it.\n');
    expect(await second.resultOrPending()).toEqual({
      kind: 'step',
      step: await second.result(),
    });
  });

  it('a Step without success ends the next run at once, without a model call', async () => {
    const failed = await served.everloop.start('triage', { context: { stars: 5 } });
    const upstream = await failed.resultOrPending();
    if (upstream.kind !== 'step') throw new Error('Expected a Step.');
    const next = await served.everloop.start('writer', { task: 'x', context: upstream.step });

    expect(upstream.step).toMatchObject({
      status: 'error',
      reason: 'invalid_input',
      mode: 'json',
      message: '`review` is required (string).',
      iterations: 0,
    });
    expect(await next.result()).toMatchObject({
      status: 'error',
      reason: 'chained_failure',
      mode: 'text',
      message: 'upstream `triage` ended with invalid_input: `review` is required (string).',
      details: { upstream: { agent: 'triage', status: 'error', reason: 'invalid_input' } },
    });
    expect(mock.getRequests()).toEqual([]);
  });

  it('a template that lacks a name ends the run before its first iteration', async () => {
    const run = await served.everloop.start('writer', { task: 'x' });

    expect(await run.result()).toMatchObject({
      reason: 'template_error',
      message: 'missing: {{sentiment}} (line 1, column 7)',
    });
    expect((await run.events()).map(({ type }) => type)).toEqual([
      'agent:execution:before',
      'agent:error',
      'agent:execution:after',
    ]);
  });
});
