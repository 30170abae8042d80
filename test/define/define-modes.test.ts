import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { AgentOptions } from '../../src/define/agent/agent-options.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { counter, slidingWindow } from '../../src/define/agent/define-compaction.ts';
import { jsonAnswer, textSection } from '../../src/define/agent/reply-layout.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { defineValidator } from '../../src/define/tool/define-validator.ts';
import { isDataMode, isProgramMode } from '../../src/define/agent/mode-problems.ts';
import type { UsageProblem } from '../../src/core/base/usage-error.ts';
import { problemsOf } from '../support/usage-problems.ts';

const search = defineTool({ name: 'search', description: 'Finds.', execute: () => 'hit' });
const fetch = defineTool({ name: 'fetch', description: 'Gets.', execute: () => 'page' });
const polite = defineValidator({ name: 'polite', validate: () => ({ accepted: true }) });

const types =
  'Types are :string, :int, :float, :bool, :keyword, :map, :any, :datetime; a list is written [:type], a record {name :type}.';

/** What is wrong with a definition: codes and texts. Options may be what the types forbid. */
function problemsWith(options: object): readonly UsageProblem[] {
  return problemsOf(() => defineAgent({ name: 'tester', model: 'm', ...options } as AgentOptions));
}

const json = { mode: 'json', signature: '{a :int}' };

