import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wellFormed, wellFormedJson, wellFormedText } from '../../../src/core/text/well-formed.ts';
import {
  createPageReader,
  pageOf,
  type Page,
  type PagePosition,
} from '../../../src/core/contract/page.ts';

/** Any text, halves of surrogate pairs among them. */
const anyText = fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map(unitOf) });

function unitOf(code: number): string {
  // A third of all units are halves.
  return String.fromCharCode(code % 3 === 0 ? 0xd800 + (code % 0x800) : code);
}

describe('well-formed text [R9]', () => {
  it.each([
    ['x \ud83d', 'x \ufffd'],
    ['\ude00 x', '\ufffd x'],
    ['\ude00\ud83d', '\ufffd\ufffd'],
    ['😀', '😀'],
    ['plain é', 'plain é'],
  ])('mends %j to %j', (text, mended) => {
    expect(wellFormedText(text)).toBe(mended);
    expect(wellFormed({ [text]: [text, { a: text }] })).toEqual({
      [mended]: [mended, { a: mended }],
    });
  });

  it('mends JSON as it mends the value', () => {
    fc.assert(
      fc.property(fc.json({ stringUnit: 'binary' }), fc.array(anyText), (json, texts) => {
        const value: unknown = [JSON.parse(json), texts, `\\${texts[0] ?? ''}`];

        expect(JSON.parse(wellFormedJson(JSON.stringify(value)))).toEqual(wellFormed(value));
      }),
    );
  });

  it('leaves pairs that another writer escaped', () => {
    const json = '["\\ud83d\\ude00", "\\uD83D", "\\\\ud83d", "\\uDE00\\uD83D"]';

    expect(JSON.parse(wellFormedJson(json))).toEqual(['😀', '\ufffd', '\\ud83d', '\ufffd\ufffd']);
  });

  it('copies nothing that needs no mending', () => {
    const value = { a: ['😀', { b: 1 }], bytes: new Uint8Array([1]) };

    expect(wellFormed(value)).toBe(value);
  });

  it('never parts a pair between two pages', () => {
    const list = [`a${'😀'.repeat(40)}`, 'é', '😀'.repeat(9)];
    for (const maxBytes of [1, 6, 7, 12, 13, 20, 31]) {
      const reader = createPageReader<string>();
      const items: string[] = [];
      let from: PagePosition | null = { index: 0, offset: 0 };
      while (from !== null) {
        const page: Page<string> = pageOf(list, from, maxBytes);
        items.push(...reader.read(wellFormed(page)));
        from = page.next;
      }
      expect(items).toEqual(list);
    }
  });
});
