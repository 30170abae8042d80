import { MockLanguageModelV3 } from 'ai/test';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { AgentOptions } from '../../src/define/agent/agent-options.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import {
  jsonAnswer,
  jsonSection,
  jsonToolchain,
  markdownFormat,
  textAnswer,
  textSection,
  xmlFormat,
  yamlSection,
  yamlToolchain,
} from '../../src/define/agent/reply-layout.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { defineValidator } from '../../src/define/tool/define-validator.ts';
import { silentModel } from './agents.ts';

const search = defineTool({ name: 'search', description: 'Finds.', execute: () => 'hit' });
const lookUp = defineTool({ name: 'look_up', description: 'Finds.', execute: () => 'hit' });
const accept = defineValidator({ name: 'accept', validate: () => ({ accepted: true }) });
const polite = defineValidator({ name: 'polite', validate: () => ({ accepted: true }) });

const plain = {
  v: 1,
  name: 'tester',
  mode: 'react',
  instructions: null,
  rules: null,
  tools: [],
  toolchain: { kind: 'yaml', section: 'action' },
  answer: { kind: 'text', section: 'answer', validators: [] },
  react: {
    format: { kind: 'xml', strict: false },
    thinking: {
      name: 'thinking',
      kind: 'text',
      guidance: 'Think about what you know, what is missing and what to do next.',
    },
    sections: [],
    precedence: 'action',
    onUnparsed: 'answer-after-two',
    markers: ['Begin.', 'Continue.'],
  },
  examples: [],
  parallel: true,
  maxCallsPerTurn: 64,
  timeZone: 'UTC',
  queues: {},
};

