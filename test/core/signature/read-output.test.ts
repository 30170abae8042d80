import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../../src/core/base/json.ts';
import {
  describedFields,
  exampleJson,
  withDescriptions,
} from '../../../src/core/signature/describe-output.ts';
import { parseSignature } from '../../../src/core/signature/parse-signature.ts';
import { readOutput, sourceOf } from '../../../src/core/signature/read-output.ts';
import type { SignatureType } from '../../../src/core/contract/signature.ts';
import { cutReply, replyOf } from '../runs/reply-fixture.ts';
import { anyType } from './signature-arbitrary.ts';

function typeOf(text: string): SignatureType {
  const reading = parseSignature(text);
  if (reading.kind === 'problem') throw new Error(text);
  return reading.signature.output;
}

const RECORD = '{a :int}';
const fence = (content: string, tag = ''): string => `\`\`\`${tag}\n${content}\n\`\`\``;

/** What is found in `text`: the value, or the texts of what is wrong. */
function found(text: string, type = RECORD): Json {
  const reading = readOutput({ output: typeOf(type) }, sourceOf(replyOf(text)));
  return reading.kind === 'value' ? reading.value : reading.problems.map((it) => it.message);
}

describe('Finding JSON in a reply [sub 3]', () => {
  test.each<{ name: string; text: string; type?: string; value: Json }>([
    { name: 'bare', text: '{"a": 1}', value: { a: 1 } },
    { name: 'bare, on lines', text: '\n{\n "a": 1\n}\n', value: { a: 1 } },
    { name: 'behind a byte order mark', text: '\uFEFF{"a": 1}', value: { a: 1 } },
    { name: 'with CR LF', text: '{"a":\r\n1}\r\n', value: { a: 1 } },
    { name: 'repeated keys', text: '{"a": 1, "a": 2}', value: { a: 2 } },
    { name: 'a fence tagged json', text: fence('{"a": 1}', 'json'), value: { a: 1 } },
    { name: 'a fence tagged JSON', text: fence('{"a": 1}', 'JSON'), value: { a: 1 } },
    { name: 'a tag with more', text: fence('{"a": 1}', 'json title="x"'), value: { a: 1 } },
    { name: 'an untagged fence', text: fence('{"a": 1}'), value: { a: 1 } },
    { name: 'a fence of tildes', text: '~~~json\n{"a": 1}\n~~~', value: { a: 1 } },
    { name: 'a long fence', text: '````json\n{"a": 1}\n````', value: { a: 1 } },
    { name: 'an indented fence', text: '  ```json\n  {"a": 1}\n  ```', value: { a: 1 } },
    { name: 'an unclosed fence', text: '```json\n{"a": 1}', value: { a: 1 } },
    { name: 'prose around a fence', text: `Here:\n${fence('{"a": 1}')}\nDone.`, value: { a: 1 } },
    {
      name: 'the first of two fences',
      text: `${fence('{"a": 1}')}\n${fence('{"a": 2}')}`,
      value: { a: 1 },
    },
    {
      name: 'a fence of another language before',
      text: `${fence('{"a": 9}', 'python')}\n${fence('{"a": 1}', 'json')}`,
      value: { a: 1 },
    },
    {
      name: 'a blank fence before',
      text: `${fence('  ', 'json')}\n${fence('{"a": 1}', 'json')}`,
      value: { a: 1 },
    },
    { name: 'a blank fence, then bare', text: `${fence('')}\n{"a": 1}`, value: { a: 1 } },
    {
      name: 'only a fence of another language',
      text: fence('{"a": 1}', 'javascript'),
      value: { a: 1 },
    },
    { name: 'back-ticks in a string', text: '{"a": "```json"}', value: { a: '```json' } },
    { name: 'inline code', text: 'It is `{"a": 1}`.', value: { a: 1 } },
    { name: 'a fence on one line', text: '```json {"a": 1}```', value: { a: 1 } },
    { name: 'prose before', text: 'The answer: {"a": 1}', value: { a: 1 } },
    { name: 'prose behind', text: '{"a": 1} That is all.', value: { a: 1 } },
    { name: 'prose around', text: 'Sure! {"a": 1} Bye.', value: { a: 1 } },
    { name: 'brackets in strings', text: 'x {"a": "}]{"} y', value: { a: '}]{' } },
    { name: 'escaped quotes', text: 'x {"a": "\\"}"} y', value: { a: '"}' } },
    { name: 'nested brackets', text: 'x {"a": {"b": [1]}} y', value: { a: { b: [1] } } },
    { name: 'brackets of prose before', text: '[sic] {"a": 1}', value: { a: 1 } },
    { name: 'braces of prose before', text: 'In {set} terms: {"a": 1}', value: { a: 1 } },
    { name: 'an unclosed bracket before', text: 'a { b: {"a": 1}', value: { a: 1 } },
    { name: 'a list before the object', text: '[1, 2] {"a": 1}', value: { a: 1 } },
    { name: 'the first of two objects', text: '{"a": 1} {"a": 2}', value: { a: 1 } },
    { name: 'an object inside a list', text: '[{"a": 1}]', value: { a: 1 } },
    { name: 'a comma before a brace', text: '{"a": 1,}', value: { a: 1 } },
    { name: 'a comma before a bracket', text: '{"a": [1, 2 , ]}', value: { a: [1, 2] } },
    { name: 'commas in a fence', text: fence('{"a": 1,\n}', 'json'), value: { a: 1 } },
    { name: 'commas inside strings', text: '{"a": ",}", "b": 1,}', value: { a: ',}', b: 1 } },
    { name: 'another spelling', text: '{"b-c": 1}', type: '{b_c :int}', value: { b_c: 1 } },
    { name: 'a wrapped list', text: '{"items": [1]}', type: '[:int]', value: [1] },
    { name: 'a bare list', text: '[1]', type: '[:int]', value: [1] },
    { name: 'a list in prose', text: 'So: [1, 2].', type: '[:int]', value: [1, 2] },
    { name: 'a wrapped list in a fence', text: fence('{"items": []}'), type: '[:int]', value: [] },
    { name: 'a wrapped scalar', text: '{"value": 3}', type: ':int', value: 3 },
    { name: 'a bare scalar', text: ' 3 ', type: ':int', value: 3 },
    { name: 'a bare scalar in a fence', text: fence('true'), type: ':bool', value: true },
    { name: 'a bare text', text: '"yes"', type: ':string', value: 'yes' },
    { name: 'anything, bare', text: '{"b": 1}', type: ':any', value: { b: 1 } },
    { name: 'anything, wrapped', text: '{"value": null}', type: ':any', value: null },
    { name: 'a map', text: '{"x": {"y": 1}}', type: ':map', value: { x: { y: 1 } } },
    {
      name: 'a moment with an offset',
      text: '{"value": "2026-05-03T09:14:00+02:00"}',
      type: ':datetime',
      value: '2026-05-03T07:14:00Z',
    },
  ])('$name', ({ text, type, value }) => {
    expect(found(text, type)).toEqual(value);
  });

  test.each<{ name: string; text: string; type?: string; problem: string }>([
    { name: 'nothing', text: ' \n ', problem: 'The reply is empty.' },
    { name: 'prose', text: 'I do not know.', problem: 'There is no JSON in the reply.' },
    {
      name: 'a bare word',
      text: 'positive',
      type: ':string',
      problem: 'There is no JSON in the reply.',
    },
    {
      name: 'single quotes',
      text: "{'a': 1}",
      problem: "line 1, column 2: expected a key in double quotes, got `'a': 1}`",
    },
    {
      name: 'a comment',
      text: '{"a": 1 // one\n}',
      problem: 'line 1, column 9: expected "," or "}", got `// one\\n}`',
    },
    {
      name: 'a word of Python',
      text: '{"a": True}',
      problem: 'line 1, column 7: expected a value, got `True}`',
    },
    {
      name: 'a broken fence, with a good object behind it',
      text: `${fence('{"a": }', 'json')}\n{"a": 1}`,
      problem: 'line 1, column 7: expected a value, got `}`',
    },
    {
      name: 'a list for an object',
      text: '[1]',
      problem: 'expected a JSON object, got array',
    },
    { name: 'a number for an object', text: '3', problem: 'expected a JSON object, got number' },
    {
      name: 'an object for a list',
      text: '{"a": 1}',
      type: '[:int]',
      problem: 'expected {"items": […]} or an array, got an object without "items"',
    },
    {
      name: 'an object for a scalar',
      text: '{"a": 1}',
      type: ':int',
      problem: 'expected {"value": …} or a bare value, got an object without "value"',
    },
    {
      name: 'an unclosed object',
      text: '{"a": 1',
      problem: 'line 1, column 8: expected "," or "}", got end of text',
    },
  ])('$name is no output', ({ text, type, problem }) => {
    expect(found(text, type)).toEqual([problem]);
  });

  test('after fifty brackets nothing more is looked at', () => {
    expect(found(`A ${'{x} '.repeat(50)}{"a": 1}`)).toEqual(['There is no JSON in the reply.']);
    expect(found(`A ${'{x} '.repeat(49)}{"a": 1}`)).toEqual({ a: 1 });
  });

  test('a reply that was cut off says so, but one that is whole all the same is used', () => {
    const type = typeOf(RECORD);

    expect(readOutput({ output: type }, sourceOf(cutReply('{"a": [1], "b": ')))).toEqual({
      kind: 'unreadable',
      problems: [
        { code: 'truncated_reply', message: 'The reply was cut off by the length limit.' },
      ],
    });
    expect(readOutput({ output: type }, sourceOf(cutReply('{"a": 1} And')))).toEqual({
      kind: 'value',
      value: { a: 1 },
    });
  });

  test.each<{ args: Json; value: Json }>([
    { args: { a: 1 }, value: { a: 1 } },
    { args: '{"a": 1,}', value: { a: 1 } },
    { args: '{"a": ', value: ['line 1, column 7: expected a value, got end of text'] },
  ])('the arguments $args of a forced call come first', ({ args, value }) => {
    const reply = replyOf('{"a": 9}', { calls: [{ tool: 'respond', args }] });

    const reading = readOutput({ output: typeOf(RECORD) }, sourceOf(reply));

    expect(
      reading.kind === 'value' ? reading.value : reading.problems.map((it) => it.message),
    ).toEqual(value);
  });

  test('no reply makes it throw', () => {
    const text = fc.string({
      unit: fc.constantFrom(
        '{',
        '}',
        '[',
        ']',
        '"',
        ',',
        ':',
        '\\',
        '`',
        '\n',
        ' ',
        'a',
        '1',
        '```',
        'json',
      ),
    });

    fc.assert(
      fc.property(text, anyType, (reply, type) => {
        expect(['value', 'unreadable']).toContain(
          readOutput({ output: type }, sourceOf(replyOf(reply))).kind,
        );
      }),
      { numRuns: 500 },
    );
  });
});

