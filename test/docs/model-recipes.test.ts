/** The recipes of docs/models.md, each against a server that speaks as its own does. */
import type { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import {
  atAzure,
  atBedrock,
  atLmStudio,
  atOllama,
  atOpenRouter,
  atVllm,
} from '../../examples/docs/models.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { ModelEntry } from '../../src/define/model/model-entry.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { loadKnownModels } from '../../src/registry/known-prices.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';
import { startAimock } from '../support/aimock.ts';
import { withHiddenValue } from '../support/hidden-values.ts';

let mock: LLMock;
/** Where requests were sent to, with their keys, and the body of the last one. */
const sent: { readonly url: string; readonly key: string | null }[] = [];
let body = '';

beforeAll(async () => {
  mock = await startAimock();
  mock.on(
    { predicate: ({ messages }) => messages.some(({ role }) => role === 'tool') },
    {
      content: 'It rains in Oslo.',
      usage: { prompt_tokens: 20, completion_tokens: 5 },
    },
  );
  mock.on(
    { userMessage: /weather/ },
    {
      toolCalls: [{ name: 'look', arguments: '{"city":"Oslo"}' }],
      usage: { prompt_tokens: 10, completion_tokens: 5 },
    },
  );
  mock.on({ userMessage: /Judge/ }, { content: '{"mood":"good"}' });
  const { fetch } = globalThis;
  // The hosts of the recipes are those of their providers: each is played by the mock.
  vi.stubGlobal('fetch', (input: string | URL, init: RequestInit = {}) => {
    const url = new URL(input);
    if (url.origin === mock.baseUrl) return fetch(url, init);
    body = init.body as string;
    const headers = new Headers(init.headers);
    sent.push({ url: url.href, key: headers.get('authorization') ?? headers.get('api-key') });
    return fetch(`${mock.baseUrl}${url.pathname.replace('/openai/v1/', '/v1/')}`, init);
  });
  vi.stubEnv('OPENROUTER_API_KEY', 'or-1');
  vi.stubEnv('VLLM_API_KEY', 'vllm-1');
  vi.stubEnv('AWS_BEARER_TOKEN_BEDROCK', 'aws-1');
  vi.stubEnv('AZURE_API_KEY', 'azure-1');
});
afterAll(async () => {
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
  await mock.stop();
});

interface Recipe {
  readonly at: () => ModelEntry;
  readonly url: string;
  readonly key: string | null;
}

const RECIPES: readonly Recipe[] = [
  { at: atOpenRouter, url: 'https://openrouter.ai/api/v1/chat/completions', key: 'Bearer or-1' },
  { at: atOllama, url: 'http://localhost:11434/v1/chat/completions', key: null },
  { at: atLmStudio, url: 'http://localhost:1234/v1/chat/completions', key: null },
  { at: atVllm, url: 'http://gpu-1:8000/v1/chat/completions', key: 'Bearer vllm-1' },
  {
    at: atBedrock,
    url: 'https://bedrock-runtime.eu-central-1.amazonaws.com/model/eu.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream',
    key: 'Bearer aws-1',
  },
  {
    at: atAzure,
    url: 'https://my-resource.openai.azure.com/openai/v1/responses?api-version=v1',
    key: 'azure-1',
  },
];

describe('a recipe', () => {
  test.each(RECIPES)('calls a tool and answers at $url', async ({ at, url, key }) => {
    sent.length = 0;
    const look = defineTool({
      name: 'look',
      description: 'Looks at the weather.',
      parameters: z.object({ city: z.string() }),
      execute: ({ city }) => `Rain in ${city}.`,
    });
    const agent = defineAgent({ name: 'clerk', mode: 'chat', model: at(), tools: [look] });

    const step = await startInMemory({
      agent,
      task: 'How is the weather in Oslo?',
      context: withHiddenValue(),
    }).result;

    expect(step).toMatchObject({ status: 'success', value: 'It rains in Oslo.' });
    expect(sent).toEqual([
      { url, key },
      { url, key },
    ]);
  });

  test.each(RECIPES)('answers with a value at $url', async ({ at }) => {
    sent.length = 0;
    const agent = defineAgent({
      name: 'judge',
      mode: 'json',
      model: at(),
      signature: { output: z.object({ mood: z.enum(['good', 'bad']) }) },
    });

    const step = await startInMemory({
      agent,
      task: 'Judge: it was great.',
      context: withHiddenValue(),
    }).result;

    expect(step).toMatchObject({ status: 'success', value: { mood: 'good' } });
    expect(sent).toHaveLength(1);
  });

  test('says of a price what is known', async () => {
    const known = await loadKnownModels({});
    const unknown = RECIPES.map(({ at }) => at()).filter(
      ({ model, price }) => price === undefined && known(model)?.price === undefined,
    );
    expect(unknown).toEqual([]);
    expect(known(atOpenRouter().model)?.contextWindow).toBeGreaterThan(100_000);
    expect(known(atBedrock().model)?.contextWindow).toBeGreaterThan(100_000);
  });

  test('keeps OpenRouter to hosts that take what is asked', async () => {
    const agent = defineAgent({ name: 'teller', mode: 'text', model: atOpenRouter() });
    await startInMemory({ agent, task: 'Judge.', context: withHiddenValue() }).result;

    expect(JSON.parse(body)).toMatchObject({
      model: 'anthropic/claude-sonnet-4.5',
      provider: { require_parameters: true },
    });
  });
});
