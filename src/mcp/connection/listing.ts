/** Reads the whole list of what a server offers, page by page, within bounds. */
import { isPlainObject } from '../../core/base/json.ts';
import { shown } from '../../core/text/shown.ts';
import type { McpConnection } from './connection.ts';

/** Pages of one list; a server whose pages go in circles has no last one. */
const MAX_PAGES = 64;

/** Items of one list. */
const MAX_ITEMS = 1_000;

/** Characters of all items as JSON. */
const MAX_CHARACTERS = 4_194_304;

/** Items of a list, and why there are no more of them. */
export interface ListReading {
  readonly items: readonly unknown[];
  /** Set if something is missing, in words. */
  readonly cut?: string;
  /** How long the server says that the list holds. */
  readonly ttlMs?: number;
}

/** Walks the pages of `method`, whose results have their items under `field`. */
export async function readList(
  connection: McpConnection,
  method: string,
  field: string,
  signal: AbortSignal,
): Promise<ListReading> {
  const items: unknown[] = [];
  const cursors = new Set<string>();
  let characters = 0;
  let ttlMs: number | undefined;
  let cursor: string | undefined;
  for (let page = 1; ; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const answer = await connection.request(method, params, { signal });
    if (typeof answer['ttlMs'] === 'number') ttlMs = Math.min(ttlMs ?? Infinity, answer['ttlMs']);
    const listed: readonly unknown[] = Array.isArray(answer[field]) ? answer[field] : [];
    for (const item of listed) {
      characters += sizeOf(item);
      if (items.length === MAX_ITEMS || characters > MAX_CHARACTERS) {
        const bound = characters > MAX_CHARACTERS ? '4 MB' : `${MAX_ITEMS} items`;
        return reading(items, ttlMs, `the list has more than ${bound}`);
      }
      items.push(item);
    }
    const next = answer['nextCursor'];
    if (typeof next !== 'string') return reading(items, ttlMs);
    if (cursors.has(next)) return reading(items, ttlMs, 'its pages go in circles');
    if (page === MAX_PAGES)
      return reading(items, ttlMs, `the list has more than ${MAX_PAGES} pages`);
    cursors.add(next);
    cursor = next;
  }
}

function reading(items: readonly unknown[], ttlMs?: number, cut?: string): ListReading {
  return {
    items,
    ...(cut === undefined ? undefined : { cut }),
    ...(ttlMs === undefined ? undefined : { ttlMs }),
  };
}

function sizeOf(item: unknown): number {
  if (!isPlainObject(item)) return shown(item).length;
  try {
    return JSON.stringify(item).length;
  } catch {
    return Infinity;
  }
}
