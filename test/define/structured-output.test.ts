import type { ChatCompletionRequest, LLMock } from '@copilotkit/aimock';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { ModelEntry, StructuredOutput } from '../../src/define/model/model-entry.ts';
import type { ModelRequest } from '../../src/core/contract/model.ts';
import type { MemoryRun } from '../../src/testing/memory-run.ts';
import { startInMemory, type MemoryRunOptions } from '../../src/testing/run-in-memory.ts';
import { modelAt, protocols, startAimock, type Protocol } from '../support/aimock.ts';
import { withHiddenValue } from '../support/hidden-values.ts';
import { bodiesOf } from '../support/runs.ts';

let mock: LLMock;
beforeAll(async () => {
  mock = await startAimock();
});
afterEach(() => {
  mock.clearFixtures();
  mock.clearRequests();
});
afterAll(() => mock.stop());

const usage = {
  prompt_tokens: 20,
  completion_tokens: 7,
  input_tokens: 20,
  output_tokens: 7,
  promptTokenCount: 20,
  candidatesTokenCount: 7,
};

function start(
  protocol: Protocol,
  structuredOutput: StructuredOutput,
  more: Partial<ModelEntry> = {},
  options: Partial<MemoryRunOptions> = {},
): MemoryRun {
  const agent = defineAgent({
    name: 'triage',
    mode: 'json',
    signature: '{sentiment :string, score :float?}',
    model: { id: 'm', model: modelAt(mock.url, protocol), structuredOutput, ...more },
  });
  const context = withHiddenValue(options.context);
  return startInMemory({ agent, task: 'Classify: great product.', ...options, context });
}

const value = { sentiment: 'positive', score: 0.5 };

/** How the last request asked for its output, as far as the mock shows it. */
function asked(): readonly string[] {
  const sent = mock.getRequests().at(-1)?.body as ChatCompletionRequest | undefined;
  const tools = (sent?.tools ?? []).map((tool) => `tool ${tool.function.name}`);
  return [...(sent?.response_format === undefined ? [] : ['response_format']), ...tools];
}

/** Whether a request asks in the way of the strategy. */
const asks = {
  schema: (sent: ChatCompletionRequest): boolean =>
    sent.response_format !== undefined ||
    (sent.tools ?? []).some((tool) => tool.function.name === 'json'),
  tool: (sent: ChatCompletionRequest): boolean =>
    (sent.tools ?? []).some((tool) => tool.function.name === 'respond'),
};

const refusal = {
  error: { message: 'This is not supported.', type: 'invalid_request_error' },
  status: 400,
};

describe('Classification over HTTP [sub 5]', () => {
  test.each(protocols)('%s, strategy schema', async (protocol) => {
    // The adapter for Anthropic asks by a tool of its own and reads the call as text.
    mock.on(
      { predicate: asks.schema },
      protocol === 'anthropic'
        ? { toolCalls: [{ name: 'json', arguments: JSON.stringify(value) }], usage }
        : { content: JSON.stringify(value), usage },
    );
    mock.onMessage(/./, { content: JSON.stringify(value), usage });

    const step = await start(protocol, 'schema').result;

    expect(step).toMatchObject({
      status: 'success',
      value,
      usage: { modelCalls: 1, schemaUsed: true, inputTokens: 20 },
    });
    // What the mock leaves of requests of the other protocols has no place for a schema.
    if (protocol.startsWith('openai-c')) expect(asked()).toEqual(['response_format']);
  });

  test.each(protocols)('%s, strategy tool', async (protocol) => {
    mock.on(
      { predicate: asks.tool },
      {
        toolCalls: [{ name: 'respond', arguments: JSON.stringify(value) }],
        usage,
        ...(protocol === 'google' ? { finishReason: 'stop' } : {}),
      },
    );

    const step = await start(protocol, 'tool').result;

    expect(step).toMatchObject({ status: 'success', value, usage: { modelCalls: 1 } });
    expect(asked()).toEqual(['tool respond']);
  });

  test.each(protocols)('%s, text where a call was forced', async (protocol) => {
    mock.onMessage(/./, { content: `Here: ${JSON.stringify(value)}`, usage });

    const step = await start(protocol, 'tool').result;

    expect(step.value).toEqual(value);
  });

  test.each(protocols)('%s, strategy prompt, with a repair', async (protocol) => {
    mock.on({ turnIndex: 0 }, { content: '{"score": "high"}', usage });
    mock.on({ turnIndex: 1 }, { content: `\`\`\`json\n${JSON.stringify(value)}\n\`\`\``, usage });

    const step = await start(protocol, 'prompt').result;

    expect(step).toMatchObject({ status: 'success', value, usage: { modelCalls: 2 } });
    expect(asked()).toEqual([]);
  });

  test.each([
    { protocol: 'openai-chat', first: ['response_format'] },
    { protocol: 'anthropic', first: ['tool json'] },
    { protocol: 'openai-compatible', first: ['tool respond'] },
  ] as const)('auto takes the best that $protocol has', async ({ protocol, first }) => {
    mock.on(
      { predicate: (sent) => !asks.tool(sent) && protocol === 'anthropic' },
      { toolCalls: [{ name: 'json', arguments: JSON.stringify(value) }], usage },
    );
    mock.onMessage(/./, { content: JSON.stringify(value), usage });

    const step = await start(protocol, 'auto').result;

    expect(step.value).toEqual(value);
    expect(asked()).toEqual(first);
  });
});

