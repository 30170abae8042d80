/**
 * The loop of a fan-out: an agent runs once for each item of a list, and the fan-out itself calls
 * no model. A list of more than `batch` items is split among intermediate runs, each of which is
 * the same fan-out on a part of the list. So no run has more than `batch` children, however many
 * items there are.
 *
 * I1  Values are in the order of the items, whichever ended first.
 * I2  An intermediate run gives one value for each of its items. If it fails itself (its list is
 *     too large, a limit stops it), the fan-out ends whatever `onFailure` says, since no item has
 *     failed. If it alone is canceled, `onFailure` decides, as for an item.
 * I3  Limits end the fan-out too. If a limit on children or depth has no room for all runs, it
 *     ends the fan-out before the first child.
 * I4  Input that arrives meanwhile does not run the items again, unless it interrupts.
 */
import { defined } from '../base/defined.ts';
import { isPlainObject, type Json } from '../base/json.ts';
import type { Task } from '../base/message.ts';
import { stepIn, stepsIn, stopAt } from './child-value.ts';
import { childrenNeeded, inputOfItem, itemsIn, levelsOf, partsOf } from '../start/fan-out-plan.ts';
import { toInternalError } from './turn.ts';
import { stageTask } from './pipeline-state.ts';
import type { SpawnRequest, SpawnResult } from '../children/spawn.ts';
import type { FanOutSpec } from '../contract/spec.ts';
import type { Next, Work } from './work.ts';

/** A child to run, and the items that it is for. */
interface Share {
  readonly request: SpawnRequest;
  readonly count: number;
  /** Whether it is an intermediate run, whose value is a list. */
  readonly isPart: boolean;
}

/** The loop of `fanOut`, which ends in its first iteration unless input has come. */
export function fanOutLoop(fanOut: FanOutSpec): Next {
  return async (work) => {
    try {
      const kept = keptValues(work.state.data);
      if (kept !== null) return { kind: 'end', value: kept };
      const value = await valuesOf(work, fanOut);
      work.setData({ v: 1, value });
      return { kind: 'end', value };
    } catch (error) {
      throw toInternalError(error);
    }
  };
}

/** The values of an earlier iteration, after which input came; null in the first. */
function keptValues(data: Json): Json {
  return isPlainObject(data) && data['v'] === 1 ? (data['value'] ?? null) : null;
}

async function valuesOf(work: Work, fanOut: FanOutSpec): Promise<Json> {
  const { head } = work.state;
  const items = itemsIn(head.context);
  const shares = sharesOf(fanOut, head.spec.name, items, stageTask(work.state));
  await checkRoom(work, items.length, fanOut.batch);
  const requests = shares.map(({ request }) => request);
  if (fanOut.onFailure === 'end') {
    const steps = stepsIn(work, await work.spawnAll(requests));
    return steps.flatMap(({ value }, index) => valuesIn(shares[index], value));
  }
  const results = await work.spawnAll(requests, { onFailure: 'continue' });
  return valuesOrNull(work, shares, results);
}

/** Ends the fan-out when a limit on children or depth has no room for all runs. */
async function checkRoom(work: Work, count: number, batch: number): Promise<void> {
  if (count === 0) return;
  const depth = { [DEPTH]: levelsOf(count, batch) - 1 };
  const full =
    work.run.wouldCross([DEPTH], depth) ??
    (await work.roomForChildren(childrenNeeded(count, batch)));
  if (full !== null) stopAt(work, full);
}

const DEPTH = 'agent:depth';

/** One child for each item; for more than `batch` items, one for each part of the list. */
function sharesOf(
  { agent, batch, model }: FanOutSpec,
  self: string,
  items: readonly Json[],
  task: Task,
): readonly Share[] {
  const chosen = defined({ model });
  if (items.length <= batch) {
    return items.map((item) => {
      const input = { ...inputOfItem(item, task), ...chosen };
      return { request: { agent, input }, count: 1, isPart: false };
    });
  }
  return partsOf(items, batch).map((part) => {
    const input = { task, context: { items: part }, ...chosen };
    return { request: { agent: self, input }, count: part.length, isPart: true };
  });
}

/** The values of a child, one for each of its items. */
function valuesIn(share: Share | undefined, value: Json): readonly Json[] {
  return share?.isPart === true && Array.isArray(value) ? (value as readonly Json[]) : [value];
}

/** The values, with null for each that is missing; throws to end the fan-out at a limit. */
function valuesOrNull(work: Work, shares: readonly Share[], results: readonly SpawnResult[]): Json {
  const failed = results.filter((result) => result.kind !== 'value');
  for (const [index, result] of results.entries()) {
    if (result.kind !== 'value' && isEnd(shares[index], result)) stepIn(work, result);
  }
  const [first] = failed;
  if (first !== undefined) {
    const message = `${failed.length} of ${results.length} children gave no value, null stands for what they were to give. The first: ${first.text}`;
    work.run.record({ type: 'agent:warning', code: 'item_failed', message });
  }
  return results.flatMap((result, index) =>
    result.kind === 'value'
      ? valuesIn(shares[index], result.value)
      : Array.from({ length: shares[index]?.count ?? 1 }, () => null),
  );
}

/** Whether a child without a value ends the fan-out even where items may fail (I2, I3). */
function isEnd(share: Share | undefined, result: SpawnResult): boolean {
  if (result.kind !== 'failed') return result.kind === 'refused';
  const { breach, status } = result.failure;
  return breach !== undefined || (share?.isPart === true && status !== 'canceled');
}
