/**
 * What waits in a run and below it. A parent knows of its children what they last reported, shortened if
 * it is long, so what has just been answered below may still be in its list: those below are asked
 * themselves.
 */
import type { Client } from '@temporalio/client';
import { defined } from '../../core/base/defined.ts';
import type { PendingItem } from '../../core/contract/messages.ts';
import { placeOfItem } from '../../core/tree/calls.ts';
import { pendingQuery } from '../../workflows/messages.ts';
import { inTurns } from '../connection/in-turns.ts';
import { askOpen, queryOpen } from './ended-run.ts';

/** How long a run below may take to answer: without it, its parent's word counts. */
const BELOW_MS = 2_000;

/** What waits for people in run `id` and below it; nothing if it has ended. */
export async function readPending(client: Client, id: string): Promise<readonly PendingItem[]> {
  const open = await queryOpen(client, id, (handle) => handle.query(pendingQuery));
  return stillOpen(client, open?.answer ?? []);
}

/** Those of `items` that their own runs still wait for, as these have them. */
export async function stillOpen(
  client: Client,
  items: readonly PendingItem[],
): Promise<readonly PendingItem[]> {
  const runs = [...new Set(items.flatMap(({ run }) => run ?? []))];
  const asked = await inTurns(runs, async (run) => [run, await itemsIn(client, run)] as const);
  const known = new Map(asked);
  return items.flatMap((item) => {
    const { run, id } = item;
    const own = run === undefined ? null : known.get(run);
    if (own == null) return [item];
    const whole = own.find((one) => one.id === placeOfItem(id).id);
    return whole === undefined ? [] : [{ ...whole, id, ...defined({ run }) }];
  });
}

/** What waits in the run itself; null: it does not answer. */
async function itemsIn(client: Client, run: string): Promise<readonly PendingItem[] | null> {
  try {
    const open = await askOpen(client, run, (handle) => handle.query(pendingQuery), {
      withinMs: BELOW_MS,
    });
    return open?.answer ?? [];
  } catch {
    return null;
  }
}