describe('What each mode refuses [sub 1]', () => {
  test.each<{ name: string; options: object; code: string; message: string }>([
    ...['json', 'text'].map((mode) => ({
      name: `tools in ${mode}`,
      options: { ...json, mode, tools: [search, fetch] },
      code: 'mode_tools',
      message: `Expected no \`tools\` in mode \`${mode}\`, got 2 (search, fetch). Use mode \`lisp\`, \`react\` or \`chat\`, or remove them.`,
    })),
    {
      name: 'json without a signature',
      options: { mode: 'json' },
      code: 'mode_signature',
      message:
        'Expected a `signature` with an output in mode `json`, got none. Add one, for example `() -> {sentiment :string}`.',
    },
    {
      name: 'json with inputs alone',
      options: { mode: 'json', signature: { input: z.object({ a: z.string() }) } },
      code: 'mode_signature',
      message:
        'Expected a `signature` with an output in mode `json`, got one without. Add one, for example `() -> {sentiment :string}`.',
    },
    {
      name: 'react with two kinds of answers',
      options: { mode: 'react', signature: '{a :int}', answer: jsonAnswer({ schema: {} }) },
      code: 'mode_signature',
      message: 'Expected `answer` or an output in `signature`, got both. Remove one of them.',
    },
    ...['json', 'react', 'chat'].map((mode) => ({
      name: `hidden fields in ${mode}`,
      options: { mode, signature: '(_key :string) -> {a [{_raw :string}], b :int}' },
      code: 'hidden_field',
      message: `Expected no hidden fields in mode \`${mode}\`, got \`_key\`, \`_raw\`. Use mode \`lisp\` or rename them.`,
    })),
    ...['json', 'text'].map((mode) => ({
      name: `compaction in ${mode}`,
      options: {
        ...json,
        mode,
        compaction: { triggers: [counter('agent:iterations', 3)], strategies: [slidingWindow(3)] },
      },
      code: 'mode_compaction',
      message: `Expected no \`compaction\` in mode \`${mode}\`, got one. Remove it, there is no conversation to compact.`,
    })),
    {
      name: 'turns in text',
      options: { mode: 'text', maxTurns: 3 },
      code: 'mode_turns',
      message:
        'Expected `maxTurns` 1 in mode `text`, got 3. Use mode `json` for answers that are checked.',
    },
    {
      name: 'validators in text',
      options: { mode: 'text', validators: [polite] },
      code: 'mode_validators',
      message:
        'Expected no `validators` in mode `text`, got 1 (polite). Use mode `json` for answers that are checked.',
    },
    ...['json', 'text'].map((mode) => ({
      name: `asking in ${mode}`,
      options: { ...json, mode, askUser: true },
      code: 'mode_asking',
      message: `Expected no \`askUser\` in mode \`${mode}\`, got true. Ask before or after it in a pipeline.`,
    })),
    {
      name: 'an option of lisp in json',
      options: { ...json, transport: 'tool_call' },
      code: 'mode_option',
      message:
        'Expected no `transport` in mode `json`, got "tool_call". Remove it, it belongs to mode `lisp`.',
    },
    {
      name: 'an option of react in text',
      options: { mode: 'text', format: 'xml' },
      code: 'mode_option',
      message:
        'Expected no `format` in mode `text`, got "xml". Remove it, it belongs to mode `react`.',
    },
    ...[
      { field: 'examples', value: [], got: '[]' },
      { field: 'parallel', value: false, got: 'false' },
      { field: 'maxCallsPerTurn', value: 3, got: '3' },
      { field: 'toolSearch', value: {}, got: '{}' },
      { field: 'programs', value: true, got: 'true' },
    ].map(({ field, value, got }) => ({
      name: `${field} in json`,
      options: { ...json, [field]: value },
      code: 'mode_option',
      message: `Expected no \`${field}\` in mode \`json\`, got ${got}. Remove it, it belongs to the modes \`react\` and \`chat\`.`,
    })),
    {
      name: 'llmQuery in text',
      options: { mode: 'text', llmQuery: true },
      code: 'mode_option',
      message:
        'Expected no `llmQuery` in mode `text`, got true. Remove it, it belongs to the modes `react`, `chat` and `lisp`.',
    },
    {
      name: 'a signature that cannot be read',
      options: { mode: 'json', signature: '{tags :list}' },
      code: 'bad_signature',
      message: `Expected a type at line 1, column 7 of \`signature\`, got \`:list\`. ${types}`,
    },
    {
      name: 'a signature that is none',
      options: { mode: 'json', signature: 5 },
      code: 'bad_signature',
      message:
        'Expected `signature` to be a text or { input?, output? } with schemas, got 5. Change it.',
    },
    {
      name: 'inputs that are no object',
      options: { signature: { input: z.string() } },
      code: 'bad_signature',
      message:
        'Expected `signature.input` to be the schema of an object, got another one. Name the inputs as its properties.',
    },
    {
      name: 'a placeholder that is no parameter',
      options: {
        mode: 'json',
        signature: '(user :string, limit :int) -> :string',
        prompt: '{{task}} {{user}} {{usr}} {{#usr}}x{{/usr}}',
      },
      code: 'unknown_placeholder',
      message:
        'Expected `prompt` to use parameters (user, limit), got {{usr}}, {{#usr}}. Rename it or add the parameter.',
    },
    {
      name: 'a template that cannot be read',
      options: { mode: 'text', prompt: 'Hi {{name' },
      code: 'bad_template',
      message:
        'Expected `prompt` to be a template, got one that cannot be read: unclosed tag at line 1, column 4. Correct it.',
    },
    {
      name: 'a template that is no text',
      options: { mode: 'text', prompt: 5 },
      code: 'agent_prompt',
      message:
        'Expected `prompt` to be a template, or in mode `react` a function that returns messages, got 5. Write a text such as `{{task}}`.',
    },
    {
      name: 'descriptions that are no texts',
      options: { ...json, fieldDescriptions: { a: 1 } },
      code: 'agent_text',
      message:
        'Expected `fieldDescriptions` to be texts by name, got {"a":1}. Write it as { name: \'text\' }.',
    },
    {
      name: 'no turns',
      options: { ...json, maxTurns: 0 },
      code: 'number',
      message: 'Expected `maxTurns` from 1 up, got 0. Change it.',
    },
    {
      name: 'too many digits',
      options: { ...json, floatPrecision: 16 },
      code: 'number',
      message: 'Expected `floatPrecision` from 0 to 15, got 16. Change it.',
    },
  ])('$name', ({ options, code, message }) => {
    // What is wrong with an option besides is another problem.
    expect(problemsWith(options)).toContainEqual({ code, message });
  });

  test('a template of lisp has no sections', () => {
    expect(problemsWith({ mode: 'lisp', prompt: '{{#items}}x{{/items}}' })).toContainEqual({
      code: 'section_in_lisp',
      message:
        'Expected no sections in `prompt` of mode `lisp`, got {{#items}}. Name the data, the program walks it itself.',
    });
  });

  test('two faults give two lines, each with the name of the agent', () => {
    const define = (): unknown =>
      defineAgent({ name: 'triage', model: 'm', mode: 'json', tools: [search] });

    expect(define).toThrow(
      [
        'Agent `triage`: Expected no `tools` in mode `json`, got 1 (search). Use mode `lisp`, `react` or `chat`, or remove them.',
        'Agent `triage`: Expected a `signature` with an output in mode `json`, got none. Add one, for example `() -> {sentiment :string}`.',
      ].join('\n'),
    );
  });
});

