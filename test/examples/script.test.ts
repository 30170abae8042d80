import { LLMock } from '@copilotkit/aimock';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { afterAll, describe, expect, test } from 'vitest';
import { airlineAgent } from '../../examples/airline/agents.ts';
import { AIRLINE_REQUEST } from '../../examples/airline/data.ts';
import { AIRLINE_SCRIPT_ACT } from '../../examples/airline/scripts.ts';
import { airlineStore } from '../../examples/airline/store.ts';
import { serviceTime } from '../../examples/latency.ts';
import {
  reactText,
  scriptedModel,
  scriptFixtures,
  scriptReply,
  type ScriptTurn,
  type ScriptVariant,
} from '../../examples/script.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';
import { withHiddenValue } from '../support/hidden-values.ts';

const calls: ScriptTurn = {
  thinking: 'I look.',
  calls: [
    { tool: 'a', args: { n: 1 } },
    { tool: 'b', args: {} },
  ],
};
const answer: ScriptTurn = { thinking: 'Done.', answer: '42' };
const usage = { inputTokens: 100, outputTokens: 10 };

describe('a turn of a script', () => {
  test.each([
    {
      name: 'calls as YAML',
      text: reactText(calls, 'yaml'),
      expected:
        '<thinking>\nI look.\n</thinking>\n<action>\n- tool: a\n  args:\n    n: 1\n- tool: b\n  args: {}\n</action>',
    },
    {
      name: 'calls as JSON',
      text: reactText(calls, 'json'),
      expected:
        '<thinking>\nI look.\n</thinking>\n<action>\n[{"tool":"a","args":{"n":1}},{"tool":"b","args":{}}]\n</action>',
    },
    {
      name: 'an answer',
      text: reactText(answer, 'yaml'),
      expected: '<thinking>\nDone.\n</thinking>\n<answer>\n42\n</answer>',
    },
  ])('is written as sections: $name', ({ text, expected }) => {
    expect(text).toBe(expected);
  });

  test('is written as a program', () => {
    const turn: ScriptTurn = { thinking: 'I add.', program: '(return (+ 1 2))' };

    expect(scriptReply(turn, 'lisp')).toEqual({
      content: 'I add.\n```clojure\n(return (+ 1 2))\n```',
      finishReason: 'stop',
      usage,
    });
  });

  test('is written as native calls', () => {
    expect(scriptReply(calls, 'chat')).toEqual({
      content: 'I look.',
      toolCalls: [
        { name: 'a', args: { n: 1 } },
        { name: 'b', args: {} },
      ],
      finishReason: 'tool_calls',
      usage,
    });
    expect(scriptReply(answer, 'chat')).toEqual({
      content: '42',
      toolCalls: [],
      finishReason: 'stop',
      usage,
    });
  });
});

describe('a scripted model', () => {
  const io = { signal: new AbortController().signal, onChunk: () => undefined };
  const model = scriptedModel([calls, answer], 'json');

  test('says turn n in iteration n, however often it is asked', async () => {
    const request = { iteration: 2 } as never;

    expect(await model(request, io)).toEqual(scriptReply(answer, 'json'));
    expect(await model(request, io)).toEqual(scriptReply(answer, 'json'));
  });

  test('has no more turns than its script', async () => {
    await expect(model({ iteration: 3 } as never, io)).rejects.toThrow(
      'Expected at most 2 turns, got asked for turn 3.',
    );
  });
});

describe('the time of a service', () => {
  test('ends with the signal', async () => {
    const controller = new AbortController();
    const waiting = serviceTime(60_000, controller.signal);

    controller.abort(new Error('stop'));

    await expect(waiting).rejects.toThrow('stop');
    await expect(serviceTime(60_000, controller.signal)).rejects.toThrow('stop');
  });
});

describe.each<ScriptVariant>(['yaml', 'json', 'chat'])('[row 58] over HTTP in %s', (variant) => {
  const mock = new LLMock({ port: 0, logLevel: 'silent' });
  afterAll(() => mock.stop());

  test('a mock server plays the script, and tells the tokens', async () => {
    mock.addFixtures(scriptFixtures(AIRLINE_SCRIPT_ACT, variant, AIRLINE_REQUEST));
    await mock.start();
    const provider = createOpenAICompatible({
      name: 'mock',
      baseURL: `${mock.url}/v1`,
      apiKey: 'test',
      includeUsage: true,
    });
    const store = airlineStore();
    const agent = airlineAgent({ store, model: provider('scripted'), variant });

    const step = await startInMemory({
      agent,
      task: AIRLINE_REQUEST,
      context: withHiddenValue(),
    }).result;

    expect(step).toMatchObject({ status: 'success', iterations: 6 });
    expect(step.usage).toMatchObject({ totalTokens: 660, modelCalls: 6, toolCalls: 9 });
    expect(store.state().bookings[0]).toMatchObject({ flight_number: 'AA102', price: 279 });
  });
});