describe('The form of an output', () => {
  test.each([
    { type: '{sentiment :string, score :float?}', json: '{"sentiment": "text", "score": 1.5}' },
    {
      type: '{a :int, b :bool, c :keyword, d :any}',
      json: '{"a": 1, "b": true, "c": "name", "d": "anything"}',
    },
    {
      type: '{at :datetime, m :map, l [{x :int}]}',
      json: '{"at": "2026-05-03T09:14:00Z", "m": {}, "l": [{"x": 1}]}',
    },
    { type: '[:string]', json: '{"items": ["text"]}' },
    { type: ':float', json: '{"value": 1.5}' },
    { type: '{}', json: '{}' },
  ])('$type is shown as $json', ({ type, json }) => {
    expect(exampleJson(typeOf(type))).toBe(json);
  });

  test('the example is one that is read', () => {
    fc.assert(
      fc.property(anyType, (type) => {
        expect(readOutput({ output: type }, sourceOf(replyOf(exampleJson(type)))).kind).toBe(
          'value',
        );
      }),
    );
  });

  test('fields that are described or may be absent have a line', () => {
    const type = typeOf('{label :string, tags [{name :string?}], note :string?, n :int}');

    expect(
      describedFields(withDescriptions(type, { label: 'One word', 'tags.name': 'x' })),
    ).toEqual([
      '- `label` (string): One word',
      '- `tags[].name` (string, optional): x',
      '- `note` (string, optional)',
    ]);
  });
});
