/** What tells Claude to keep the beginning of a request, on each of its providers. */
import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { describe, expect, it } from 'vitest';
import { textMessage } from '../../src/core/base/message.ts';
import type { LanguageModel } from '../../src/define/model/language-model.ts';
import { callEntry } from '../../src/models/model-adapter.ts';

type Body = { readonly [field: string]: unknown };

/** The body of the request that `modelWith` sends. */
async function sentBy(modelWith: (fetch: typeof globalThis.fetch) => LanguageModel): Promise<Body> {
  let body: Body = {};
  const model = modelWith((async (_url, init) => {
    body = JSON.parse(init?.body as string) as Body;
    const content = 'Done.';
    const converse = { output: { message: { role: 'assistant', content: [{ text: content }] } } };
    const chat = { choices: [{ message: { role: 'assistant', content }, finish_reason: 'stop' }] };
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
    const answer = { ...converse, ...chat, stopReason: 'end_turn', usage };
    return new Response(JSON.stringify(answer), {
      headers: { 'content-type': 'application/json' },
    });
  }) as typeof globalThis.fetch);
  const request = {
    mode: 'chat' as const,
    agent: 'a',
    runId: 'r',
    iteration: 1,
    attempt: 1,
    messages: [textMessage('system', 'You are.'), textMessage('user', 'Hello.')],
    settings: { stream: false },
    cacheUpTo: 2,
  };
  const signal = new AbortController().signal;
  const end = await callEntry({ id: 'm', model }, request, { signal, onChunk: () => undefined });
  expect(end).toMatchObject({ kind: 'reply' });
  return body;
}

const bedrock = (modelId: string) => (fetch: typeof globalThis.fetch) =>
  createAmazonBedrock({ region: 'eu-central-1', apiKey: 'key', fetch })(modelId);

const compatible = (baseURL: string, modelId: string) => (fetch: typeof globalThis.fetch) =>
  createOpenAICompatible({ name: 'openrouter', baseURL, fetch })(modelId);

const OPENROUTER = 'https://openrouter.ai/api/v1';

describe('a mark for prompt caches', () => {
  it.each([
    ['eu.anthropic.claude-sonnet-4-5-20250929-v1:0', true],
    ['anthropic.claude-3-7-sonnet-20250219-v1:0', true],
    ['anthropic.claude-3-haiku-20240307-v1:0', false],
    ['meta.llama3-1-70b-instruct-v1:0', false],
  ])('of Bedrock goes to models with a cache: %s', async (modelId, isMarked) => {
    const { messages } = await sentBy(bedrock(modelId));

    const content = [
      { text: 'Hello.' },
      ...(isMarked ? [{ cachePoint: { type: 'default' } }] : []),
    ];
    expect(messages).toEqual([{ role: 'user', content }]);
  });

  it.each([
    [OPENROUTER, 'anthropic/claude-sonnet-4.5', { type: 'ephemeral' }],
    [OPENROUTER, 'openai/gpt-5', undefined],
    ['https://notopenrouter.ai/api/v1', 'anthropic/claude-sonnet-4.5', undefined],
  ])('is about the whole request for Claude of OpenRouter: %s %s', async (url, modelId, mark) => {
    const { cache_control: sent } = await sentBy(compatible(url, modelId));

    expect(sent).toEqual(mark);
  });
});
