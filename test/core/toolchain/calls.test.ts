import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toolchainOf } from '../../../src/core/toolchain/toolchain-of.ts';
import type { CallsReading } from '../../../src/core/toolchain/toolchain.ts';
import { toolSpec } from '../runs/spec-fixture.ts';

const yaml = toolchainOf({ kind: 'yaml', section: 'action' });
const json = toolchainOf({ kind: 'json', section: 'action' });
const advice = 'Quote text that contains ": " or " #", or write it as a "|" block.';

const context = {
  iteration: 3,
  tools: [
    toolSpec({ name: 'search' }),
    toolSpec({
      name: 'book',
      parameters: {
        type: 'object',
        properties: { id: { type: 'string' }, seats: { type: 'integer' } },
      },
    }),
  ],
  maxCallsPerTurn: 3,
};

function calls(...pairs: readonly (readonly [string, object])[]): CallsReading {
  return {
    kind: 'calls',
    calls: pairs.map(([tool, args], i) => ({ callId: `3.${i + 1}`, tool, args: { ...args } })),
  } as CallsReading;
}

function problems(...all: readonly (readonly [string, string])[]): CallsReading {
  return { kind: 'problems', problems: all.map(([code, message]) => ({ code, message })) };
}

const shape = 'expected a call with "tool" and "args", or a list of calls, got';