describe('without a mode', () => {
  test('it is chat: the provider calls the tools', () => {
    const agent = defineAgent({ name: 'tester', model: 'm', tools: [search] });

    expect(agent.spec).toEqual(
      defineAgent({ name: 'tester', mode: 'chat', model: 'm', tools: [search] }).spec,
    );
    expect(agent.spec.toolchain.kind).toBe('native');
  });

  test.each<{ option: string; value: unknown; mode: string }>([
    { option: 'thinking', value: false, mode: 'react' },
    { option: 'sections', value: [textSection({ name: 'plan' })], mode: 'react' },
    { option: 'format', value: 'markdown', mode: 'react' },
    { option: 'toolchain', value: 'json', mode: 'react' },
    { option: 'answer', value: jsonAnswer({ schema: { type: 'object' } }), mode: 'react' },
    { option: 'precedence', value: 'answer', mode: 'react' },
    { option: 'onUnparsed', value: 'answer', mode: 'react' },
    { option: 'markers', value: false, mode: 'react' },
    { option: 'prompt', value: () => [], mode: 'react' },
    { option: 'transport', value: 'tool_call', mode: 'lisp' },
    { option: 'journal', value: true, mode: 'lisp' },
  ])('the line to write for `$option` is named', ({ option, value, mode }) => {
    const message = `Expected \`mode: '${mode}'\` beside \`${option}\`, got no \`mode\`. Write \`mode: '${mode}',\`; the default is \`chat\`.`;

    expect(problemsWith({ [option]: value })).toEqual([{ code: 'mode_option', message }]);
    expect(problemsWith({ mode, [option]: value })).toEqual([]);
  });
});

describe('What each mode takes [sub 1]', () => {
  test.each<{ name: string; options: object }>([
    {
      name: 'json with validators and turns',
      options: { ...json, validators: [polite], maxTurns: 2 },
    },
    { name: 'json without compaction, said so', options: { ...json, compaction: false } },
    {
      name: 'text with a signature that cannot be read',
      options: { mode: 'text', signature: ':list' },
    },
    { name: 'text with one turn', options: { mode: 'text', maxTurns: 1 } },
    {
      name: 'fields of items within a section',
      options: {
        ...json,
        signature: '(items [{n :int}]) -> :int',
        prompt: '{{#items}}{{n}}{{/items}}',
      },
    },
    { name: 'react and chat with an output', options: { mode: 'chat', signature: '{a :int}' } },
  ])('$name', ({ options }) => {
    expect(problemsWith(options)).toEqual([]);
  });

  test('turns default to what the mode counts', () => {
    const turns = (options: object): unknown =>
      defineAgent({ name: 'tester', model: 'm', ...options } as AgentOptions).maxTurns;

    expect([
      turns(json),
      turns({ ...json, maxTurns: 2 }),
      turns({ mode: 'text' }),
      turns({}),
    ]).toEqual([5, 2, 1, undefined]);
  });

  test('which modes write programs, and which only data', () => {
    expect(['lisp', 'ptc_lisp', 'chat'].map((mode) => isProgramMode({ mode }))).toEqual([
      true,
      true,
      false,
    ]);
    expect(isProgramMode({ mode: 'chat', programs: true })).toBe(true);
    expect([{}, { mode: 'json' }, { mode: 'text' }].map(isDataMode)).toEqual([false, true, true]);
    expect([isProgramMode('lisp'), isProgramMode('chat')]).toEqual([true, false]);
    expect([isDataMode('json'), isDataMode('lisp')]).toEqual([true, false]);
  });

  test('also of definitions', () => {
    const model = async () => '';
    const programs = defineAgent({ name: 'a', mode: 'lisp', model });
    const calls = defineAgent({ name: 'b', mode: 'chat', programs: true, model });
    const data = defineAgent({ name: 'c', mode: 'text', model });
    const chat = defineAgent({ name: 'd', model });
    expect([programs, calls, data, chat].map(isProgramMode)).toEqual([true, true, false, false]);
    expect([programs, calls, data, chat].map(isDataMode)).toEqual([false, false, true, false]);
  });
});
