import { describe, expect, test } from 'vitest';
import { sectionOf } from '../../../src/core/section/section.ts';
import { payloadOf, type Payload } from '../../../src/core/section/payload.ts';

const around: Payload = {
  kind: 'problem',
  problem: {
    code: 'text_around_block',
    message: 'There is text around the code block. Write only the value.',
  },
};

describe('The payload of a section [row 12]', () => {
  test.each<{ title: string; content: string; payload: Payload }>([
    { title: 'no fence', content: ' {"a": 1}\n', payload: { kind: 'payload', text: '{"a": 1}' } },
    {
      title: 'a fence that is content, for it is indented',
      content: 'text: |\n  ```\n  code\n  ```',
      payload: { kind: 'payload', text: 'text: |\n  ```\n  code\n  ```' },
    },
    { title: 'one block', content: '```json\n1\n```', payload: { kind: 'payload', text: '1' } },
    {
      title: 'one line before and one after',
      content: 'Here:\n\n```\n1\n2\n```\n\nDone.',
      payload: { kind: 'payload', text: '1\n2' },
    },
    {
      title: 'a block of tildes that holds backticks',
      content: '~~~\n```\n~~~',
      payload: { kind: 'payload', text: '```' },
    },
    {
      title: 'a first line that opens a fence for good',
      content: '```yaml\na: 1\nb: 2',
      payload: { kind: 'payload', text: 'a: 1\nb: 2' },
    },
    {
      title: 'a later line that opens a fence for good',
      content: 'a: 1\n```',
      payload: { kind: 'payload', text: 'a: 1\n```' },
    },
    { title: 'two lines before', content: 'a\nb\n```\n1\n```', payload: around },
    { title: 'two lines after', content: '```\n1\n```\na\nb', payload: around },
    {
      title: 'several blocks',
      content: '```\n1\n```\n```\n2\n```\n~~~\n3\n~~~',
      payload: {
        kind: 'problem',
        problem: {
          code: 'several_blocks',
          message: 'There are 3 code blocks. Write one value.',
        },
      },
    },
    { title: 'empty', content: ' \n ', payload: { kind: 'absent' } },
    { title: 'an empty block', content: '```json\n\n```', payload: { kind: 'absent' } },
    { title: 'an empty open block', content: '```json', payload: { kind: 'absent' } },
  ])('$title', ({ content, payload }) => {
    expect(payloadOf(content)).toEqual(payload);
  });

  test('is read alike in JSON and YAML sections', () => {
    const schema = { type: 'object' };
    const sections = [
      sectionOf({ kind: 'json', name: 'a', schema }),
      sectionOf({ kind: 'yaml', name: 'a', schema }),
    ];
    const contents = [
      '{"a": 1}',
      '```\n{"a": 1}\n```',
      'x\n```\n{"a": 1}\n```\ny',
      '```\n{"a": 1}',
    ];

    for (const section of sections) {
      for (const content of contents) {
        expect(section.read(content)).toEqual({ kind: 'value', value: { a: 1 } });
      }
      expect(section.read('```\n```')).toEqual({ kind: 'absent' });
      expect(section.read('a\nb\n```\n{}\n```')).toEqual({
        kind: 'problem',
        problems: [around.kind === 'problem' ? around.problem : undefined],
      });
    }
  });
});
