import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readQuestions } from '../../src/mcp/calls/questions.ts';
import { readResult } from '../../src/mcp/calls/result.ts';

const text = (value: string, more = {}) => ({ type: 'text', text: value, ...more });

describe('the answer of a server', () => {
  it.each([
    ['one text', { content: [text('{"a":1}')] }, '{"a":1}'],
    ['several texts', { content: [text('a'), text('b')] }, 'a\n\nb'],
    [
      'structured content that a text repeats',
      { content: [text('{ "b": 2, "a": 1 }')], structuredContent: { a: 1, b: 2 } },
      { a: 1, b: 2 },
    ],
    [
      'structured content beside a text',
      { content: [text('Done.')], structuredContent: { a: 1 } },
      { result: { a: 1 }, text: 'Done.' },
    ],
    [
      'a resource with text',
      { content: [{ type: 'resource', resource: { uri: 'file:///a', text: 'A' } }] },
      'Resource file:///a:\nA',
    ],
    [
      'a resource with bytes that no model reads',
      {
        content: [
          {
            type: 'resource',
            resource: { uri: 'file:///a', mimeType: 'application/zip', blob: 'A'.repeat(4_000) },
          },
        ],
      },
      '[resource file:///a of type application/zip, 3 KB left out]',
    ],
    [
      'a link',
      { content: [{ type: 'resource_link', name: 'A', uri: 'file:///a', mimeType: 'text/plain' }] },
      '- A: file:///a (text/plain)',
    ],
    [
      'a part of a later revision',
      { content: [{ type: 'video' }] },
      '[part of type video left out]',
    ],
    [
      'an image that is too large',
      { content: [{ type: 'image', mimeType: 'image/png', data: 'A'.repeat(1_900_000) }] },
      '[image/png of 1.4 MB left out]',
    ],
    ['no content', {}, undefined],
  ])('with %s', (_name, answer, output) => {
    expect(readResult(answer)).toEqual({
      kind: 'ok',
      ...(output !== undefined && { output }),
      media: [],
      forUser: [],
    });
  });

  it('with media gives those that models read', () => {
    const data = 'QUJD';
    const content = [
      { type: 'image', mimeType: 'image/png', data },
      { type: 'audio', mimeType: 'audio/wav', data },
      {
        type: 'resource',
        resource: { uri: 'file:///a', mimeType: 'application/pdf', blob: data },
      },
    ];

    expect(readResult({ content })).toEqual({
      kind: 'ok',
      media: ['image/png', 'audio/wav', 'application/pdf'].map((mediaType) => ({
        type: 'media',
        mediaType,
        data,
      })),
      forUser: [],
    });
  });

  it('for the user alone is not shown to the model', () => {
    const annotations = { audience: ['user'] };

    expect(readResult({ content: [text('for you', { annotations }), text('for it')] })).toEqual({
      kind: 'ok',
      output: 'for it',
      media: [],
      forUser: ['for you'],
    });
  });

  it('that is an error has at most 2,000 bytes', () => {
    const read = readResult({ isError: true, content: [text('no '), text('ä'.repeat(5_000))] });

    expect(read.kind === 'error' && read.message.startsWith('no \n\nä')).toBe(true);
    expect(read.kind === 'error' && Buffer.byteLength(read.message)).toBeLessThanOrEqual(2_000);
    expect(readResult({ isError: true })).toMatchObject({ message: 'the server gave no reason' });
  });

  it('of any kind is read', () => {
    fc.assert(
      fc.property(
        fc.anything(),
        fc.array(fc.anything()),
        fc.anything(),
        (answer, content, more) => {
          readResult(answer);
          readQuestions({ inputRequests: more, requestState: answer });
          const read = readResult({ content, structuredContent: more, isError: answer });
          expect(['ok', 'error']).toContain(read.kind);
        },
      ),
    );
  });
});

describe('what a server asks', () => {
  const form = (requestedSchema: unknown, more = {}) => ({
    method: 'elicitation/create',
    params: { mode: 'form', message: 'Why?', requestedSchema, ...more },
  });

  it.each([
    ['a sample of a model', { a: { method: 'sampling/createMessage' } }, /needs sampling/],
    ['an address that is a script', { a: form({}, { mode: 'url', url: 'javascript:1' }) }, /https/],
    [
      'eleven things',
      Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`k${index}`, form({})])),
      /more than 10/,
    ],
  ])('that is %s is not asked', (_name, inputRequests, reason) => {
    expect(readQuestions({ inputRequests })).toEqual({
      kind: 'unfit',
      reason: expect.stringMatching(reason) as string,
    });
  });

  it('with a state of more than 64 KB is not asked', () => {
    expect(readQuestions({ requestState: 'x'.repeat(65_537) })).toMatchObject({ kind: 'unfit' });
  });
});