describe('A provider that refuses [sub 5]', () => {
  test('a schema: the run asks by a forced call from then on, over hand-overs too', async () => {
    mock.on({ predicate: asks.schema }, refusal);
    mock.on(
      { predicate: (sent) => asks.tool(sent) && sent.messages.length === 2 },
      { toolCalls: [{ name: 'respond', arguments: '{"sentiment": 1}' }], usage },
    );
    mock.on(
      { predicate: asks.tool },
      { toolCalls: [{ name: 'respond', arguments: JSON.stringify(value) }], usage },
    );

    const run = start('openai-chat', 'auto', {}, { handoverDue: (iteration) => iteration === 1 });
    const step = await run.result;

    expect(step).toMatchObject({ status: 'success', value });
    expect(bodiesOf(run.events, 'agent:structured_output_downgraded')).toEqual([
      { type: 'agent:structured_output_downgraded', model: 'm', from: 'schema', to: 'tool' },
    ]);
    // Refused, misfit, repaired: the repair did not ask for the schema again.
    expect(mock.getRequests()).toHaveLength(3);
    expect(run.state.structuredOutputs).toEqual({ m: 'tool' });
    expect(run.state.link).toBe(2);
  });

  test('a schema and a forced call: the prompt alone is left', async () => {
    mock.on({ predicate: asks.schema }, refusal);
    mock.on({ predicate: asks.tool }, refusal);
    mock.onMessage(/Return only the JSON/, { content: JSON.stringify(value), usage });

    const run = start('openai-chat', 'schema');

    expect((await run.result).value).toEqual(value);
    expect(
      bodiesOf(run.events, 'agent:structured_output_downgraded').map(({ from, to }) => [from, to]),
    ).toEqual([
      ['schema', 'tool'],
      ['tool', 'prompt'],
    ]);
  });

  test.each(['openai-chat', 'openai-compatible'] as const)(
    'nothing, and ignores a forced call: the repair is a request in words: %s',
    async (protocol) => {
      mock.on({ turnIndex: 0 }, { content: 'It sounds happy to me.', usage });
      mock.on({ turnIndex: 1 }, { content: JSON.stringify(value), usage });

      const run = start(protocol, 'tool');

      expect(await run.result).toMatchObject({ value, usage: { modelCalls: 2 } });
      expect(asked()).toEqual([]);
      expect(run.state.structuredOutputs).toEqual({ m: 'prompt' });
    },
  );

  test('everything: the run ends as `model_request_refused`', async () => {
    mock.on({ predicate: () => true }, refusal);

    const step = await start('openai-chat', 'schema').result;

    expect([step.status, step.reason]).toEqual(['error', 'model_request_refused']);
    expect(mock.getRequests()).toHaveLength(3);
  });

  test.each([401, 404])('with %i: how the output is asked for is not to blame', async (status) => {
    mock.on({ predicate: () => true }, { error: { message: 'No.' }, status });

    const run = start('openai-chat', 'schema');

    expect((await run.result).status).toBe('error');
    expect(bodiesOf(run.events, 'agent:structured_output_downgraded')).toEqual([]);
  });

  test('a fallback has its own strategy', async () => {
    mock.on({ predicate: () => true }, { error: { message: 'No account.' }, status: 401 });
    const seen: string[] = [];
    const agent = defineAgent({
      name: 'triage',
      mode: 'json',
      signature: '{sentiment :string, score :float?}',
      model: 'first',
    });
    const models = [
      {
        id: 'first',
        model: modelAt(mock.url, 'openai-chat'),
        structuredOutput: 'schema' as const,
        fallbacks: ['second'],
      },
      {
        id: 'second',
        structuredOutput: 'tool' as const,
        model: async (request: ModelRequest) => {
          seen.push(JSON.stringify(request.toolChoice));
          return JSON.stringify(value);
        },
      },
    ];

    const step = await startInMemory({
      agent,
      models,
      task: 'Classify.',
      context: withHiddenValue(),
    }).result;

    expect([step.value, seen]).toEqual([value, ['{"tool":"respond"}']]);
  });
});

test('a strict entry asks for all fields and takes null for none; others are not strict [sub 5]', async () => {
  mock.onMessage(/./, { content: '{"sentiment": "good", "score": null}', usage });
  const formatOf = (): unknown =>
    (mock.getRequests().at(-1)?.body as ChatCompletionRequest | undefined)?.response_format;

  const strict = await start('openai-chat', 'schema', { strict: true }).result;
  const strictFormat = formatOf();
  await start('openai-chat', 'schema').result;

  expect(strict.value).toEqual({ sentiment: 'good' });
  expect(strictFormat).toMatchObject({
    json_schema: { strict: true, schema: { required: ['sentiment', 'score'] } },
  });
  expect(formatOf()).toMatchObject({
    json_schema: { strict: false, schema: { required: ['sentiment'] } },
  });
});
