import { describe, expect, it } from 'vitest';
import { createPageReader, pageOf, type Page } from '../../../src/core/contract/page.ts';

describe('pageOf', () => {
  it.each<{ name: string; items: string[]; maxBytes: number; page: Page }>([
    {
      name: 'the whole of a short list',
      items: ['a', 'b'],
      maxBytes: 6,
      page: { items: ['a', 'b'], next: null },
    },
    {
      name: 'as many whole items as fit',
      items: ['a', 'b', 'c'],
      maxBytes: 6,
      page: { items: ['a', 'b'], next: { index: 2, offset: 0 } },
    },
    { name: 'nothing of an empty list', items: [], maxBytes: 6, page: { items: [], next: null } },
    {
      name: 'a part of an item that is larger than a page',
      items: ['abcdef', 'x'],
      maxBytes: 7,
      page: { items: [], part: { text: '"', last: false }, next: { index: 0, offset: 1 } },
    },
    {
      name: 'whole items first, in front of one that is larger',
      items: ['a', 'abcdef'],
      maxBytes: 7,
      page: { items: ['a'], next: { index: 1, offset: 0 } },
    },
  ])('gives $name', ({ items, maxBytes, page }) => {
    expect(pageOf(items, { index: 0, offset: 0 }, maxBytes)).toEqual(page);
  });

  it('gives the last part of an item, then what is behind it', () => {
    const items = ['abcdef', 'x'];

    expect(pageOf(items, { index: 0, offset: 4 }, 30)).toEqual({
      items: [],
      part: { text: 'def"', last: true },
      next: { index: 1, offset: 0 },
    });
    expect(pageOf(items, { index: 1, offset: 0 }, 30)).toEqual({ items: ['x'], next: null });
  });

  it('gives an empty page behind the end', () => {
    expect(pageOf(['a'], { index: 5, offset: 0 })).toEqual({ items: [], next: null });
  });

  it('holds 448 KB by default', () => {
    const items = Array.from({ length: 500 }, () => 'x'.repeat(1_022));

    expect(pageOf(items, { index: 0, offset: 0 }).items).toHaveLength(448);
  });
});

describe('a page reader', () => {
  it('gives an item once its last part was read', () => {
    const reader = createPageReader();

    const read = [
      reader.read({ items: [], part: { text: '{"a":', last: false }, next: null }),
      reader.read({ items: [], part: { text: '1}', last: true }, next: null }),
      reader.read({ items: ['b'], next: null }),
    ];

    expect(read).toEqual([[], [{ a: 1 }], ['b']]);
  });
});
