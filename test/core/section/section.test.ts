import { describe, expect, test } from 'vitest';
import { sectionOf } from '../../../src/core/section/section.ts';

const schema = { type: 'object', properties: { score: { type: 'number' } } };

describe('Kinds of sections [row 12]', () => {
  test.each([
    {
      title: 'text',
      section: sectionOf({ kind: 'text', name: 'plan' }),
      guidance: 'Write the plan here.',
    },
    {
      title: 'text with guidance',
      section: sectionOf({ kind: 'text', name: 'plan', guidance: 'Plan well.' }),
      guidance: 'Plan well.',
    },
    {
      title: 'JSON',
      section: sectionOf({ kind: 'json', name: 'rating', schema }),
      guidance:
        'Write one JSON value that fits this schema:\n{"type":"object","properties":{"score":{"type":"number"}}}',
    },
    {
      title: 'JSON with guidance and example',
      section: sectionOf({
        kind: 'json',
        name: 'rating',
        schema,
        guidance: 'Rate it.',
        example: { score: 3 },
      }),
      guidance:
        'Rate it.\n\nWrite one JSON value that fits this schema:\n{"type":"object","properties":{"score":{"type":"number"}}}\n\nFor example:\n{"score":3}',
    },
    {
      title: 'YAML with guidance and example',
      section: sectionOf({
        kind: 'yaml',
        name: 'rating',
        schema,
        guidance: 'Rate it.',
        example: { score: 3 },
      }),
      guidance:
        'Rate it.\n\nWrite one YAML value that fits this schema:\ntype: object\nproperties:\n  score:\n    type: number\n\nFor example:\nscore: 3',
    },
  ])('ask for $title', ({ section, guidance }) => {
    expect(section.guidance()).toBe(guidance);
  });

  test('read what they hold, without looking at the schema', () => {
    expect(sectionOf({ kind: 'text', name: 'plan' }).read('any {')).toEqual({
      kind: 'value',
      value: 'any {',
    });
    expect(sectionOf({ name: 'a', kind: 'json', schema }).read('{"score":"high"}')).toEqual({
      kind: 'value',
      value: { score: 'high' },
    });
    expect(sectionOf({ name: 'a', kind: 'yaml', schema }).read('score: 3')).toEqual({
      kind: 'value',
      value: { score: 3 },
    });
  });

  test('say what is wrong with what they hold', () => {
    expect(sectionOf({ kind: 'json', name: 'a', schema }).read('{score}')).toEqual({
      kind: 'problem',
      problems: [
        {
          code: 'json_syntax',
          message: 'line 1, column 2: expected a key in double quotes, got `score}`',
          line: 1,
          column: 2,
        },
      ],
    });
    expect(sectionOf({ kind: 'yaml', name: 'a', schema }).read('a: 1\na: 2')).toEqual({
      kind: 'problem',
      problems: [
        {
          code: 'yaml_duplicate',
          message:
            'line 2, column 1: the key a occurs twice. Quote text that contains ": " or " #", or write it as a "|" block.',
          line: 2,
          column: 1,
        },
      ],
    });
  });
});
