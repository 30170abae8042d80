/**
 * The model of an example: a provider if OPENAI_API_KEY is set, otherwise a mock of one, which
 * plays a script over real HTTP. So every example runs on a machine that has only Node.
 */
import { openai } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { LLMock, type Fixture } from '@copilotkit/aimock';
import type { ModelEntry, ModelFunction, ModelReply } from '../src/index.ts';

/** A reply of the mock. It uses the first line that matches. */
export interface ExampleLine {
  /** Matches the person's last message. */
  readonly said: RegExp;
  /** Number of tool results that the model has read since. */
  readonly results: number;
  readonly reply: ModelReply;
}

/** The replies without a real model: a list, or a function. */
export type ExampleScript = readonly ModelReply[] | ModelFunction;

/**
 * `gpt-5-mini`, or `EXAMPLE_MODEL`, of OpenAI if a key is set; otherwise the script: its function,
 * or reply n of its list to the nth request of a run.
 */
export function exampleModel(script: ExampleScript): ModelEntry['model'] {
  if (typeof script === 'function') {
    return process.env['OPENAI_API_KEY'] ? modelOf([]) : script;
  }
  return modelOf(
    script.map((reply, turn) =>
      fixtureOf(reply, (messages) => messages.filter(isReply).length === turn),
    ),
  );
}

/** As {@link exampleModel}, for agents that people talk with: the message decides the reply. */
export function exampleDialogue(lines: readonly ExampleLine[]): ModelEntry['model'] {
  return modelOf(
    lines.map(({ said, results, reply }) =>
      fixtureOf(reply, (messages) => {
        const last = messages.findLastIndex(({ role }) => role === 'user');
        const since = messages.slice(last + 1).filter(({ role }) => role === 'tool');
        return since.length === results && said.test(JSON.stringify(messages[last]?.content));
      }),
    ),
  );
}

/** A message as it travels to a provider. */
interface WireMessage {
  readonly role: string;
  readonly content?: unknown;
}

function isReply({ role }: WireMessage): boolean {
  return role === 'assistant';
}

function fixtureOf(
  { content, toolCalls = [] }: ModelReply,
  fits: (messages: readonly WireMessage[]) => boolean,
): Fixture {
  const calls = toolCalls.map(({ name, args }) => ({ name, arguments: JSON.stringify(args) }));
  return {
    match: { predicate: ({ messages }) => fits(messages) },
    response: {
      content: content ?? '',
      ...(calls.length === 0 ? {} : { toolCalls: calls }),
      finishReason: calls.length === 0 ? 'stop' : 'tool_calls',
      usage: { prompt_tokens: 100, completion_tokens: 10 },
    },
  };
}

/** Agents of one worker share the object of a model, or have models with ids of their own. */
let provider: ReturnType<typeof openai> | undefined;
let scripts = 0;

function modelOf(fixtures: readonly Fixture[]): ModelEntry['model'] {
  if (process.env['OPENAI_API_KEY']) {
    provider ??= openai(process.env['EXAMPLE_MODEL'] ?? 'gpt-5-mini');
    return provider;
  }
  scripts += 1;
  return createOpenAICompatible({
    name: 'example',
    baseURL: 'http://mock/v1',
    includeUsage: true,
    supportsStructuredOutputs: true,
    fetch: (input, init) => askMock(fixtures, input, init),
  })(`script-${scripts}`);
}

/** A mock for each request, because a permanent one would keep the process alive. */
async function askMock(
  fixtures: readonly Fixture[],
  input: Parameters<typeof fetch>[0],
  init: Parameters<typeof fetch>[1],
): Promise<Response> {
  const mock = new LLMock({ port: 0, logLevel: 'silent' });
  mock.addFixtures([...fixtures]);
  await mock.start();
  try {
    const { pathname } = new URL(input instanceof Request ? input.url : input);
    const { status, headers, ...response } = await readWhole(`${mock.url}${pathname}`, init);
    return new Response(response.body, { status, headers });
  } finally {
    await mock.stop();
  }
}

async function readWhole(
  url: string,
  init: Parameters<typeof fetch>[1],
): Promise<{ readonly body: string; readonly status: number; readonly headers: Headers }> {
  const response = await fetch(url, init);
  return { body: await response.text(), status: response.status, headers: response.headers };
}
