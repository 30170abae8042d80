/**
 * A tree of runs: reads all of its runs, finds one by its path, and sends messages to all of them.
 *
 * I1  Runs are queried a few at a time, because the service rejects a burst of queries.
 * I2  A tree changes while it is read. Each run is shown as of the moment of its own query, and a
 *     run is queried before its children.
 */
import { notAnAgent } from './connection/service-calls.ts';
import type { Client } from '@temporalio/client';
import type { AgentEvent } from '../core/contract/events.ts';
import { isUsageError, UsageError } from '../core/base/usage-error.ts';
import { inTurns } from './connection/in-turns.ts';
import { findRun, type KnownRun, type TreeRun } from './tree-run.ts';
import { defined } from '../core/base/defined.ts';
import { idBelow } from '../core/base/ids.ts';
import { callsIn } from '../core/tree/calls.ts';
import type { AgentInput } from '../core/contract/input.ts';
import { isPlainObject } from '../core/base/json.ts';
import type { TranscriptHead } from '../core/contract/transcript.ts';
import { describeRun, readFirstEvent } from './connection/own-run.ts';

/** Whether a call concerns the run alone, which is the default, or all runs below it too. */
export interface TreeOption {
  readonly tree?: boolean;
}

/** How much of a tree is read. */
export interface TreeDepth {
  /** Levels below the run, from 0; default: all. */
  readonly depth?: number;
}

/** The runs of the tree from run `id` down, each before its children. */
export async function readTree(
  client: Client,
  id: string,
  { depth = Infinity }: TreeDepth = {},
): Promise<readonly TreeRun[]> {
  const found = new Map<string, TreeRun>();
  let level: readonly KnownRun[] = [{ id }];
  for (let below = 0; level.length > 0 && below <= depth; below++) {
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

/** The calls that lead from a run down to another: `1.2`, `1.2/3.spawn-1`, `1.p2/0/1`. */
const CALLS = /^\d+\.[^/]+(\/(\d+\.[^/]+|\d+))*$/;

/**
 * The id of the run in the tree of `id` that `path` identifies: by its calls, by its id, or by its
 * path as trees and pending items show it.
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
  if (CALLS.test(calls)) return callsIn(calls).reduce(idBelow, id);
  const runs = await tree();
  const fitting = runs.filter((run) => run.path === path || run.id === path).map((run) => run.id);
  const [only] = fitting;
  if (only !== undefined && fitting.length === 1) return only;
  const got =
    only === undefined
      ? `\`${path}\`, which no run has. Look at the tree for the paths that there are`
      : `\`${path}\`, which ${fitting.length} runs have. Name one by its calls: ${fitting
          .map((address) => (address.startsWith(`${id}/`) ? address.slice(id.length + 1) : address))
          .join(', ')}`;
  throw new UsageError('no_such_path', `Expected the path of one run below \`${id}\`, got ${got}.`);
}

/** How many times a tree is read again to find runs that have begun since. */
const MAX_READS = 5;

/**
 * Calls `work` for all live runs below `id`. Reads the tree again to find runs that began
 * meanwhile. Skips runs that end meanwhile.
 *
 * @throws the first error of `work`, after it was called for all runs.
 */
export async function withAllBelow(
  id: string,
  tree: () => Promise<readonly TreeRun[]>,
  work: (runId: string) => Promise<unknown>,
): Promise<void> {
  const done = new Set([id]);
  const failures: unknown[] = [];
  for (let read = 0; read < MAX_READS; read++) {
    const runs = await tree();
    const fresh = runs.filter((run) => run.state !== 'ended' && !done.has(run.id));
    if (fresh.length === 0) break;
    await inTurns(fresh, async (run) => {
      done.add(run.id);
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
 * The events of several runs as one list, by time. At equal times, the order of `lists` decides,
 * and the events of one run keep their order.
 */
export function mergeEvents(lists: readonly (readonly AgentEvent[])[]): readonly AgentEvent[] {
  return lists
    .flatMap((events, list) => events.map((event) => ({ event, list })))
    .toSorted((a, b) => a.event.at - b.event.at || a.list - b.list || a.event.seq - b.event.seq)
    .map(({ event }) => event);
}

/**
 * What a run was started with. `fork`, `model` and `limits` are absent, too, if the service has
 * forgotten the first link.
 */
export type RunStart = Pick<
  AgentInput,
  'agent' | 'task' | 'context' | 'history' | 'messageId' | 'fork' | 'model' | 'limits'
>;

/** The start of run `id`. If the service dropped the first link, a later link has the same data. */
export async function readStartedWith(client: Client, id: string): Promise<RunStart> {
  const { runId } = await describeRun(client, id);
  const { payload, firstRunId } = await readFirstEvent(client, id, runId);
  if (firstRunId === runId) return startOf(id, payload);
  const first = await readFirstEvent(client, id, firstRunId).catch(() => null);
  return startOf(id, first === null ? payload : first.payload);
}

function startOf(id: string, payload: unknown): RunStart {
  if (!isPlainObject(payload)) throw notAnAgent(id);
  if (payload['kind'] !== 'handover') return payload as unknown as AgentInput;
  const { head } = payload['state'] as { readonly head: TranscriptHead };
  const { spec, task, context, history } = head;
  return defined({ agent: spec.name, task, context, history });
}
