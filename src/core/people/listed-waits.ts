/**
 * What a run waits for, as its memo shows it: its oldest items, shortened.
 *
 * I1  All items of a memo have at most {@link MAX_LISTED_BYTES}, whatever people are asked.
 * I2  Hidden arguments are left out: everyone who may list runs reads a memo.
 */
import { defined } from '../base/defined.ts';
import { byteSize, type Json, type JsonObject } from '../base/json.ts';
import type { PendingItem } from '../contract/messages.ts';
import type { WaitingItem } from '../contract/pending.ts';
import { isHidden } from '../contract/signature.ts';
import { cut } from '../text/cut.ts';
import { shownItem, type ShownItem } from '../run/pending-items.ts';

/** An item as the memo has it: short, and without the agent, which the memo has once. */
export type ListedWait = ShownItem & {
  readonly path: string;
  /** Set if something is left out or cut; the run has it whole. */
  readonly isCut?: true;
};

/** What waits in a run, as its memo has it under {@link WAITS_KEY}. */
export interface ListedWaits {
  /** Oldest first. */
  readonly items: readonly ListedWait[];
  /** How many others wait, for which there is no room. */
  readonly more: number;
}

/** The key of the memo; null, or absent: the memo does not say what waits. */
export const WAITS_KEY = 'waits';

/** UTF-8 bytes of JSON of all items together, of one item, and of parts of an item that is cut. */
const MAX_LISTED_BYTES = 8_192;
const MAX_ITEM_BYTES = 2_048;
const MAX_TEXT_BYTES = 1_024;
const MAX_OPTIONS_BYTES = 512;
const MAX_VALUE_BYTES = 200;

/** The most items of a memo. */
const MAX_LISTED = 16;

/** The first of `items`, as the memo of a run on `path` has them. */
export function listWaits(items: readonly WaitingItem[], path: string): ListedWaits {
  const fitting: ListedWait[] = [];
  let bytes = 0;
  for (const item of items.slice(0, MAX_LISTED)) {
    const listed = listedWait(item, path);
    bytes += byteSize(listed as unknown as Json);
    if (bytes > MAX_LISTED_BYTES) break;
    fitting.push(listed);
  }
  return { items: fitting, more: items.length - fitting.length };
}

/** UTF-8 bytes of JSON of what a child reports to its parent: it goes in one message with others. */
const MAX_REPORTED_BYTES = 65_536;

/**
 * `items` as a child reports them: those that do not fit together are shortened, and the newest are left
 * out if that is not enough. A client asks the child itself for the whole.
 */
export function reportedItems(items: readonly PendingItem[]): readonly PendingItem[] {
  const reported: PendingItem[] = [];
  let left = MAX_REPORTED_BYTES;
  for (const item of items) {
    const size = byteSize(item as unknown as Json);
    const fitting = size <= left - MAX_ITEM_BYTES ? item : shortenedPending(item);
    left -= fitting === item ? size : byteSize(fitting as unknown as Json);
    if (left < 0) break;
    reported.push(fitting);
  }
  return reported;
}

function shortenedPending(item: PendingItem): PendingItem {
  if (item.kind === 'pause') return item;
  const { agent, path, run } = item;
  return { ...shortened(item), agent, path, ...defined({ run }) };
}

function listedWait(item: WaitingItem, path: string): ListedWait {
  const whole = shownItem(item);
  const shown = 'args' in whole ? { ...whole, args: withoutHidden(whole.args) } : whole;
  const hides = 'args' in whole && Object.keys(whole.args).some(isHidden);
  const isLong = byteSize(shown as unknown as Json) > MAX_ITEM_BYTES;
  const isCut = isLong || hides ? (true as const) : undefined;
  return { ...(isLong ? shortened(shown) : shown), path, ...defined({ isCut }) };
}

/** The fields by which a person knows what is asked. */
function shortened(item: ShownItem): ShownItem {
  const { id, since, deadline } = item;
  const base = defined({ id, since, deadline });
  if (item.kind === 'question') {
    const { kind, question, options, free } = item;
    const fits = options === undefined || byteSize(options) <= MAX_OPTIONS_BYTES;
    const shown = fits ? options : undefined;
    return {
      ...base,
      ...defined({ kind, question: cut(question, MAX_TEXT_BYTES), options: shown, free }),
    };
  }
  const { kind, tool, args } = item;
  return { ...base, kind, tool, args: shortArguments(args) };
}

function shortArguments(args: JsonObject): JsonObject {
  const short: [string, Json][] = [];
  let bytes = 0;
  for (const [name, value] of Object.entries(args)) {
    const fits = byteSize(value) <= MAX_VALUE_BYTES;
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const shown = fits ? value : cut(text, MAX_VALUE_BYTES);
    bytes += byteSize(name) + byteSize(shown);
    if (bytes > MAX_TEXT_BYTES) break;
    short.push([name, shown]);
  }
  return Object.fromEntries(short);
}

function withoutHidden(args: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(args).filter(([name]) => !isHidden(name)));
}
