import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sharedByteSize } from '../../../src/core/base/byte-sizes.ts';
import { byteSize, type Json } from '../../../src/core/base/json.ts';

describe('sharedByteSize', () => {
  it('is the size of the compact JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        // JSON has no -0, which fast-check makes.
        const json = JSON.parse(JSON.stringify(value)) as Json;
        expect(sharedByteSize(json)).toBe(byteSize(json));
        expect(sharedByteSize([json, { json }])).toBe(byteSize([json, { json }]));
      }),
    );
  });

  it('leaves out fields without a value, as JSON does', () => {
    const value = { a: 1, b: undefined, c: [{ d: undefined }] } as unknown as Json;

    expect(sharedByteSize(value)).toBe(byteSize(value));
  });

  it('[R13] measures each part once, however often a value around it changes', () => {
    let reads = 0;
    const entry = new Proxy({ text: 'x' }, { ownKeys: (it) => (reads++, Reflect.ownKeys(it)) });
    const scratchpad = [entry];
    for (let seq = 0; seq < 50; seq += 1) sharedByteSize({ state: { seq, scratchpad } } as Json);
    sharedByteSize({ state: { scratchpad: [...scratchpad, { text: 'y' }] } } as Json);

    expect(reads).toBe(1);
  });
});
