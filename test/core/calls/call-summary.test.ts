import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/base/json.ts';
import { utf8Length } from '../../../src/core/base/json.ts';
import { callSummary } from '../../../src/core/calls/call-summary.ts';
import { MAX_SUMMARY_BYTES, summaryLine } from '../../../src/core/text/summary.ts';

describe('a call in one line', () => {
  test.each<{ name: string; args: JsonObject; summary: string }>([
    { name: 'no argument', args: {}, summary: 'lookup()' },
    { name: 'one argument', args: { flight: 'AA100' }, summary: 'lookup(AA100)' },
    {
      name: 'several arguments',
      args: { query: 'green tea', limit: 5, tags: ['a', 'b'] },
      summary: 'lookup(query: green tea, limit: 5, tags: ["a","b"])',
    },
    {
      name: 'line breaks and control characters',
      args: { text: 'one\n\ttwo\u0007\u2028three' },
      summary: 'lookup(one two three)',
    },
    { name: 'a hidden argument', args: { _key: 'k-1', flight: 'AA1' }, summary: 'lookup(AA1)' },
    {
      name: 'a hidden field',
      args: { by: { _key: 'k-1', id: 7, password: 'x' } },
      summary: 'lookup({"id":7})',
    },
    {
      name: 'an argument whose name says that it is secret',
      args: { user: 'ada', password: '1234', apiKey: 'abc' },
      summary: 'lookup(user: ada, password: [redacted], apiKey: [redacted])',
    },
    {
      name: 'a value that looks like a key',
      args: { text: 'use sk-proj-abcdefgh12345 now' },
      summary: 'lookup(use [redacted] now)',
    },
    {
      name: 'a hidden value under another name',
      args: { note: 'The code is blue-77-fox.' },
      summary: 'lookup(The code is <hidden>.)',
    },
    { name: 'half of a pair', args: { text: 'x \ud83d' }, summary: 'lookup(x \ufffd)' },
  ])('$name', ({ args, summary }) => {
    expect(callSummary('lookup', args, ['blue-77-fox'])).toBe(summary);
  });

  test('is short and well-formed for any arguments', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 64 }),
        fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()),
        (tool, args) => {
          const summary = callSummary(tool, args as JsonObject, []);
          expect(utf8Length(summary)).toBeLessThanOrEqual(MAX_SUMMARY_BYTES);
          expect(summary.isWellFormed()).toBe(true);
          expect(summary).not.toMatch(/[\n\r\p{Cc}]/u);
        },
      ),
    );
  });

  test('a long text is cut at a whole character', () => {
    const line = summaryLine('茶'.repeat(5_000));

    expect(utf8Length(line)).toBeLessThanOrEqual(MAX_SUMMARY_BYTES);
    expect(line).toBe(`${'茶'.repeat(52)}…`);
  });
});
