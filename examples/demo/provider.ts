/** The model of the demo: a mock over real HTTP, or OpenAI if a key is set. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { LLMock } from '@copilotkit/aimock';
import type { ModelEntry } from '../../src/index.ts';
import { AIRLINE_ACTING, AIRLINE_SCRIPT_A } from '../airline/scripts.ts';
import { scriptFixtures, type ScriptTurn } from '../script.ts';

/** The task of the first run: the request of the airline scenario. */
export const REQUEST: string =
  'I am John Smith, john.smith@email.com. I am on AA100 from JFK to LAX tomorrow, but my meeting ' +
  'will run late. Please move me to a later flight that day, evening if possible.';

/** The input for the first run while it writes its proposal. */
export const FURTHER_INPUT = 'Yes, please do it. Seat 14C would be great.';

/** The task of the second run, which is cancelled. */
export const SECOND_REQUEST = 'Please list every flight of the year.';

/** The turns of the first run: it asks, then acts on the input that came meanwhile. */
export const SCRIPT: readonly ScriptTurn[] = [...AIRLINE_SCRIPT_A, ...AIRLINE_ACTING];

/** What the worker process needs to know about the model. */
export interface Provider {
  readonly kind: 'mock' | 'openai';
  /** `http://127.0.0.1:41000/v1` */
  readonly baseUrl: string;
  readonly modelId: string;
}

/** Tokens a second and milliseconds to the first one: slow enough to watch and to kill. */
const PACE = { ttft: 700, tps: 250 };

/** So slow that it can only end by being cancelled. */
const CRAWL = { ttft: 600, tps: 2 };

/** The provider of this demo, and how to stop it. */
export async function startProvider(): Promise<{
  readonly provider: Provider;
  readonly stop: () => Promise<void>;
}> {
  if (process.env['OPENAI_API_KEY']) {
    const modelId = process.env['DEMO_MODEL'] ?? 'gpt-5-mini';
    const provider = { kind: 'openai', baseUrl: 'https://api.openai.com/v1', modelId } as const;
    return { provider, stop: () => Promise.resolve() };
  }
  const mock = new LLMock({ port: 0, logLevel: 'silent' });
  const first = scriptFixtures(SCRIPT, 'yaml', REQUEST);
  const second = scriptFixtures(LONG_ANSWER, 'yaml', SECOND_REQUEST);
  mock.addFixtures([
    ...first.map((fixture) => ({ ...fixture, streamingProfile: PACE })),
    ...second.map((fixture) => ({ ...fixture, streamingProfile: CRAWL })),
  ]);
  await mock.start();
  const provider = { kind: 'mock', baseUrl: `${mock.url}/v1`, modelId: 'scripted' } as const;
  return { provider, stop: () => mock.stop() };
}

const LONG_ANSWER: readonly ScriptTurn[] = [
  { thinking: 'This will take long.', answer: 'AA100, AA101, AA102, AA200. '.repeat(50) },
];

/** The model entry: every provider with OpenAI's protocol is reached in the same way. */
export function demoModel({ baseUrl, modelId }: Provider): ModelEntry {
  const connect = createOpenAICompatible({
    name: 'demo',
    baseURL: baseUrl,
    apiKey: process.env['OPENAI_API_KEY'] ?? 'none',
    includeUsage: true,
  });
  return {
    id: `demo/${modelId}`,
    model: connect(modelId),
    // US dollars for a million tokens: made up for the mock, OpenAI's list price for `gpt-5-mini`.
    price: { input: 0.25, output: 2 },
  };
}