describe('Reading calls [row 17]', () => {
  test.each<{ title: string; yaml: string[]; json: string[]; reading: CallsReading }>([
    {
      title: 'one call',
      yaml: ['tool: search\nargs:\n  query: x'],
      json: ['{"tool": "search", "args": {"query": "x"}}'],
      reading: calls(['search', { query: 'x' }]),
    },
    {
      title: 'a list',
      yaml: ['- tool: search\n  args: {query: x}\n- tool: book\n  args:\n    seats: 2'],
      json: ['[{"tool":"search","args":{"query":"x"}},{"tool":"book","args":{"seats":2}}]'],
      reading: calls(['search', { query: 'x' }], ['book', { seats: 2 }]),
    },
    {
      title: 'a code block',
      yaml: ['```yaml\ntool: search\n```'],
      json: ['```json\n{"tool": "search"}\n```'],
      reading: calls(['search', {}]),
    },
    {
      title: 'args null, other keys, an unknown tool',
      yaml: ['tool: fly\nargs:\nwhy: because'],
      json: ['{"tool": "fly", "args": null, "why": "because"}'],
      reading: calls(['fly', {}]),
    },
    {
      title: 'an indented call whose first line was trimmed',
      yaml: ['tool: search\n    args:\n      query: x'],
      json: ['{"tool": "search",\n      "args": {"query": "x"}}'],
      reading: calls(['search', { query: 'x' }]),
    },
    {
      title: 'several blocks as one batch',
      yaml: ['tool: search', '- tool: book\n- tool: search'],
      json: ['{"tool":"search"}', '[{"tool":"book"},{"tool":"search"}]'],
      reading: calls(['search', {}], ['book', {}], ['search', {}]),
    },
    { title: 'an empty list', yaml: ['[]'], json: ['[]'], reading: { kind: 'none' } },
    {
      title: 'an empty code block',
      yaml: ['```\n```'],
      json: ['```\n```'],
      reading: { kind: 'none' },
    },
    { title: 'no block', yaml: [], json: [], reading: { kind: 'none' } },
    {
      title: 'text',
      yaml: ['search it'],
      json: ['"search it"'],
      reading: problems(['call_shape', `${shape} string`]),
    },
    {
      title: 'null',
      yaml: ['null'],
      json: ['null'],
      reading: problems(['call_shape', `${shape} null`]),
    },
    {
      title: 'a number in a list, and a list in a list',
      yaml: ['- tool: search\n- 5\n- []'],
      json: ['[{"tool":"search"}, 5, []]'],
      reading: problems(
        ['call_shape', `call 2: ${shape} number`],
        ['call_shape', `call 3: ${shape} array`],
      ),
    },
    {
      title: 'tool missing, empty, no text',
      yaml: ['- args: {}\n- tool: " "\n- tool: [a]'],
      json: ['[{"args": {}}, {"tool": " "}, {"tool": ["a"]}]'],
      reading: problems(
        ['call_without_tool', 'call 1: the field "tool" is missing'],
        ['call_without_tool', 'call 2: the field "tool" is missing'],
        ['call_without_tool', 'call 3: the field "tool" is missing'],
      ),
    },
    {
      title: 'args of another type',
      yaml: ['- tool: search\n  args: x\n- tool: book\n  args: [1]'],
      json: ['[{"tool":"search","args":"x"},{"tool":"book","args":[1]}]'],
      reading: problems(
        ['call_args_shape', 'call 1 (search): "args" must be a mapping, got string'],
        ['call_args_shape', 'call 2 (book): "args" must be a mapping, got array'],
      ),
    },
    {
      title: 'too many calls',
      yaml: ['- tool: a\n- tool: a', '- tool: a\n- tool: a'],
      json: ['[{"tool":"a"},{"tool":"a"}]', '[{"tool":"a"},{"tool":"a"}]'],
      reading: problems(['too_many_calls', '4 calls in one step, at most 3 are allowed']),
    },
    {
      title: 'several code blocks',
      yaml: ['```\na\n```\n```\nb\n```'],
      json: ['```\n1\n```\n```\n2\n```'],
      reading: problems(['several_blocks', 'There are 2 code blocks. Write one value.']),
    },
  ])('$title', (row) => {
    expect(yaml.readCalls(row.yaml, context)).toEqual(row.reading);
    expect(json.readCalls(row.json, context)).toEqual(row.reading);
  });

  test('one malformed call rejects the batch, and all problems are told', () => {
    expect(yaml.readCalls(['- tool: search\n- args: {}', 'a: b: c', 'x'], context)).toEqual({
      kind: 'problems',
      problems: [
        { code: 'call_without_tool', message: 'call 2: the field "tool" is missing' },
        {
          code: 'yaml_syntax',
          message: `line 1, column 4: a mapping inside a value on one line. ${advice}`,
          line: 1,
          column: 4,
        },
        { code: 'call_shape', message: `${shape} string` },
      ],
    });
    expect(json.readCalls(['{"tool": }'], context)).toEqual({
      kind: 'problems',
      problems: [
        {
          code: 'json_syntax',
          message: 'line 1, column 10: expected a value, got `}`',
          line: 1,
          column: 10,
        },
      ],
    });
  });

  test('YAML reads the name as text and the arguments by the schema of the tool', () => {
    expect(
      yaml.readCalls(
        ['- tool: book\n  args: {id: 007, seats: 2}\n- tool: 123\n  args: {id: 007}'],
        context,
      ),
    ).toEqual(calls(['book', { id: '007', seats: 2 }], ['123', { id: 7 }]));
  });

  test('a number that JSON cannot hold rejects the call', () => {
    expect(yaml.readCalls(['tool: fly\nargs: {id: 12345678901234567890}'], context)).toEqual({
      kind: 'problems',
      problems: [
        {
          code: 'yaml_number',
          message: `line 2, column 12: 12345678901234567890 is too large to be exact. Write it as a string. ${advice}`,
          line: 2,
          column: 12,
        },
      ],
    });
  });

  test('names of the prototype are no fields', () => {
    expect(json.readCalls(['{"constructor": 1}'], context)).toEqual(
      problems(['call_without_tool', 'call 1: the field "tool" is missing']),
    );
  });

  test('any text is read or refused without a throw [row 10]', () => {
    const text = fc
      .array(
        fc.oneof(
          fc.constantFrom(
            'tool: ',
            'args:',
            '{',
            '}',
            '[',
            ']',
            '- ',
            '\n',
            '"tool":',
            '```\n',
            ',',
          ),
          fc.string({ unit: 'binary', maxLength: 4 }),
        ),
        { maxLength: 20 },
      )
      .map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(fc.array(text, { maxLength: 3 }), (contents) => {
        for (const toolchain of [yaml, json]) {
          expect(['none', 'calls', 'problems']).toContain(
            toolchain.readCalls(contents, context).kind,
          );
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe('Guidance of toolchains', () => {
  test.each([
    { parallel: true, several: 'Several calls that do not depend on each other:' },
    { parallel: false, several: 'Several calls, run one after the other:' },
  ])('parallel: $parallel', ({ parallel, several }) => {
    expect(yaml.guidance({ parallel })).toBe(
      `Call tools with YAML. One call:\n\ntool: tool_name\nargs:\n  name: value\n\n${several}\n\n- tool: first_tool\n  args:\n    name: value\n- tool: second_tool\n  args: {}\n\nQuote text that contains ": " or " #". Write long text as a "|" block.`,
    );
    expect(json.guidance({ parallel })).toBe(
      `Call tools with JSON. One call:\n\n{"tool": "tool_name", "args": {"name": "value"}}\n\n${several}\n\n[{"tool": "first_tool", "args": {"name": "value"}}, {"tool": "second_tool", "args": {}}]`,
    );
    expect(toolchainOf({ kind: 'native', section: '' }).guidance({ parallel })).toBe('');
  });

  test.each([
    { kind: 'yaml', example: 0 },
    { kind: 'json', example: 0 },
  ] as const)('$kind shows calls that can be read', ({ kind }) => {
    const toolchain = toolchainOf({ kind, section: 'action' });
    const paragraphs = toolchain.guidance({ parallel: true }).split('\n\n');

    expect(toolchain.readCalls([paragraphs[1] ?? ''], context)).toEqual(
      calls(['tool_name', { name: 'value' }]),
    );
    expect(toolchain.readCalls([paragraphs[3] ?? ''], context)).toEqual(
      calls(['first_tool', { name: 'value' }], ['second_tool', {}]),
    );
  });
});
