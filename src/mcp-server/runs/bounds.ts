/**
 * What a result may hold of a run. Hosts put results into prompts: so it is short, and the values of
 * hidden fields are left out.
 */
import { byteSize, type Json } from '../../core/base/json.ts';
import { maskHidden } from '../../core/children/run-child.ts';
import { cut } from '../../core/text/cut.ts';

/** Bytes of JSON of an answer, and of the details of a Step. */
export const MAX_VALUE_BYTES = 65_536;

/** Bytes of JSON of one item of a list: an event, a question, a run. */
const MAX_ITEM_BYTES = 8_192;

/** Bytes of JSON of a list. */
const MAX_LIST_BYTES = 98_304;

/** `value`, or the beginning of its JSON as a text that says how much is missing. */
function shortened(value: Json, maxBytes: number): Json {
  if (byteSize(value) <= maxBytes) return value;
  return cut(typeof value === 'string' ? value : JSON.stringify(value), maxBytes);
}

/** A value of a run, as a model may see it; a large one is a text of its beginning. */
export function bounded(value: Json, maxBytes: number): Json {
  return shortened(maskHidden(value), maxBytes);
}

/** The first items of a list, and how many are left out. */
export interface BoundedList {
  readonly items: readonly Json[];
  /** Absent: none. */
  readonly leftOut?: number;
}

/** At most `maxItems` values of a run, and only as many as fit. */
export function boundedList(items: readonly Json[], maxItems: number): BoundedList {
  return shortList(items.slice(0, maxItems).map(maskHidden), items.length, maxItems);
}

/** As {@link boundedList}, for definitions: names that begin with `_` stand for no values. */
export function boundedDefinitions(items: readonly Json[], maxItems: number): BoundedList {
  return shortList(items, items.length, maxItems);
}

function shortList(items: readonly Json[], total: number, maxItems: number): BoundedList {
  const shown: Json[] = [];
  let bytes = 0;
  for (const item of items.slice(0, maxItems)) {
    const small = shortened(item, MAX_ITEM_BYTES);
    bytes += byteSize(small);
    if (bytes > MAX_LIST_BYTES) break;
    shown.push(small);
  }
  const leftOut = total - shown.length;
  return leftOut === 0 ? { items: shown } : { items: shown, leftOut };
}
