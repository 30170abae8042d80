/** What models are accepted; checked by the compiler, nothing here runs. */
import { anthropic as anthropic6 } from '@ai-sdk/anthropic';
import { google as google6 } from '@ai-sdk/google';
import { openai as openai6 } from '@ai-sdk/openai';
import type { LanguageModelV3 } from '@ai-sdk/provider';
import { anthropic as anthropic7 } from '@ai-sdk-7/anthropic';
import { google as google7 } from '@ai-sdk-7/google';
import { openai as openai7 } from '@ai-sdk-7/openai';
import type { LanguageModelV4 } from '@ai-sdk-7/provider';
import { expectTypeOf } from 'vitest';
import {
  defineAgent,
  type AgentModel,
  type LanguageModel,
  type ModelEntry,
} from '../../src/index.ts';

// Models of the AI SDK 6 and 7, without a cast.
expectTypeOf<LanguageModelV3>().toExtend<LanguageModel>();
expectTypeOf<LanguageModelV4>().toExtend<LanguageModel>();
for (const model of [openai6('gpt-5'), anthropic6('claude-sonnet-4-5'), google6('gemini-3')]) {
  expectTypeOf(model).toExtend<AgentModel>();
}
for (const model of [openai7('gpt-5'), anthropic7('claude-sonnet-4-5'), google7('gemini-3')]) {
  expectTypeOf(model).toExtend<ModelEntry['model']>();
}
defineAgent({ name: 'six', model: openai6('gpt-5') });
defineAgent({ name: 'seven', model: { id: 'large', model: openai7('gpt-5') } });

// A model of the AI SDK 5 is not.
expectTypeOf<
  { specificationVersion: 'v2' } & Omit<LanguageModelV3, 'specificationVersion'>
>().not.toExtend<AgentModel>();
