/**
 * `real-model`: typed answers of a real model of 135 million parameters, beside the AI SDK in the same
 * run. Each of 20 reviews is rated once: a value that fits the schema is an answer.
 *
 * - `fits`, `requests`: where the adapter says that the server takes schemas; `requests` are those of
 *   all reviews, for each review.
 * - `plain_fits`, `plain_requests`: where it says nothing, as by default.
 */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, Output } from 'ai';
import { z } from 'zod';
import { defineAgent } from '../src/define/agent/define-agent.ts';
import type { LanguageModel } from '../src/define/model/language-model.ts';
import { startInMemory } from '../src/testing/run-in-memory.ts';
import { startLlamaServer } from '../test/real-model/llama-server.ts';
import { figure, type Bench, type Figure } from './support/figure.ts';

const REVIEWS = [
  'Great tea, but it came late.',
  'Broken on arrival. Never again.',
  'It does what it says.',
  'The best chair I have ever had!',
  'Too loud for a small room.',
  'My children love it.',
  'The colour is not the one of the picture.',
  'Cheap, and it feels so.',
  'Five stars, would buy it again.',
  'Nobody answered my letters.',
  'Solid, heavy, a bit expensive.',
  'The battery lasts an hour at most.',
  'Okay for the price.',
  'It smells of plastic.',
  'Delivered within a day, thank you.',
  'The manual is only in Finnish.',
  'I gave it to my mother, who is happy with it.',
  'A waste of money.',
  'Works well with my old phone.',
  'The lid does not close.',
];

const output = z.object({
  sentiment: z.enum(['positive', 'neutral', 'negative']),
  stars: z.int().min(1).max(5),
});

const PROMPT = 'Rate this review:';

/** A model that finds no end is cut, on both sides: an answer has some 25 tokens. */
const MAX_OUTPUT = 200;

interface Side {
  readonly fits: number;
  /** For each review. */
  readonly requests: number;
}

/** The benchmark `real-model`, which builds llama.cpp if it is not there. */
export const realModelBench: Bench = {
  name: 'real-model',
  about: 'typed answers of a small real model, beside the AI SDK',
  run: async () => {
    const server = await startLlamaServer();
    try {
      return [
        ...(await figuresAt(server.url, '', true)),
        ...(await figuresAt(server.url, 'plain_', false)),
      ];
    } finally {
      await server.stop();
    }
  },
};

async function figuresAt(
  url: string,
  prefix: string,
  takesSchemas: boolean,
): Promise<readonly Figure[]> {
  const other = await rated(url, takesSchemas, byAiSdk);
  const own = await rated(url, takesSchemas, byEverloop);
  return [
    figure(`${prefix}fits`, own.fits, '', `>= ${other.fits}`, other.fits),
    figure(`${prefix}requests`, own.requests, '', '<= 1.1', other.requests),
  ];
}

async function rated(
  url: string,
  supportsStructuredOutputs: boolean,
  rate: (model: LanguageModel, review: string) => Promise<unknown>,
): Promise<Side> {
  let requests = 0;
  const server = createOpenAICompatible({
    name: 'llama',
    baseURL: `${url}/v1`,
    supportsStructuredOutputs,
    fetch: (input, init) => {
      requests += 1;
      return fetch(input, init);
    },
  });
  let fits = 0;
  for (const review of REVIEWS) {
    const value = await rate(server('smollm2'), review);
    if (output.safeParse(value).success) fits += 1;
  }
  return { fits, requests: requests / REVIEWS.length };
}

async function byEverloop(model: LanguageModel, review: string): Promise<unknown> {
  const agent = defineAgent({
    name: 'rater',
    mode: 'json',
    model: { id: 'smollm2', model, maxOutputTokens: MAX_OUTPUT },
    prompt: `${PROMPT} {{task}}`,
    signature: { output },
  });
  const { value } = await startInMemory({ agent, task: review }).result;
  return value;
}

/** Without an answer it throws. */
async function byAiSdk(model: LanguageModel, review: string): Promise<unknown> {
  const asked = generateText({
    model: model as Parameters<typeof generateText>[0]['model'],
    output: Output.object({ schema: output }),
    prompt: `${PROMPT} ${review}`,
    maxOutputTokens: MAX_OUTPUT,
  });
  return asked.then(
    (result) => result.output,
    () => undefined,
  );
}
