/**
 * A tree of runs as one thing: all of its runs, one of them by its path, and what is said to all.
 *
 * I1  Runs are asked a few at a time: the service sheds a burst of queries.
 * I2  A tree changes while it is read: what is shown is each run at a moment of its own, a run before
 *     those that it has started.
 */
import type { Client } from '@temporalio/client';
import type { AgentEvent } from '../core/contract/events.ts';
import { isUsageError, UsageError } from '../core/base/usage-error.ts';
import { inTurns } from './in-turns.ts';
import { findRun, type KnownRun, type TreeRun } from './tree-run.ts';

/** Whether a message or a list is for a run alone, which is the default, or for all below it too. */
export interface TreeOption {
  readonly tree?: boolean;
}

/** All runs of the tree from run `id` down, each before those that it has started. */
export async function readTree(client: Client, id: string): Promise<readonly TreeRun[]> {
  const found = new Map<string, TreeRun>();
  let level: readonly KnownRun[] = [{ id }];
  while (level.length > 0) {
    const runs = await inTurns(level, (known) => findRun(client, known));
    for (const { run } of runs) found.set(run.id, run);
    level = runs.flatMap(({ below }) => below).filter((known) => !found.has(known.id));
  }
  return inTreeOrder(found, id);
}

function inTreeOrder(found: ReadonlyMap<string, TreeRun>, id: string): readonly TreeRun[] {
  const run = found.get(id);
  return run === undefined
    ? []
    : [run, ...run.children.flatMap((child) => inTreeOrder(found, child))];
}

/** Calls that lead from a run down to another: `1.2`, `1.2/3.spawn-1`, `1.p2/0/1`. */
const CALLS = /^\d+\.[^/]+(\/(\d+\.[^/]+|\d+))*$/;

/**
 * The address of the run of the tree of `id` that `path` names: by its calls, by its own address, or by
 * its path as trees and pending items show it.
 *
 * @throws UsageError `no_such_path` when no run has the path, or several have.
 */
export async function addressBelow(
  id: string,
  path: string,
  tree: () => Promise<readonly TreeRun[]>,
): Promise<string> {
  if (path === id) return id;
  const calls = path.startsWith(`${id}/`) ? path.slice(id.length + 1) : path;
  if (CALLS.test(calls)) return `${id}/${calls}`;
  const runs = await tree();
  const fitting = runs.filter((run) => run.path === path).map((run) => run.id);
  const [only] = fitting;
  if (only !== undefined && fitting.length === 1) return only;
  const got =
    only === undefined
      ? `\`${path}\`, which no run has. Look at the tree for the paths that there are`
      : `\`${path}\`, which ${fitting.length} runs have. Name one by its calls: ${fitting
          .map((address) => address.slice(id.length + 1))
          .join(', ')}`;
  throw new UsageError('no_such_path', `Expected the path of one run below \`${id}\`, got ${got}.`);
}

/** How often a tree is looked at for runs that have begun since the last look. */
const LOOKS = 5;

/**
 * Does `work` to all runs below `id` that are alive, those that begin meanwhile included, as far as
 * they are found. A run that ends meanwhile is passed over.
 *
 * @throws what the first run gave that failed, after all others were told.
 */
export async function withAllBelow(
  id: string,
  tree: () => Promise<readonly TreeRun[]>,
  work: (runId: string) => Promise<unknown>,
): Promise<void> {
  const told = new Set([id]);
  const failures: unknown[] = [];
  for (let look = 0; look < LOOKS; look++) {
    const runs = await tree();
    const fresh = runs.filter((run) => run.state !== 'ended' && !told.has(run.id));
    if (fresh.length === 0) break;
    await inTurns(fresh, async (run) => {
      told.add(run.id);
      try {
        await work(run.id);
      } catch (error) {
        if (!isUsageError(error) || error.code !== 'run_ended') failures.push(error);
      }
    });
  }
  if (failures.length > 0) throw failures[0];
}

/**
 * The events of several runs as one list: by time, those of one run in their order. Of equal times the
 * run that comes first in `lists`.
 */
export function mergeEvents(lists: readonly (readonly AgentEvent[])[]): readonly AgentEvent[] {
  return lists
    .flatMap((events, place) => events.map((event) => ({ event, place })))
    .toSorted((a, b) => a.event.at - b.event.at || a.place - b.place || a.event.seq - b.event.seq)
    .map(({ event }) => event);
}
