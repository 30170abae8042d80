import { describe, expect, test } from 'vitest';
import type { AgentOptions } from '../../src/define/agent/agent-options.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { previewPrompt } from '../../src/registry/preview-prompt.ts';
import type { ModelRequest } from '../../src/core/contract/model.ts';
import { createFakeClock } from '../../src/testing/fake-clock.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';
import { renderRequest } from '../support/render-request.ts';
import { searchTool, START } from '../support/runs.ts';

describe('A preview [sub 2]', () => {
  test.each<{ name: string; agent: Partial<AgentOptions>; reply: string }>([
    { name: 'react', agent: { tools: [searchTool()] }, reply: '<answer>x</answer>' },
    {
      name: 'react with an output',
      agent: { signature: '{a :int?}', fieldDescriptions: { a: 'a number' } },
      reply: '<answer>{"a": 1}</answer>',
    },
    { name: 'chat', agent: { mode: 'chat', tools: [searchTool()] }, reply: 'x' },
    {
      name: 'chat with an output',
      agent: { mode: 'chat', signature: '{a :int}' },
      reply: '{"a": 1}',
    },
    {
      name: 'json',
      agent: { mode: 'json', signature: '(b :int) -> {a :int}' },
      reply: '{"a": 1}',
    },
    {
      name: 'text',
      agent: {
        mode: 'text',
        prompt: 'Say {{b}}. {{task}}',
        instructions: ({ time }) => `It is ${time.now()}.`,
      },
      reply: 'x',
    },
    {
      name: 'lisp',
      agent: {
        mode: 'lisp',
        tools: [searchTool()],
        signature: '{a :int}',
        prompt: 'Look at {{b}} with {{_hidden}}. {{task}}',
      },
      reply: '(return {:a data/b})',
    },
    {
      name: 'lisp by native calls',
      agent: { mode: 'lisp', transport: 'tool_call', askUser: true, maxTurns: 1 },
      reply: 'x',
    },
    {
      name: 'react with programs',
      agent: { tools: [searchTool()], programs: true },
      reply: '<answer>x</answer>',
    },
    { name: 'chat with programs', agent: { mode: 'chat', programs: true }, reply: 'x' },
    {
      name: 'one turn',
      agent: { mode: 'chat', maxTurns: 1, tools: [searchTool()] },
      reply: 'x',
    },
  ])('equals what the model receives: $name', async ({ agent: fields, reply }) => {
    const received: ModelRequest[] = [];
    const agent = defineAgent({
      name: 'tester',
      mode: 'react',
      model: async (request) => {
        received.push(request);
        return reply;
      },
      ...fields,
    });
    const start = { task: 'Go.', context: { b: 3, _hidden: 'SENTINEL' } };

    const { request, warnings } = await previewPrompt(agent, { ...start, at: START });
    await startInMemory({ agent, ...start, clock: createFakeClock(START) }).result;

    expect({ ...request, runId: 'run-1' }).toEqual(received[0]);
    expect(warnings).toEqual([]);
    expect(JSON.stringify(request)).not.toContain('SENTINEL');
    expect(received).toHaveLength(1);
  });

  test('chat says how its answer is written, with a signature [sub 2]', async () => {
    const agent = defineAgent({
      name: 'tester',
      mode: 'chat',
      model: 'm',
      instructions: 'You look.',
      signature: '{found :bool, note :string?}',
    });

    const { request } = await previewPrompt(agent, { task: 'Go.', context: { city: 'Rome' } });

    await expect(renderRequest(request)).toMatchFileSnapshot(
      '../golden/prompts/chat-signature.txt',
    );
  });

  test('needs no entry for a model that is known elsewhere, and shows warnings', async () => {
    const agent = defineAgent({
      name: 'tester',
      mode: 'json',
      signature: '(n :int) -> :int',
      model: 'openai/gpt-5',
    });

    const { request, warnings } = await previewPrompt(agent, { task: 'x', context: { n: '5' } });

    expect(request.schema).toMatchObject({ required: ['value'] });
    expect(warnings).toEqual([{ code: 'input_coerced', message: 'n: "5" was read as 5' }]);
  });

  test.each((['react', 'chat', 'json', 'text', 'lisp'] as const).map((mode) => ({ mode })))(
    '$mode shows an earlier conversation, or a warning',
    async ({ mode }) => {
      const agent = defineAgent({
        name: 'tester',
        mode,
        ...(mode === 'json' ? { signature: ':int' } : {}),
        model: 'm',
      });
      const history = [{ role: 'user', text: 'Earlier words.' }] as const;

      const { request, warnings } = await previewPrompt(agent, { task: 'x', history });

      const isShown = mode === 'react' || mode === 'chat';
      expect(JSON.stringify(request).includes('Earlier words.')).toBe(isShown);
      const message = `Mode \`${mode}\` does not show \`history\` to the model. Use mode \`chat\` or \`react\`, or give it as context.`;
      expect(warnings).toEqual(isShown ? [] : [{ code: 'history_unused', message }]);
    },
  );

  test.each<{ options: Parameters<typeof previewPrompt>[1]; code: string; message: string }>([
    {
      options: { context: {} },
      code: 'invalid_input',
      message: '`n` is required (int).',
    },
    {
      options: { context: { n: 1 } },
      code: 'template_error',
      message: 'missing: {{n.x}} (line 1, column 1)',
    },
  ])(
    'throws why a run would end before its first call: $code',
    async ({ options, code, message }) => {
      const agent = defineAgent({
        name: 'tester',
        mode: 'json',
        signature: '(n :int) -> :int',
        prompt: '{{n.x}}',
        model: 'm',
      });

      await expect(previewPrompt(agent, options)).rejects.toMatchObject({ code, message });
    },
  );
});
