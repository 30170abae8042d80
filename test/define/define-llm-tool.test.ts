import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { llmTool, type LlmToolOptions } from '../../src/define/tool/define-llm-tool.ts';
import { createRegistry } from '../../src/registry/registry.ts';
import { isUsageError } from '../../src/core/base/usage-error.ts';

const minimal: LlmToolOptions = {
  name: 'classify',
  prompt: ' Which label?\n{{text}}',
  signature: '(text :string, at :datetime?) -> {label :keyword}',
};

function problemsOf(make: () => unknown): readonly (readonly [string, string])[] {
  try {
    make();
  } catch (error) {
    if (isUsageError(error)) return error.problems.map((it) => [it.code, it.message] as const);
    throw error;
  }
  return [];
}

describe('llmTool [sub 13]', () => {
  test('fills in the defaults', () => {
    const tool = llmTool(minimal);

    expect(tool).toEqual({
      kind: 'tool',
      spec: {
        name: 'classify',
        description: 'Which label?',
        parameters: {
          type: 'object',
          properties: { text: { type: 'string' }, at: { type: 'string' } },
          required: ['text'],
          additionalProperties: false,
        },
        effect: 'read',
        local: false,
        timeoutMs: 60_000,
        retry: { attempts: 1, initialMs: 1_000, factor: 2 },
        sequential: false,
        maxResultBytes: 65_536,
        output: {
          type: 'object',
          properties: { label: { type: 'string', pattern: expect.any(String) } },
          required: ['label'],
        },
        llm: {
          prompt: minimal.prompt,
          params: [
            { name: 'text', type: { kind: 'string' } },
            { name: 'at', type: { kind: 'optional', inner: { kind: 'datetime' } } },
          ],
          output: {
            type: { kind: 'record', fields: [{ name: 'label', type: { kind: 'keyword' } }] },
            schema: tool.spec.output,
          },
          maxTurns: 3,
        },
      },
      standard: null,
      answer: null,
      execute: expect.any(Function),
    });
    expect(() => tool.execute({}, {} as never)).toThrow('no tool activity does it');
  });

  test('keeps what is given', () => {
    const approval = (): boolean => true;
    const model = { id: 'mine', model: () => Promise.resolve('x') };
    const tool = llmTool({
      ...minimal,
      description: 'Labels.',
      model,
      maxTurns: 1,
      cache: true,
      approval,
      approvalTimeoutMs: 1_000,
    });

    expect(tool).toMatchObject({
      model,
      approval,
      spec: {
        description: 'Labels.',
        cache: true,
        approval: 'function',
        approvalTimeoutMs: 1_000,
        llm: { model: 'mine', maxTurns: 1 },
      },
    });
    expect(llmTool({ ...minimal, approval: 'always' }).spec.approval).toBe('always');
  });

  test.each([
    { name: 'text', signature: '(text :string) -> :string', judged: false },
    { name: 'nothing', signature: { input: z.object({ text: z.string() }) }, judged: false },
    {
      name: 'any text in JSON Schema',
      signature: { output: { type: 'string', description: 'a text' } },
      judged: false,
    },
    {
      name: 'one of some texts',
      signature: { output: { enum: ['a'], type: 'string' } },
      judged: true,
    },
    { name: 'a text that a library checks', signature: { output: z.string() }, judged: true },
    { name: 'a text or nothing', signature: ':string?', judged: true },
  ])('an output of $name: judged $judged', ({ signature, judged }) => {
    const { spec } = llmTool({ ...minimal, prompt: 'x', signature });

    expect(spec.llm?.output !== undefined).toBe(judged);
  });

  test('a model without an entry is named after the tool', () => {
    const model = (): Promise<string> => Promise.resolve('x');

    expect(llmTool({ ...minimal, model }).model).toEqual({ id: 'classify/model', model });
  });

  test.each<{
    readonly name: string;
    readonly options: object;
    readonly problem: readonly [string, string];
  }>([
    {
      name: 'a reserved name',
      options: { name: 'llm-query' },
      problem: [
        'reserved_name',
        'Expected a free tool name, got the built-in `llm-query`. Rename it.',
      ],
    },
    {
      name: 'no signature',
      options: { signature: undefined },
      problem: [
        'bad_signature',
        'Expected a `signature` with the parameters of the tool, got none. Add one, for example `(text :string) -> {label :string}`.',
      ],
    },
    {
      name: 'hidden fields',
      options: { signature: '(text :string, _a :int) -> {_b :int}' },
      problem: [
        'hidden_field',
        'Expected no hidden fields in the signature of an LLM tool, got `_a`, `_b`. Rename them: its model sees them all.',
      ],
    },
    {
      name: 'an empty prompt',
      options: { prompt: ' ' },
      problem: [
        'agent_prompt',
        'Expected `prompt` to be a template, got " ". Write what the model is asked.',
      ],
    },
    {
      name: 'an unknown placeholder',
      options: { prompt: '{{txt}} {{task}}' },
      problem: [
        'unknown_placeholder',
        'Expected `prompt` to use parameters (text, at), got {{txt}}, {{task}}. Rename it or add the parameter.',
      ],
    },
    {
      name: 'a placeholder without parameters',
      options: { prompt: '{{a}}', signature: ':int' },
      problem: [
        'unknown_placeholder',
        'Expected `prompt` to use parameters (there are none), got {{a}}. Rename it or add the parameter.',
      ],
    },
    {
      name: 'a broken template',
      options: { prompt: '{{#text}}' },
      problem: [
        'bad_template',
        "Expected `prompt` to be a template, got one that cannot be read: unclosed section 'text' opened at line 1, column 1. Correct it.",
      ],
    },
    {
      name: 'an empty description',
      options: { description: '' },
      problem: [
        'tool_description',
        'Expected `description` to say what the tool does, got "". Write a sentence, or leave it out.',
      ],
    },
    {
      name: 'no turn',
      options: { maxTurns: 0 },
      problem: ['number', 'Expected `maxTurns` from 1 up, got 0. Change it.'],
    },
    {
      name: 'an odd cache',
      options: { cache: 'yes' },
      problem: [
        'tool_cache',
        'Expected `cache` of `classify` to be true or false, got "yes". Change it.',
      ],
    },
    {
      name: 'a wait of no time',
      options: { approval: 'always', approvalTimeoutMs: 0 },
      problem: [
        'number',
        'Expected `approvalTimeoutMs` of `classify` from 1 to 315360000000, got 0. Change it.',
      ],
    },
    {
      name: 'an option of other tools',
      options: { local: true },
      problem: ['unknown_option', 'Expected an option of an LLM tool, got `local`. Remove it.'],
    },
  ])('refuses $name', ({ options, problem }) => {
    expect(problemsOf(() => llmTool({ ...minimal, ...options }))).toEqual([problem]);
  });

  test('tells all of it at once, each with the name of the tool', () => {
    expect(() => llmTool({ ...minimal, maxTurns: -1, model: 3 as never })).toThrow(
      'LLM tool `classify`: Expected `model` to be the id of a model entry, an entry, a model of the AI SDK or a function, got 3. Choose a model.\n' +
        'LLM tool `classify`: Expected `maxTurns` from 1 up, got -1. Change it.',
    );
  });
});

