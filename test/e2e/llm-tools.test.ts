/** LLM tools on a real server, with models over HTTP. */
import type { LLMock } from '@copilotkit/aimock';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { llmTool } from '../../src/define/tool/define-llm-tool.ts';
import { modelAt, startAimock } from '../support/aimock.ts';
import { eventually } from '../support/eventually.ts';
import { bodiesOf } from '../support/runs.ts';
import { PROVIDER_TOKENS, startSlowProvider, type SlowProvider } from '../support/slow-provider.ts';
import { openStage, type Served, type Stage } from '../support/stage.ts';

let mock: LLMock;
let stage: Stage;
let served: Served;
let slow: SlowProvider;
beforeAll(async () => {
  mock = await startAimock();
  stage = await openStage(inject('temporal'));
  const small = {
    id: 'mock/small',
    model: modelAt(mock.url, 'anthropic', 'small'),
    structuredOutput: 'tool' as const,
    price: { input: 1, output: 1 },
  };
  const model = {
    id: 'mock/large',
    model: modelAt(mock.url, 'openai-chat', 'large'),
    price: { input: 1, output: 1 },
  };
  const classify = llmTool({
    name: 'classify',
    prompt: 'Which label fits?\n{{review}}',
    signature: '(review :string) -> {label :string}',
    model: small,
  });
  slow = await startSlowProvider([{ kind: 'never ends' }]);
  const ponder = llmTool({
    name: 'ponder',
    prompt: '{{question}}',
    signature: '(question :string) -> :string',
    model: {
      id: 'slow',
      model: modelAt(slow.url, 'openai-compatible'),
      price: { input: 0, output: 0 },
    },
  });
  served = await stage.serve([
    defineAgent({ name: 'desk', mode: 'chat', model, tools: [classify, ponder], llmQuery: true }),
  ]);
});
afterEach(() => {
  mock.clearFixtures();
  mock.clearRequests();
});
afterAll(async () => {
  await stage.close();
  await mock.stop();
  await slow.stop();
});

const usage = { prompt_tokens: 20, completion_tokens: 7 };
const small = { input_tokens: 30, output_tokens: 3 };

/** The first request of the agent calls `tools`; the one behind their results answers. */
function converse(...tools: readonly { readonly name: string; readonly args: object }[]): void {
  const isFirst = (messages: readonly { readonly role: string }[]): boolean =>
    !messages.some(({ role }) => role === 'tool');
  mock.on(
    {
      model: 'large',
      predicate: ({ messages, tools: known }) => known !== undefined && isFirst(messages),
    },
    {
      toolCalls: tools.map(({ name, args }) => ({ name, arguments: JSON.stringify(args) })),
      usage,
    },
  );
  mock.on(
    { model: 'large', predicate: ({ messages }) => !isFirst(messages) },
    { content: 'Done.', usage },
  );
}

describe('an LLM tool on a server [sub 13]', () => {
  it('asks inside the run, in parallel, repairs, and its cost is the run’s', async () => {
    converse(
      { name: 'classify', args: { review: 'Great' } },
      { name: 'classify', args: { review: 'Awful' } },
      { name: 'llm_query', args: { prompt: 'Greet {{name}}', name: 'Ann' } },
    );
    const respond = (label: unknown): object => ({
      toolCalls: [{ name: 'respond', arguments: JSON.stringify({ label }) }],
      usage: small,
    });
    mock.on(
      { model: 'small', predicate: ({ messages }) => messages.length > 3 },
      respond('repaired') as never,
    );
    mock.on({ model: 'small', userMessage: /Great/ }, respond('good') as never);
    mock.on({ model: 'small', userMessage: /Awful/ }, respond(1) as never);
    mock.on({ model: 'large', userMessage: /Greet Ann/ }, { content: 'Hi Ann.', usage });

    const run = await served.everloop.start('desk', { task: 'Go' });
    const step = await run.result();
    const events = await run.events();

    expect(step).toMatchObject({ status: 'success', value: 'Done.', iterations: 2, children: [] });
    // They are recorded in the order in which they end.
    expect(
      bodiesOf(events, 'agent:tool_call:after').toSorted((a, b) =>
        a.callId.localeCompare(b.callId),
      ),
    ).toMatchObject([
      { tool: 'classify', outcome: 'ok', output: { label: 'good' }, attempts: 1 },
      { tool: 'classify', outcome: 'ok', output: { label: 'repaired' }, attempts: 2 },
      { tool: 'llm_query', outcome: 'ok', output: 'Hi Ann.', attempts: 1 },
    ]);
    expect(
      events
        .flatMap((event) =>
          event.type === 'agent:model_call:after' && event.purpose === 'tool' ? [event] : [],
        )
        .map(({ model, callId }) => `${callId ?? ''} ${model}`)
        .toSorted(),
    ).toEqual(['1.1 mock/small', '1.2 mock/small', '1.2 mock/small', '1.3 mock/large']);
    expect(step.usage).toMatchObject({
      modelCalls: 6,
      toolCalls: 3,
      inputTokens: 3 * 20 + 3 * 30,
      outputTokens: 3 * 7 + 3 * 3,
      costMicroUsd: 3 * 27 + 3 * 33,
    });
    expect(mock.getRequests()).toHaveLength(6);
    await stage.replay(run);
  });

  it('a limit of the run binds it', async () => {
    converse({ name: 'classify', args: { review: 'Great' } });

    const run = await served.everloop.start('desk', { task: 'Go', limits: { modelCalls: 1 } });

    expect(await run.result()).toMatchObject({
      status: 'limit_exceeded',
      reason: 'agent:model_calls',
      usage: { modelCalls: 1 },
    });
    expect(mock.getRequests()).toHaveLength(1);
  });

  it('a cancel aborts its request, and what it had cost counts', async () => {
    const [asked, aborted] = [slow.requests.length, slow.abortedAt.length];
    converse({ name: 'ponder', args: { question: 'Why?' } });
    const run = await served.everloop.start('desk', { task: 'Go' });
    await eventually('a request', () => slow.requests.length > asked);

    await run.cancel('enough');

    expect(await run.result()).toMatchObject({
      status: 'canceled',
      message: 'enough',
      usage: { modelCalls: 2, toolCalls: 1, inputTokens: 20 + PROVIDER_TOKENS.prompt_tokens },
    });
    await eventually('an abort', () => slow.abortedAt.length > aborted);
    expect([slow.requests.length, slow.abortedAt.length]).toEqual([asked + 1, aborted + 1]);
    await stage.replay(run);
  });
});
