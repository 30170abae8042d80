/** Half of a surrogate pair has no UTF-8. Whoever sends one, it costs nothing but a replacement. */
import fc from 'fast-check';
import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { openStage, type Stage } from '../support/stage.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import type { AgentDefinition, ToolDefinition } from '../../src/define/definition/definitions.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { connect, type ConnectedEverloop } from '../../src/client/connect.ts';
import { ToolError } from '../../src/core/base/tool-error.ts';
import { wellFormed, wellFormedJson, wellFormedText } from '../../src/core/text/well-formed.ts';
import { modelAt } from '../support/aimock.ts';
import { extent } from '../support/extent.ts';
import { slowProviders, type ProviderReply } from '../support/slow-provider.ts';
import { answer, bodiesOf } from '../support/runs.ts';
import { historiesOf } from '../support/replay.ts';
import { eventLine } from '../../src/worker/serve/event-line.ts';

let stage: Stage;
const providers = slowProviders();
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterEach(() => providers.stop());
afterAll(() => stage.close());

const HALF = 'x 😀'.slice(0, 3);

/** A short text with at least one half: the SDK writes only short texts so that they break. */
const halves = fc
  .array(fc.constantFrom('\ud83d', '\ude00', 'a', '😀', 'é'), { minLength: 1, maxLength: 6 })
  .map((parts) => `t${parts.join('')}`)
  .filter((text) => wellFormedText(text) !== text);

/** No text of the history, the events, the transcript, the Step and the log has a half. */
async function expectWellFormed(run: RunHandle): Promise<void> {
  const events = await run.events();
  const read = [events, await run.transcript(), await run.status(), await run.startedWith()];
  expect(wellFormed(read)).toEqual(read);
  for (const event of events) expect(eventLine(event)).not.toMatch(/\\ud[89a-f]/i);
  const histories = await historiesOf(stage.client, run.id);
  const texts: string[] = [];
  const collect = (value: unknown): void => {
    if (value instanceof Uint8Array) texts.push(Buffer.from(value).toString('utf8'));
    else if (typeof value === 'string') texts.push(value);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(collect);
  };
  collect(histories);
  for (const text of texts) {
    expect(wellFormedText(text)).toBe(text);
    expect(wellFormedJson(text)).toBe(text);
  }
}

function throwing(name: string, error: () => unknown, attempts = 1): ToolDefinition {
  return defineTool({
    name,
    description: 'Fails.',
    retry: { attempts, initialMs: 10 },
    execute: () => {
      throw error();
    },
  });
}

it('[R9] a tool that throws half of a character costs an error told to the model', async () => {
  const agent = defineAgent({
    name: 'tester',
    mode: 'react',
    tools: [throwing('fails', () => new Error('x 😀'.slice(0, 3)), 2)],
    model: {
      id: 'm',
      model: async ({ iteration }) =>
        iteration === 1 ? '<action>\n- tool: fails\n  args: {}\n</action>' : answer(),
    },
  });
  const { everloop } = await stage.serve([agent]);

  const run = await everloop.start('tester', { task: 'Go' });

  expect(await run.result()).toMatchObject({ status: 'success', iterations: 2 });
  expect(bodiesOf(await run.events(), 'agent:tool_call:after')).toMatchObject([
    { outcome: 'error', attempts: 2, error: 'Error: x \ufffd' },
  ]);
  await stage.replay(run);
});

it('[R9] a provider that refuses with half of a character ends its run alone', async () => {
  const refuses: ProviderReply = (response: ServerResponse) => {
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end(String.raw`{"error":{"message":"\ud800","type":"test","code":null}}`);
  };
  const provider = await providers.start([refuses, answer('well')]);
  const model = { id: 'm', model: modelAt(provider.url, 'openai-compatible') };
  const { everloop } = await stage.serve([defineAgent({ name: 'tester', mode: 'react', model })]);

  const first = await everloop.start('tester', { task: 'Go' });
  expect(await first.result()).toMatchObject({
    status: 'error',
    reason: 'model_request_refused',
    message: expect.stringContaining('\ufffd') as unknown,
  });
  const second = await everloop.start('tester', { task: 'Go' });
  expect(await second.result()).toMatchObject({ status: 'success', value: 'well' });
});