describe('agents with LLM tools [sub 13]', () => {
  const model = { id: 'm', model: () => Promise.resolve('x') };

  test('a model that the worker does not have is found when it starts', () => {
    const agent = defineAgent({
      name: 'a',
      mode: 'react',
      model,
      tools: [llmTool({ ...minimal, model: 'n' })],
    });

    expect(problemsOf(() => createRegistry({ agents: [agent] }))).toEqual([
      [
        'unknown_model',
        'Agent `a`: Expected a model that the worker has (m), got `n`. Add an entry for it.',
      ],
    ]);
  });

  test('a model without a price under a cost limit is, too', () => {
    const tool = llmTool({ ...minimal, model: { id: 'n', model: () => Promise.resolve('x') } });
    const priced = { ...model, price: { input: 1, output: 1 } };
    const agent = defineAgent({
      name: 'a',
      mode: 'react',
      model: priced,
      tools: [tool],
      limits: { costUsd: 1 },
    });

    expect(problemsOf(() => createRegistry({ agents: [agent] })).map(([code]) => code)).toEqual([
      'cost_without_price',
    ]);
  });

  test.each([
    { options: { llmQuery: 'yes' }, code: 'agent_option' },
    { options: { llmQuery: true, mode: 'json', signature: ':int' }, code: 'mode_option' },
  ])('refuses $options', ({ options, code }) => {
    const problems = problemsOf(() =>
      defineAgent({ name: 'a', mode: 'react', model, ...(options as object) }),
    );

    expect(problems.map(([found]) => found)).toEqual([code]);
  });

  test('`llmQuery` adds the tool, and tool search always shows it', () => {
    const tools = [llmTool(minimal)];
    const { spec } = defineAgent({
      name: 'a',
      mode: 'react',
      model,
      tools,
      llmQuery: true,
      toolSearch: {},
    });

    expect(spec.tools.map(({ name }) => name)).toEqual([
      'classify',
      'llm_query',
      'tool_registry_search',
    ]);
    expect(spec.toolSearch?.pins).toEqual(['llm_query']);
    expect(defineAgent({ name: 'a', mode: 'react', model, llmQuery: false }).spec.tools).toEqual(
      [],
    );
  });
});
