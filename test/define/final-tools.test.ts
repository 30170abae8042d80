import { describe, expect, test } from 'vitest';
import {
  defineAgent,
  defineTool,
  defineValidator,
  jsonAnswer,
  ToolError,
  toolResult,
  type AgentEvent,
  type ToolDefinition,
} from '../../src/index.ts';
import { textOf } from '../../src/core/base/message.ts';
import { scriptedModel, startInMemory, type ScriptedReply } from '../../src/testing.ts';
import { eventually } from '../support/eventually.ts';

const NO_ARGUMENTS = { type: 'object', properties: {} } as const;

const tool = (name: string, execute: () => unknown, more: object = {}): ToolDefinition =>
  defineTool({ name, description: name, parameters: NO_ARGUMENTS, execute, ...more });

const calls = (...names: string[]): ScriptedReply => ({
  toolCalls: names.map((name) => ({ name, args: {} })),
});

describe('a final tool', () => {
  test('ends the run with its result, once the calls beside it have ended', async () => {
    const script = scriptedModel([calls('file', 'note')]);
    const noted: string[] = [];
    const agent = defineAgent({
      name: 'clerk',
      model: script.model,
      signature: { output: { type: 'object', properties: { id: { type: 'integer' } } } },
      tools: [
        tool('file', () => ({ id: 7 }), { final: true }),
        tool('note', () => new Promise((end) => setTimeout(() => end(noted.push('n')), 20))),
      ],
    });

    const step = await startInMemory({ agent, task: 'x' }).result;

    expect(step).toMatchObject({ status: 'success', value: { id: 7 } });
    expect(noted).toEqual(['n']);
    script.assertDone();
  });

  test('is judged like an answer: the model reads why it was none, and its result', async () => {
    const script = scriptedModel([calls('file'), calls('file'), calls('file')]);
    const ids = ['none', 3, 8];
    const agent = defineAgent({
      name: 'clerk',
      model: script.model,
      signature: {
        output: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] },
      },
      tools: [tool('file', () => ({ id: ids.shift() ?? 0 }), { final: true })],
      validators: [
        defineValidator({
          name: 'large',
          validate: (answer: unknown) =>
            (answer as { id: number }).id > 5
              ? { accepted: true }
              : { accepted: false, feedback: 'Only ids above 5.' },
        }),
      ],
    });

    const step = await startInMemory({ agent, task: 'x' }).result;

    expect(step).toMatchObject({ status: 'success', value: { id: 8 } });
    const [, unfit = '', rejected = ''] = script.requests.map(({ messages }) =>
      messages.slice(-2).map(textOf).join('\n'),
    );
    expect(unfit).toContain('The answer could not be used.');
    expect(rejected).toContain('Only ids above 5.');
    expect(JSON.stringify(script.requests[2]?.messages)).toContain('"tool_result"');
  });

  test('that fails, was cut or says so is not final', async () => {
    const script = scriptedModel([calls('file'), calls('file'), calls('file'), 'done']);
    const ends = [
      () => {
        throw new ToolError('closed');
      },
      () => 'x'.repeat(200),
      () => toolResult({ output: 'more to do', final: false }),
    ];
    const agent = defineAgent({
      name: 'clerk',
      model: script.model,
      tools: [tool('file', () => ends.shift()?.(), { final: true, maxResultBytes: 100 })],
    });

    const step = await startInMemory({ agent, task: 'x' }).result;

    expect(step.value).toBe('done');
    script.assertDone();
  });

  test.each([
    [{ id: 7 }, '{"id":7}'],
    ['filed', 'filed'],
    [undefined, ''],
  ])('that returns %j answers an agent of text with %j', async (output, value) => {
    const chat = scriptedModel([calls('file')]);
    const tools = [tool('file', () => toolResult({ output, final: true }))];
    const agent = defineAgent({ name: 'clerk', model: chat.model, tools });
    const text = scriptedModel(['<action>\n- tool: file\n</action>']);
    const react = defineAgent({ name: 'clerk', mode: 'react', model: text.model, tools });

    for (const one of [agent, react]) {
      expect((await startInMemory({ agent: one, task: 'x' }).result).value).toBe(value);
    }
  });

  test('is final after a person has approved it in a later link', async () => {
    const script = scriptedModel(['<action>\n- tool: file\n</action>']);
    const agent = defineAgent({
      name: 'clerk',
      model: script.model,
      mode: 'react',
      answer: jsonAnswer({ schema: { type: 'object' } }),
      tools: [tool('file', () => ({ id: 7 }), { final: true, approval: 'always' })],
    });
    const run = startInMemory({ agent, task: 'x', handoverDue: () => true });

    await eventually('an approval', () => run.pending().length === 1);
    run.decide(run.pending()[0]?.id ?? '', { approve: true });

    expect((await run.result).value).toEqual({ id: 7 });
  });
});

test('`forModel` is what the model reads; events and the answer have the output', async () => {
  const script = scriptedModel([calls('rows'), calls('rows'), 'done']);
  const events: AgentEvent[] = [];
  const rows = { rows: [1, 2, 3] };
  const agent = defineAgent({
    name: 'clerk',
    model: script.model,
    tools: [
      tool('rows', () => toolResult({ output: rows, forModel: '3 rows' }), {
        effect: 'read',
        cache: true,
      }),
    ],
  });

  await startInMemory({ agent, task: 'x', onEvent: (event) => events.push(event) }).result;

  const sent = JSON.stringify(script.requests[2]?.messages);
  expect(sent.match(/3 rows/g)).toHaveLength(2);
  expect(sent).not.toContain('[1,2,3]');
  const outputs = events.flatMap((event) =>
    event.type === 'agent:tool_call:after' ? [event.output] : [],
  );
  expect(outputs).toEqual([rows, rows]);
});
