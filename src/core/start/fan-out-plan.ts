/** How the items of a fan-out become children: of one run, or of runs in between. Pure. */
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import type { Task } from '../base/message.ts';
import type { SpawnInput } from '../children/spawn.ts';

/** `context` with its items under their name: a list that a stage or a run gave came as `input`. */
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
 * `items` in even parts, in their order, one for each child of a run that may have `batch`, from 2 up.
 * No more parts than it takes: as few runs in between as there can be.
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
 * How many children the limits on them must have room for, so that a fan-out of `count` items ends.
 * Above those that run there is one share for the run that gives shares away: children that start
 * together get even ones (`reserve` in `tree/ledger.ts`), and the last must not starve.
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
 * What the run of one item is started with. Text is its task, an object is what a tool of its agent
 * would be called with (`task`, and the context), anything else its `input`. The task of the fan-out
 * stands before its own.
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
