/** How the items of a fan-out become children: of one run, or of intermediate runs. Pure. */
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import type { Task } from '../base/message.ts';
import type { SpawnInput } from '../children/spawn.ts';

/**
 * `context` with its items under `items`: the list that a stage or a run passed on is under
 * `input`.
 */
export function withItems(context: JsonObject | undefined): JsonObject | undefined {
  const { items, input } = context ?? {};
  return items === undefined && Array.isArray(input) ? { items: input } : context;
}

/** The items of a context that was checked. */
export function itemsIn(context: JsonObject | undefined): readonly Json[] {
  const { items } = context ?? {};
  return Array.isArray(items) ? items : [];
}

/**
 * `items` in even parts, in order, one for each child of a run that may have `batch` children (2 or
 * more). There are as few parts as possible, and so as few intermediate runs.
 */
export function partsOf<Item>(items: readonly Item[], batch: number): readonly (readonly Item[])[] {
  const count = partCount(items.length, batch);
  return Array.from({ length: count }, (_, index) =>
    items.slice(
      Math.floor((index * items.length) / count),
      Math.floor(((index + 1) * items.length) / count),
    ),
  );
}

/**
 * How many children the limits on them must have room for, so that a fan-out of `count` items can
 * finish. Each level of intermediate runs needs one share more than it has runs: children that
 * start together get even shares, and their parent keeps one (`reserve` in `tree/ledger.ts`).
 */
export function childrenNeeded(count: number, batch: number): number {
  if (count <= batch) return count;
  const parts = partCount(count, batch);
  return parts + (parts + 1) * childrenNeeded(Math.ceil(count / parts), batch);
}

/** How many levels of runs a fan-out of `count` items has below it, from 1 up. */
export function levelsOf(count: number, batch: number): number {
  return count <= batch ? 1 : 1 + levelsOf(Math.ceil(count / partCount(count, batch)), batch);
}

function partCount(count: number, batch: number): number {
  return Math.min(batch, Math.ceil(count / batch));
}

/**
 * The input of the run of one item. Text is its task. An object has the arguments that a tool for
 * its agent would get: `task`, and the context. Any other value becomes `input`. The task of the
 * fan-out comes before that of the item.
 */
export function inputOfItem(item: Json, shared: Task): SpawnInput {
  if (typeof item === 'string') return { task: joined(shared, item) };
  if (!isJsonObject(item)) return { task: shared, context: { input: item } };
  const { task, ...context } = item;
  return typeof task === 'string'
    ? { task: joined(shared, task), context }
    : { task: shared, context: item };
}

function joined(shared: Task, own: string): Task {
  const text = [shared.text, own].filter((part) => part.trim() !== '').join('\n\n');
  return { ...shared, text };
}
