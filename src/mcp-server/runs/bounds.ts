/** How much a result may hold: hosts put results into prompts, and a run may hold megabytes. */
import { byteSize, type Json } from '../../core/base/json.ts';
import { cut } from '../../core/text/cut.ts';

/** Bytes of JSON of an answer, and of the details of a Step. */
export const MAX_VALUE_BYTES = 65_536;

/** Bytes of JSON of one item of a list: an event, a question, a run. */
const MAX_ITEM_BYTES = 8_192;

/** Bytes of JSON of a list. */
const MAX_LIST_BYTES = 98_304;

/** `value`, or the beginning of its JSON as a text that says how much is missing. */
export function bounded(value: Json, maxBytes: number): Json {
  if (byteSize(value) <= maxBytes) return value;
  return cut(typeof value === 'string' ? value : JSON.stringify(value), maxBytes);
}

/** The first items of a list, and how many are left out. */
export interface BoundedList {
  readonly items: readonly Json[];
  /** Absent: none. */
  readonly leftOut?: number;
}

/** At most `maxItems` of `items`, and only as many as fit; a large one is a text of its beginning. */
export function boundedList(items: readonly Json[], maxItems: number): BoundedList {
  const shown: Json[] = [];
  let bytes = 0;
  for (const item of items.slice(0, maxItems)) {
    const small = bounded(item, MAX_ITEM_BYTES);
    bytes += byteSize(small);
    if (bytes > MAX_LIST_BYTES) break;
    shown.push(small);
  }
  const leftOut = items.length - shown.length;
  return leftOut === 0 ? { items: shown } : { items: shown, leftOut };
}