/** An agent that sends `text` through every door that a definition has. */
function hostileAgent(text: string): AgentDefinition {
  const replies = [
    `<action>\n- tool: result\n  args: {query: ${JSON.stringify(text)}}\n- tool: refuses\n  args: {}\n- tool: ${text}\n  args: {}\n</action>`,
    '<action>\n- tool: named\n  args: {}\n- tool: ask_user\n  args: {question: "Well?"}\n</action>',
    answer(text),
    answer(`${text} at last`),
  ];
  return defineAgent({
    name: 'tester',
    mode: 'react',
    instructions: `Be kind. ${text}`,
    askUser: true,
    description: text,
    tools: [
      defineTool({
        name: 'result',
        description: text,
        parameters: z.object({ query: z.string() }),
        execute: ({ query }, context) => {
          context.emit('seen', { [text]: query });
          return { [text]: [query, text] };
        },
      }) as ToolDefinition,
      throwing('refuses', () => new ToolError(text)),
      throwing('named', () => Object.assign(new Error(''), { name: text })),
    ],
    limits: 'unlimited',
    model: { id: 'm', model: async ({ iteration }) => replies[iteration - 1] ?? answer() },
  });
}

/** A client with a connection of its own, and a worker that serves `agent` to it. */
async function withServed(
  agent: AgentDefinition,
  work: (everloop: ConnectedEverloop) => Promise<void>,
): Promise<void> {
  const { address, namespace } = inject('temporal');
  const { taskQueue, stop } = await stage.serve([agent]);
  const everloop = await connect({ address, namespace, taskQueue, env: {} });
  try {
    await work(everloop);
  } finally {
    await everloop.close();
    await stop();
  }
}

describe('every door', () => {
  it('[R9] keeps halves of characters out, whoever sends them', async () => {
    await fc.assert(
      fc.asyncProperty(halves, (text) =>
        withServed(hostileAgent(text), async (everloop) => {
          const run = await everloop.start('tester', {
            task: `${text} ${'y'.repeat(190)}😀`,
            context: { [text]: text },
          });
          const asked = await run.resultOrPending();
          expect(asked.kind).toBe('pending');
          await run.send(text, { id: `${run.id}-1` });
          await run.answer('q1', text, { updateId: text });
          const step = await run.result();

          expect(step).toMatchObject({ status: 'success' });
          await expectWellFormed(run);
          const [listed] = await everloop.list({ idPrefix: run.id });
          expect(wellFormed(listed)).toBe(listed);
          await stage.replay(run);
        }),
      ),
      { numRuns: extent(10, 3), endOnFailure: true },
    );
  });

  it('[R9] refuses ids that the service could not read', async () => {
    await expect(
      stage.everloopOf('none').start('tester', { task: 'Go', id: HALF }),
    ).rejects.toMatchObject({
      code: 'invalid_input',
    });
    await expect(
      stage.everloopOf('none').attach('any').send('hi', { id: HALF }),
    ).rejects.toMatchObject({
      code: 'invalid_input',
    });
  });

  it('[R9] carries the message of a cancel', async () => {
    const agent = defineAgent({
      name: 'tester',
      mode: 'react',
      model: {
        id: 'm',
        model: (_request, { signal }) =>
          new Promise((_, no) => signal.addEventListener('abort', () => no(new Error(HALF)))),
      },
    });
    await withServed(agent, async (everloop) => {
      const run = await everloop.start('tester', { task: 'Go' });
      await run.cancel(HALF);

      expect(await run.result()).toMatchObject({ status: 'canceled', message: 'x \ufffd' });
      await expectWellFormed(run);
    });
  });
});
