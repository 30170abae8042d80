import { anthropic, createAnthropic } from '@ai-sdk/anthropic';
import { google } from '@ai-sdk/google';
import { openai } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { CalledEntry } from '../../src/define/model/model-entry.ts';
import { keyVariable, missingKey } from '../../src/models/missing-key.ts';

afterEach(() => vi.unstubAllEnvs());

describe('the missing key of a model', () => {
  it.each([
    ['OPENAI_API_KEY', openai('gpt-5-mini')],
    ['ANTHROPIC_API_KEY', anthropic('claude-haiku-4-5')],
    ['GOOGLE_GENERATIVE_AI_API_KEY', google('gemini-2.5-flash')],
  ])('is %s, until it is set', (variable, model) => {
    vi.stubEnv(variable, undefined);
    expect(missingKey(model)).toBe(variable);

    vi.stubEnv(variable, 'a-key');
    expect(missingKey(model)).toBeUndefined();
  });

  it('is not looked for where none is needed, or where it would take a request', () => {
    vi.stubEnv('ANTHROPIC_API_KEY', undefined);
    const headers = vi.fn(() => Promise.resolve({}));
    const vertex = { provider: 'google.vertex.chat', config: { headers } };

    expect(missingKey(async () => 'a reply')).toBeUndefined();
    expect(missingKey(createAnthropic({ apiKey: 'given' })('claude'))).toBeUndefined();
    const free = createOpenAICompatible({ name: 'free', baseURL: 'http://127.0.0.1:1/v1' })('any');
    expect(missingKey(free)).toBeUndefined();
    expect(missingKey(vertex as unknown as CalledEntry['model'])).toBeUndefined();
    expect(missingKey({ provider: 'openai.chat' } as CalledEntry['model'])).toBeUndefined();
    expect(headers).not.toHaveBeenCalled();
  });

  it.each([
    [undefined],
    [new Error('the OPENAI_API_KEY environment variable')],
    [Object.assign(new Error('API key must be a string.'), { name: 'AI_LoadAPIKeyError' })],
  ])('is not guessed from another error: %#', (error) => {
    expect(keyVariable(error)).toBeUndefined();
  });
});
