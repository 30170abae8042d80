import { describe, expect, test } from 'vitest';
import { reporter } from '../../src/tools/reporter.ts';
import { chartTool } from '../../examples/docs/tools.ts';
import type { ToolContext } from '../../src/define/definition/definitions.ts';
import { isMediaPart, isToolReturn, toolResult } from '../../src/define/tool/tool-result.ts';

const image = { type: 'media' as const, mediaType: 'image/png', data: 'AA==' };

describe('toolResult', () => {
  test('keeps its parts and is told apart from data of the same shape', () => {
    const parts = { output: { n: 1 }, media: [image], instructions: 'Go on.', importance: -10 };

    expect(toolResult(parts)).toEqual(parts);
    expect(isToolReturn(toolResult(parts))).toBe(true);
    expect(isToolReturn(parts)).toBe(false);
    expect(isToolReturn(null)).toBe(false);
  });

  test.each([
    {
      name: 'an importance beyond 10',
      parts: { importance: 10.5 },
      message: 'Expected `importance` from -10 to 10, got 10.5. Change it.',
    },
    {
      name: 'an importance that is none',
      parts: { importance: NaN },
      message: 'Expected `importance` from -10 to 10, got NaN. Change it.',
    },
    {
      name: 'instructions that are no text',
      parts: { instructions: ['a'] },
      message: 'Expected `instructions` to be a text, got ["a"]. Change it.',
    },
    {
      name: 'media that are no list',
      parts: { media: image },
      message:
        'Expected `media` to be a list of { type: \'media\', mediaType, url or data }, got {"type":"media","mediaType":"image/png","data":"AA=="}. Change it.',
    },
    {
      name: 'media with url and data',
      parts: { media: [{ ...image, url: 'https://a.test' }] },
      message:
        'Expected `media` to be a list of { type: \'media\', mediaType, url or data }, got [{"type":"media","mediaType":"image/png","data":"AA==","url":"https://a.test"}]. Change it.',
    },
    {
      name: 'media of more than 16 MB',
      parts: { media: [image, { ...image, data: 'A'.repeat(16_777_213) }] },
      message:
        'Expected `media` of at most 16777216 bytes of base64, got 16777217. Return a url, or a smaller picture.',
    },
  ])('refuses $name', ({ parts, message }) => {
    expect(() => toolResult(parts as never)).toThrow(
      expect.objectContaining({ name: 'UsageError', message }),
    );
  });

  test('takes media of 16 MB', () => {
    const media = [{ ...image, data: 'A'.repeat(16_777_216) }];

    expect(toolResult({ media })).toEqual({ media });
  });
});

describe('a media part', () => {
  test.each([
    { part: image, is: true },
    { part: { type: 'media', mediaType: 'image/png', url: 'https://a.test' }, is: true },
    { part: { type: 'media', mediaType: '', data: 'AA==' }, is: false },
    { part: { type: 'media', mediaType: 'image/png' }, is: false },
    { part: { type: 'media', mediaType: 'image/png', data: '' }, is: false },
    { part: { type: 'text', text: 'x' }, is: false },
    { part: null, is: false },
  ])('$part: $is', ({ part, is }) => {
    expect(isMediaPart(part)).toBe(is);
  });
});

describe('[row 39] a reporter', () => {
  test('says nothing when nothing was reported', () => {
    expect(reporter().reports()).toEqual({});
  });

  test('takes events of 256 KB in all', () => {
    const { emit, reports } = reporter();
    const data = 'x'.repeat(16 * 1024 - 2);
    for (let index = 0; index < 16; index++) emit('a:b', data);

    expect(() => emit('a:b', 1)).toThrow(
      'Expected the events of one call to be at most 262144 bytes, got 262145. Send fewer.',
    );
    expect(reports().events).toHaveLength(16);
  });

  test('keeps keys like `__proto__:x` as keys', () => {
    const { count, reports } = reporter();
    count('__proto__:x', 2);

    expect(reports()).toEqual({ counts: { ['__proto__:x']: 2 } });
  });
});

test('the result of docs/tools.md fits', async () => {
  const returned = await chartTool('AAAA').execute({}, {} as ToolContext);

  expect(isToolReturn(returned)).toBe(true);
  expect(returned).toMatchObject({ output: { points: 12 }, importance: 5 });
});
