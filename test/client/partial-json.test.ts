import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createPartialReader, partialJson } from '../../src/client/streaming/partial-json.ts';
import type { Json, JsonObject } from '../../src/core/base/json.ts';

describe('the value of a JSON text that is being written', () => {
  test.each<[string, Json | undefined]>([
    ['', undefined],
    ['Well', undefined],
    ['Well, {"a": 1}', undefined],
    ['{', {}],
    ['{"a', {}],
    ['{"a"', {}],
    ['{"a":', {}],
    ['{"a": "x', { a: 'x' }],
    ['{"a": "x\\', { a: 'x' }],
    ['{"a": "x\\u00e', { a: 'x' }],
    ['{"a": 1', {}],
    ['{"a": 1,', { a: 1 }],
    ['{"a": tru', {}],
    ['{"a": true, "b": [1, 2', { a: true, b: [1] }],
    ['{"a": [{"b": "c"}, {"d', { a: [{ b: 'c' }, {}] }],
    ['```json\n{"a": "x', { a: 'x' }],
    ['{"a": 1}\nmore', { a: 1 }],
    ['{"a": ]', undefined],
  ])('%j is %j', (text, value) => {
    expect(partialJson(text)).toEqual(value);
  });

  test('never throws, grows to the whole value, and is never more than it', () => {
    const whole = fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue()));
    fc.assert(
      fc.property(whole, fc.boolean(), (value, isWide) => {
        const text = JSON.stringify(value, null, isWide ? 2 : 0);
        const last = JSON.parse(text) as Json;
        for (let end = 0; end <= text.length; end++) {
          const part = partialJson(text.slice(0, end));
          if (part !== undefined) expect(isPart(part, last)).toBe(true);
        }
        expect(partialJson(text)).toEqual(last);
      }),
      { numRuns: 200 },
    );
    fc.assert(fc.property(fc.string(), (text) => void partialJson(`{${text}`)));
  });

  test('is read in time that grows with the text', () => {
    const reader = createPartialReader();
    let reads = 0;
    for (let at = 0; at < 300_000; at++) {
      if (reader.add(at === 0 ? '["' : 'x') !== undefined) reads += 1;
    }

    expect(reads).toBeGreaterThan(50);
    expect(reads).toBeLessThan(250);
  });
});

/** Whether `part` may be what is there of `whole`. */
function isPart(part: Json, whole: Json): boolean {
  if (typeof part === 'string') return typeof whole === 'string' && whole.startsWith(part);
  if (Array.isArray(part)) {
    return Array.isArray(whole) && part.every((item, at) => isPart(item, whole[at] ?? null));
  }
  if (typeof part !== 'object' || part === null) return part === whole;
  if (typeof whole !== 'object' || whole === null || Array.isArray(whole)) return false;
  const fields = whole as JsonObject;
  return Object.entries(part).every(([key, item]) => isPart(item, fields[key] ?? null));
}
