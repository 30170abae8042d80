/**
 * Pages: how a long list of JSON items crosses a boundary that only carries small payloads. An item
 * larger than a page is sent as parts of its JSON text.
 * Query results fail above 2 MiB (measured).
 */
import { byteSize, type Json } from '../base/json.ts';
import { clip } from '../text/cut.ts';
import { INLINE_SIZES } from '../base/size-limits.ts';

/** A place in a list: an item, and an offset in its JSON text in UTF-16 code units. */
export interface PagePosition {
  readonly index: number;
  readonly offset: number;
}

/** One page of a list of `Item`s. */
export interface Page<Item extends Json = Json> {
  /** Whole items, from the requested position on. */
  readonly items: readonly Item[];
  /** A part of the JSON text of the item after `items`; `last` if the item ends with it. */
  readonly part?: { readonly text: string; readonly last: boolean };
  /** Where the next page begins; null at the end of the list. */
  readonly next: PagePosition | null;
}

/**
 * The page of `items` that begins at `from`; `from.index` counts from the first of `items`. It has at
 * most `wantedBytes`, and never more than `limit`, and at most `count` items.
 */
export function pageOf<Item extends Json>(
  items: readonly Item[],
  from: PagePosition,
  wantedBytes?: number,
  limit: number = INLINE_SIZES.page,
  count: number = Infinity,
): Page<Item> {
  const maxBytes = Math.min(wantedBytes ?? limit, limit);
  const whole: Item[] = [];
  let bytes = 0;
  for (let index = from.index; index < items.length; index++) {
    const item = items[index] as Item;
    const offset = index === from.index ? from.offset : 0;
    const size = byteSize(item);
    if (whole.length === count) return { items: whole, next: { index, offset } };
    if (offset === 0 && bytes + size <= maxBytes) {
      whole.push(item);
      bytes += size;
    } else if (whole.length > 0) {
      return { items: whole, next: { index, offset } };
    } else {
      return partOf(item, { index, offset }, maxBytes, items.length);
    }
  }
  return { items: whole, next: null };
}

function partOf<Item extends Json>(
  item: Item,
  { index, offset }: PagePosition,
  maxBytes: number,
  total: number,
): Page<Item> {
  const json = JSON.stringify(item);
  // In JSON a code unit takes at most 6 bytes (as an escape), so this many units always fit. A part
  // never ends within a surrogate pair, because half of one is no text that can be sent.
  const rest = json.slice(offset);
  const text = clip(rest, Math.max(1, Math.floor(maxBytes / 6))) || rest.slice(0, 2);
  const end = offset + text.length;
  const last = end === json.length;
  const after = last ? { index: index + 1, offset: 0 } : { index, offset: end };
  const next = after.index < total ? after : null;
  return { items: [], part: { text, last }, next };
}

/** Joins pages; call it with the pages of one list in order. */
export interface PageReader<Item extends Json> {
  /** The items that `page` completed, in order. */
  read(page: Page<Item>): readonly Item[];
}

/** A reader for one list. */
export function createPageReader<Item extends Json>(): PageReader<Item> {
  let open = '';
  return {
    read: (page) => {
      const { part } = page;
      if (part === undefined) return page.items;
      open += part.text;
      if (!part.last) return page.items;
      const item = JSON.parse(open) as Item;
      open = '';
      return [...page.items, item];
    },
  };
}