describe('defineAgent', () => {
  test('fills in the defaults', () => {
    expect(defineAgent({ name: 'tester', mode: 'react', model: 'm' })).toEqual({
      kind: 'agent',
      name: 'tester',
      spec: plain,
      model: 'm',
      tools: [],
      validators: [],
      standards: { answer: null, sections: new Map() },
    });
  });

  test('keeps every option of a react agent', () => {
    const answer = z.object({ city: z.string() });
    const notes = z.object({ n: z.number() });
    const agent = defineAgent({
      name: 'tester',
      description: 'Tests.',
      mode: 'react',
      model: 'm',
      instructions: 'Test.',
      rules: () => 'Be brief.',
      tools: [search],
      validators: [polite],
      limits: { iterations: 5 },
      maxTurns: 3,
      parallel: false,
      maxCallsPerTurn: 2,
      examples: [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
      timeZone: 'Europe/Berlin',
      queues: { model: 'gpu' },
      thinking: textSection({ name: 'plan', guidance: 'Plan.' }),
      sections: [
        jsonSection({ name: 'notes', schema: notes, example: { n: 1 }, guidance: 'Note.' }),
        yamlSection({ name: 'facts', schema: { type: 'object' } }),
      ],
      format: markdownFormat({ strict: true }),
      toolchain: jsonToolchain({ section: 'calls' }),
      answer: jsonAnswer({
        section: 'result',
        schema: answer,
        example: { city: 'Rome' },
        guidance: 'A city.',
        validators: [accept],
      }),
      precedence: 'answer',
      onUnparsed: 'fail',
      markers: false,
    });

    const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
    const n = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
    expect(agent.spec).toEqual({
      ...plain,
      description: 'Tests.',
      instructions: { kind: 'text', text: 'Test.' },
      rules: { kind: 'function' },
      tools: [search.spec],
      toolchain: { kind: 'json', section: 'calls' },
      answer: {
        kind: 'json',
        section: 'result',
        guidance: 'A city.',
        schema: city,
        example: { city: 'Rome' },
        validators: ['accept', 'polite'],
      },
      react: {
        format: { kind: 'markdown', strict: true },
        thinking: { name: 'plan', kind: 'text', guidance: 'Plan.' },
        sections: [
          { name: 'notes', kind: 'json', guidance: 'Note.', schema: n, example: { n: 1 } },
          { name: 'facts', kind: 'yaml', schema: { type: 'object' } },
        ],
        precedence: 'answer',
        onUnparsed: 'fail',
        markers: null,
      },
      examples: [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
      parallel: false,
      maxCallsPerTurn: 2,
      timeZone: 'Europe/Berlin',
      queues: { model: 'gpu' },
    });
    expect({ ...agent, spec: null, rules: agent.rules?.call(null, null as never) }).toEqual({
      kind: 'agent',
      name: 'tester',
      spec: null,
      model: 'm',
      limits: { iterations: 5 },
      maxTurns: 3,
      rules: 'Be brief.',
      tools: [search],
      validators: [accept, polite],
      standards: {
        answer,
        sections: new Map([
          ['plan', null],
          ['notes', notes],
          ['facts', null],
        ]),
      },
    });
  });

  test.each([
    { name: 'none', thinking: false, spec: null },
    {
      name: 'a guidance',
      thinking: 'Think hard.',
      spec: { name: 'thinking', kind: 'text', guidance: 'Think hard.' },
    },
  ])('takes $name for thinking', ({ thinking, spec }) => {
    expect(
      defineAgent({ name: 'tester', mode: 'react', model: 'm', thinking }).spec.react?.thinking,
    ).toEqual(spec);
  });

  test('has no sections in mode chat', () => {
    const { spec } = defineAgent({ name: 'tester', model: 'm', mode: 'chat', tools: [search] });

    expect(spec).toEqual({
      ...plain,
      mode: 'chat',
      tools: [search.spec],
      toolchain: { kind: 'native', section: 'action' },
      react: null,
    });
  });

  test('makes an entry of a function, named after the agent', () => {
    const { model } = defineAgent({ name: 'tester', mode: 'react', model: silentModel });

    expect(model).toEqual({ id: 'tester/model', model: silentModel });
  });

  test('makes an entry of a model of the AI SDK, named after its provider', () => {
    const given = new MockLanguageModelV3({ provider: 'acme.chat', modelId: 'big' });

    expect(defineAgent({ name: 'tester', mode: 'react', model: given }).model).toEqual({
      id: 'acme.chat/big',
      model: given,
    });
  });

  test('keeps an entry', () => {
    const entry = { id: 'm', model: silentModel, contextWindow: 1000 };

    expect(defineAgent({ name: 'tester', mode: 'react', model: entry }).model).toBe(entry);
  });

  test('shares formats and toolchains between agents: they are data', () => {
    expect([xmlFormat(), markdownFormat(), yamlToolchain(), jsonToolchain()]).toEqual([
      { type: 'format', kind: 'xml', strict: false },
      { type: 'format', kind: 'markdown', strict: false },
      { type: 'toolchain', kind: 'yaml', section: 'action' },
      { type: 'toolchain', kind: 'json', section: 'action' },
    ]);
  });
});

/** The problems of an agent with these options. */
function problemsOf(options: object): unknown {
  try {
    defineAgent({ name: 'tester', mode: 'react', model: 'm', ...options } as AgentOptions);
  } catch (error) {
    return (error as { problems?: unknown }).problems;
  }
  return [];
}

describe('names for formats and toolchains', () => {
  test.each([
    { name: 'json and markdown', options: { toolchain: 'json', format: 'markdown' } as const },
    {
      name: 'what the factories return',
      options: { toolchain: jsonToolchain(), format: markdownFormat() },
    },
  ])('$name', ({ options }) => {
    const { spec } = defineAgent({
      name: 'a',
      mode: 'react',
      model: 'm',
      tools: [search],
      ...options,
    });

    expect([spec.toolchain, spec.react?.format]).toEqual([
      { kind: 'json', section: 'action' },
      { kind: 'markdown', strict: false },
    ]);
  });

  test('yaml and xml are the default', () => {
    const { spec } = defineAgent({
      name: 'a',
      mode: 'react',
      model: 'm',
      toolchain: 'yaml',
      format: 'xml',
    });

    expect(spec).toEqual(defineAgent({ name: 'a', mode: 'react', model: 'm' }).spec);
  });
});

describe('[row 27] tool search as data', () => {
  test('its tool is the last of the tools; own engines keep their function on the worker', () => {
    const mine = { id: 'mine', guidance: 'Anything.', search: () => [] };
    const { spec, toolSearch } = defineAgent({
      name: 'a',
      mode: 'react',
      model: 'm',
      tools: [search],
      toolSearch: { hint: 'names', pins: ['search'], engines: ['regex', mine], noResults: 'None.' },
    });

    expect(spec.tools.map(({ name, local, timeoutMs }) => [name, local, timeoutMs])).toEqual([
      ['search', false, 60_000],
      ['tool_registry_search', false, 60_000],
    ]);
    expect(spec.toolSearch).toEqual({
      hint: 'names',
      pageSize: 3,
      pins: ['search'],
      engines: [
        {
          id: 'regex',
          guidance:
            'a case-insensitive pattern over all texts of a tool, for example "^get_.*info$"',
        },
        { id: 'mine', guidance: 'Anything.' },
      ],
      noResults: 'None.',
    });
    expect(toolSearch?.engines).toEqual(['regex', mine]);
  });

  test('the built-in engines are quick enough for a local activity', () => {
    const { spec } = defineAgent({
      name: 'a',
      mode: 'react',
      model: 'm',
      tools: [search],
      toolSearch: {},
    });

    expect(spec.tools.at(-1)).toEqual({
      name: 'tool_registry_search',
      description: 'Find tools by what they do. The result shows how to call them.',
      parameters: {
        type: 'object',
        properties: {
          query: { type: 'string' },
          query_type: { type: 'string', enum: ['bm25', 'regex'], default: 'bm25' },
          page: { type: 'integer', minimum: 1, default: 1 },
        },
        required: ['query'],
      },
      effect: 'read',
      local: true,
      timeoutMs: 5_000,
      retry: { attempts: 3, initialMs: 1_000, factor: 2 },
      sequential: false,
      maxResultBytes: 65_536,
    });
  });
});

describe('[row 26] what is wrong with an agent', () => {
  const nameRule =
    'Expected an agent name of 1 to 64 letters, digits, `_` or `-` that starts with a letter, got';
  const modelRule =
    'Expected `model` to be the id of a model entry, an entry, a model of the AI SDK or a function, got';
  const sectionRule =
    'Expected a section name of 1 to 32 letters, digits, `_` or `-` that starts with a letter, got';
  const twin = defineTool({ name: 'search', description: 'Finds too.', execute: () => 1 });

  test.each([
    {
      name: 'a bad name',
      options: { name: 'a b' },
      code: 'agent_name',
      message: `${nameRule} \`a b\`. Rename it.`,
    },
    {
      name: 'no model',
      options: { model: undefined },
      code: 'agent_model',
      message: `${modelRule} none. Choose a model.`,
    },
    {
      name: 'an unknown mode',
      options: { mode: 'yaml' },
      code: 'unknown_mode',
      message:
        'Expected `mode` to be one of react, chat, json, text, lisp, got `yaml`. Choose one of them.',
    },
    ...Object.entries({
      output: 'mode',
      max_turns: 'maxTurns',
      compression: 'compaction',
      llm: 'model',
    }).map(([old, renamed]) => ({
      name: `the old name ${old}`,
      options: { [old]: 1 },
      code: 'old_name',
      message: `Expected \`${renamed}\`, got its old name \`${old}\`. Rename it.`,
    })),
    {
      name: 'an option of lisp',
      options: { mode: 'chat', transport: 'tool_call' },
      code: 'mode_option',
      message:
        'Expected no `transport` in mode `chat`, got "tool_call". Remove it, it belongs to mode `lisp`.',
    },
    ...[
      { field: 'format', value: xmlFormat(), got: 'a format' },
      { field: 'toolchain', value: jsonToolchain(), got: 'a toolchain' },
      { field: 'answer', value: textAnswer(), got: 'an answer' },
      { field: 'sections', value: [textSection({ name: 'notes' })], got: 'a section' },
      { field: 'precedence', value: 'answer', got: '"answer"' },
      { field: 'onUnparsed', value: 'fail', got: '"fail"' },
      { field: 'markers', value: false, got: 'false' },
    ].map(({ field, value, got }) => ({
      name: `${field} in chat`,
      options: { mode: 'chat', [field]: value },
      code: 'mode_option',
      message: `Expected no \`${field}\` in mode \`chat\`, got ${got}. Remove it, it belongs to mode \`react\`.`,
    })),
    {
      name: 'thinking in chat',
      options: { mode: 'chat', thinking: true },
      code: 'mode_option',
      message:
        'Expected no `thinking` in mode `chat`, got true. Remove it, it belongs to the modes `react` and `lisp`.',
    },
    {
      name: 'an `askUser` that is no boolean',
      options: { askUser: 'yes' },
      code: 'agent_option',
      message: 'Expected `askUser` to be one of true, false, got "yes". Choose one of them.',
    },
    {
      name: 'a misspelt option',
      options: { tool: [] },
      code: 'unknown_option',
      message: 'Expected an option of an agent, got `tool`. Did you mean `tools`?',
    },
    {
      name: 'instructions that are no text',
      options: { instructions: ['a'] },
      code: 'agent_text',
      message: 'Expected `instructions` to be a text or a function, got ["a"]. Change it.',
    },
    {
      name: 'a prompt that is neither a text nor a function',
      options: { prompt: 5 },
      code: 'agent_prompt',
      message:
        'Expected `prompt` to be a template, or in mode `react` a function that returns messages, got 5. Write a text such as `{{task}}`.',
    },
    {
      name: 'a prompt outside of react',
      options: { mode: 'chat', prompt: () => [] },
      code: 'mode_option',
      message:
        'Expected no `prompt` in mode `chat`, got a function. Remove it, it belongs to mode `react`.',
    },
    {
      name: 'tools that are no list',
      options: { tools: search },
      code: 'definition',
      message: expect.stringMatching(
        /^Expected `tools` to be a list of what `defineTool` returns, got \{.*\. Write it as a list\.$/,
      ) as string,
    },
    {
      name: 'a tool that is none',
      options: { tools: [{ name: 'x' }] },
      code: 'definition',
      message:
        'Expected `tools[0]` to be what `defineTool` returns, got {"name":"x"}. Define it with `defineTool`.',
    },
    {
      name: 'two tools of one name',
      options: { tools: [search, twin] },
      code: 'duplicate_tool',
      message: 'Expected tool names to be unique, got two tools named `search`. Rename one.',
    },
    {
      name: 'two tools whose names differ by a dash',
      options: {
        tools: ['find-it', 'find_it'].map((name) =>
          defineTool({ name, description: 'Finds.', execute: () => 1 }),
        ),
      },
      code: 'duplicate_tool',
      message:
        'Expected tool names to be unique when `-` is read as `_`, got `find-it` and `find_it`. Rename one.',
    },
    {
      name: 'two validators of one name',
      options: { answer: textAnswer({ validators: [accept] }), validators: [accept] },
      code: 'duplicate_validator',
      message:
        'Expected validator names to be unique, got two validators named `accept`. Rename one.',
    },
    {
      name: 'a validator that is none',
      options: { validators: [() => true] },
      code: 'definition',
      message:
        'Expected `validators[0]` to be what `defineValidator` returns, got a function. Define it with `defineValidator`.',
    },
    {
      name: 'a bad section name',
      options: { sections: [textSection({ name: '1st' })] },
      code: 'section_name',
      message: `${sectionRule} \`1st\`. Rename it.`,
    },
    {
      name: 'a reserved section name',
      options: { answer: textAnswer({ section: 'Observation' }) },
      code: 'section_name',
      message: 'Expected a free section name, got the reserved `Observation`. Rename it.',
    },
    ...[
      {
        name: 'thinking',
        options: { sections: [textSection({ name: 'Thinking' })] },
        got: 'Thinking',
      },
      {
        name: 'action',
        options: { tools: [search], sections: [textSection({ name: 'action' })] },
        got: 'action',
      },
      { name: 'answer', options: { sections: [textSection({ name: 'answer' })] }, got: 'answer' },
      {
        name: 'an own section',
        options: { sections: ['notes', 'notes'].map((name) => textSection({ name })) },
        got: 'notes',
      },
    ].map(({ name, options, got }) => ({
      name: `a section named as ${name}`,
      options,
      code: 'duplicate_section',
      message: `Expected section names to be unique, got two sections named \`${got}\`. Rename one.`,
    })),
    {
      name: 'a format that is none',
      options: { format: 'html' },
      code: 'definition',
      message:
        "Expected `format` to be 'xml', 'markdown', 'own:NAME', or what `xmlFormat` or `markdownFormat` returns, got \"html\". Change it.",
    },
    {
      name: 'a toolchain that is none',
      options: { toolchain: 'toml' },
      code: 'definition',
      message:
        "Expected `toolchain` to be 'yaml', 'json', 'own:NAME', or what `yamlToolchain` and its like return, got \"toml\". Change it.",
    },
    ...[
      {
        name: 'a pin that is no tool',
        search: { pins: ['weather'] },
        code: 'search_pins',
        message:
          'Expected `toolSearch.pins` to name tools of the agent, got `weather`. Add the tool, or remove the pin.',
      },
      {
        name: 'a misspelt pin',
        search: { pins: ['look-up'] },
        code: 'search_pins',
        message:
          'Expected `toolSearch.pins` to name tools of the agent, got `look-up`. Did you mean `look_up`?',
      },
      {
        name: 'no search engine',
        search: { engines: [] },
        code: 'search_engine',
        message:
          "Expected an engine in `toolSearch.engines`, got none. Add 'bm25', or leave it out.",
      },
      {
        name: 'two search engines with one id',
        search: { engines: ['regex', { id: 'regex', guidance: 'x', search: () => [] }] },
        code: 'search_engine',
        message:
          'Expected ids of search engines to be unique, got two engines with the id `regex`. Rename one.',
      },
      {
        name: 'an unknown search engine',
        search: { engines: ['bm26'] },
        code: 'search_engine',
        message:
          "Expected `toolSearch.engines[0]` to be 'bm25', 'regex' or an engine { id, guidance, search }, got \"bm26\". Change it.",
      },
      {
        name: 'another hint of tool search',
        search: { hint: 'all' },
        code: 'search_option',
        message: "Expected `toolSearch.hint` 'domains' or 'names', got \"all\". Change it.",
      },
      {
        name: 'an empty page of tool search',
        search: { pageSize: 0 },
        code: 'search_option',
        message: 'Expected `toolSearch.pageSize` from 1 up, got 0. Change it.',
      },
      {
        name: 'a misspelt option of tool search',
        search: { pin: [] },
        code: 'unknown_option',
        message: 'Expected an option of `toolSearch`, got `pin`. Did you mean `pins`?',
      },
    ].map(({ name, search, code, message }) => ({
      name,
      options: { tools: [lookUp], toolSearch: search },
      code,
      message,
    })),
    {
      name: 'middleware that is no list',
      options: { toolMiddleware: () => 1 },
      code: 'middleware',
      message:
        'Expected `toolMiddleware` to be a list of functions, got a function. Write it as a list.',
    },
    {
      name: 'sections that are none',
      options: { sections: [{ name: 'notes' }] },
      code: 'definition',
      message:
        'Expected `sections` to be a list of what `textSection` and its like return, got [{"name":"notes"}]. Change it.',
    },
    {
      name: 'a JSON answer without a schema',
      options: { answer: jsonAnswer({} as never) },
      code: 'answer_schema',
      message:
        'Expected `schema` of the JSON answer to be a schema, got none. Use JSON Schema or a Standard Schema object, such as one of zod.',
    },
    {
      name: 'a JSON answer whose schema does not compile',
      options: { answer: jsonAnswer({ schema: { minimum: 'one' } }) },
      code: 'answer_schema',
      message:
        'Expected `schema` of the JSON answer to be a schema, got {"minimum":"one"}. schema is invalid: data/minimum must be number.',
    },
    {
      name: 'a section whose schema does not compile',
      options: { sections: [yamlSection({ name: 'notes', schema: { minimum: 'one' } })] },
      code: 'section_schema',
      message:
        'Expected `schema` of section `notes` to be a schema, got {"minimum":"one"}. schema is invalid: data/minimum must be number.',
    },
    {
      name: 'a limit on an unknown key',
      options: { limits: { custom: [{ kind: 'exact', key: 'agent:iteration', max: 1 }] } },
      code: 'limit_key',
      message:
        'Expected the key of a limit to be a statistic of the loop, got `agent:iteration`. Did you mean `agent:iterations`?',
    },
    {
      name: 'no turns',
      options: { maxTurns: 0 },
      code: 'number',
      message: 'Expected `maxTurns` from 1 up, got 0. Change it.',
    },
    {
      name: 'a wait that is over before it begins',
      options: { elsewhereMs: -1 },
      code: 'number',
      message:
        'Expected `elsewhereMs` to be milliseconds from 0 up, or Infinity, got -1. Change it.',
    },
    {
      name: 'no calls',
      options: { maxCallsPerTurn: 0.5 },
      code: 'number',
      message: 'Expected `maxCallsPerTurn` from 1 up, got 0.5. Change it.',
    },
    {
      name: 'an unknown precedence',
      options: { precedence: 'both' },
      code: 'agent_option',
      message: 'Expected `precedence` to be one of action, answer, got "both". Choose one of them.',
    },
    {
      name: 'an unknown time zone',
      options: { timeZone: 'Mars/Olympus' },
      code: 'time_zone',
      message:
        'Expected `timeZone` to be an IANA name such as Europe/Berlin, got "Mars/Olympus". Change it.',
    },
  ])('reports $name', ({ options, code, message }) => {
    expect(problemsOf(options)).toEqual([{ code, message }]);
  });

  test('reports everything in one error, a line each, the agent named', () => {
    const define = (): unknown =>
      defineAgent({
        name: 'tester',
        mode: 'react',
        model: '',
        tools: [search, search],
        answer: jsonAnswer({ schema: 5 as never }),
        limits: { iterations: -1 },
      });

    expect(define).toThrow(
      expect.objectContaining({
        name: 'UsageError',
        code: 'agent_model',
        message: [
          `Agent \`tester\`: ${modelRule} "". Choose a model.`,
          'Agent `tester`: Expected tool names to be unique, got two tools named `search`. Rename one.',
          'Agent `tester`: Expected `schema` of the JSON answer to be a schema, got 5. Use JSON Schema or a Standard Schema object, such as one of zod.',
          "Agent `tester`: Expected limit `iterations` to be a whole number from 0 up or 'unlimited', got -1. Change it.",
        ].join('\n'),
      }),
    );
  });
});

describe('[row 26] what is wrong with a validator', () => {
  test('is reported in one error', () => {
    const define = (): unknown =>
      defineValidator({ name: '1st', validate: 5 as never, retries: 3 } as never);

    expect(define).toThrow(
      expect.objectContaining({
        name: 'UsageError',
        code: 'validator_name',
        message: [
          'Expected a validator name of 1 to 64 letters, digits, `_` or `-` that starts with a letter, got `1st`. Rename it.',
          'Expected `validate` of `1st` to be a function, got 5. Write the function that judges.',
          'Expected an option of validator `1st`, got `retries`. `retries` is called `retry`, an option of `defineTool`.',
        ].join('\n'),
      }),
    );
  });
});
