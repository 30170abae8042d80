import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { fitValue } from '../../src/tools/fit-value.ts';
import { readSchema } from '../../src/define/schema/value-schema.ts';
import { cutOff } from '../../src/tools/cut-off.ts';

/** Backtracks for hours on V8's engine. */
const hostile = /^([a-z]+-?)+$/;
const text = `${'a'.repeat(45)}!`;

describe('the check of a schema library', () => {
  test.each([
    ['in a pattern, which fails first', z.string().regex(hostile), 'expected text matching'],
    [
      'beside a format, where only the library has it',
      z.email({ pattern: hostile }),
      'expected a email',
    ],
    ['in its own function', z.string().refine((it) => hostile.test(it)), 'takes too much work'],
    [
      'beside a format that the text fits',
      z.string().meta({ format: 'binary' }).regex(hostile),
      'takes too much work',
    ],
  ])('cannot hold the worker by an expression %s', async (_place, schema, words) => {
    const reading = readSchema(z.object({ a: schema }));
    if (reading.kind === 'problem') throw new Error(reading.advice);

    const fit = await fitValue(reading.schema, { a: text });

    expect(fit).toEqual({ kind: 'unfit', lines: [expect.stringContaining(words)] });
  });

  test('is not cut off when it waits', async () => {
    const later = z.string().refine(async () => {
      await new Promise((resolve) => void setTimeout(resolve, 1));
      return true;
    });
    const reading = readSchema(later, { type: 'string' });
    if (reading.kind === 'problem') throw new Error(reading.advice);

    expect(await fitValue(reading.schema, text)).toEqual({ kind: 'fits', value: text });
  });
});

describe('a cut', () => {
  test('does not take a machine that is slow for code that is', () => {
    const clock = new Int32Array(new SharedArrayBuffer(4));
    let tries = 0;
    const work = (): number => {
      tries += 1;
      // The thread gets no time, as on a machine that pauses or has much else to do.
      if (tries <= 3) Atomics.wait(clock, 0, 0, 600);
      return tries;
    };

    expect(cutOff(work)).toEqual({ result: 4 });
  });

  test('ends code that never gets any time', () => {
    const clock = new Int32Array(new SharedArrayBuffer(4));
    const start = performance.now();

    expect(cutOff(() => Atomics.wait(clock, 0, 0))).toBeUndefined();
    expect(performance.now() - start).toBeGreaterThan(3_900);
  });

  test('lets errors through, nests, and leaves nothing behind', () => {
    const before = Object.getOwnPropertySymbols(globalThis).length;

    expect(() =>
      cutOff(() => {
        throw new TypeError('mine');
      }),
    ).toThrow('mine');
    expect(cutOff(() => cutOff(() => 5))).toEqual({ result: { result: 5 } });
    expect(cutOff(() => hostile.test(text))).toBeUndefined();
    expect(Object.getOwnPropertySymbols(globalThis)).toHaveLength(before);
  });
});
