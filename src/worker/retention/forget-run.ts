/**
 * Deletes a run that has ended, and all runs below it: histories, archived pages and blobs.
 *
 * I1  Nothing is deleted while a run of the tree, or one above it, is open: a run replays from blobs of
 *     the runs below it. The service is asked about each of them, because its list lags behind.
 * I2  Histories go last, so that what was interrupted can be repeated.
 * I3  Nothing is deleted while the service has a fork that shows a run of the tree as its beginning.
 */
import type { Client } from '@temporalio/client';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { belowOf, headAbove } from '../../core/base/ids.ts';
import { UsageError } from '../../core/base/usage-error.ts';
import { OWN_WORKFLOWS } from './own-workflows.ts';
import { refuseForeign } from '../../client/connection/own-run.ts';
import { quoted } from '../../client/connection/list-queries.ts';
import { isNotFound } from '../../client/connection/service-errors.ts';
import type { BlobStore } from '../../protection/blobs/blob-store.ts';
import { selfAndAbove } from '../../protection/blobs/collect-blobs.ts';
import { archivedRuns, type ArchivedRun } from '../files/archived-runs.ts';
import { archiveFolderOf } from '../../client/reading/archive-reader.ts';
import { forkKeeping } from './kept-by-fork.ts';
import { scheduleKeeping } from './kept-by-schedule.ts';
import { knownRuns } from './known-runs.ts';
import { checkOwner } from './store-owner.ts';

/** Where the data of a run lies. */
export interface RunPlaces {
  readonly client: Client;
  readonly archiveDir: string;
  readonly blobs: BlobStore | undefined;
}

/** What was deleted. */
export interface Forgotten {
  /** Ids of the runs, callbacks included. */
  readonly runs: readonly string[];
  /** Executions whose history was deleted. */
  readonly executions: number;
  readonly blobs: number;
}

/**
 * Deletes run `id` and its tree.
 *
 * @throws UsageError `run_kept` if a fork needs one of them, or if there is a blob store and a schedule
 * needs the Step of `id`; `run_open` if one of them, or a run above `id`, has not ended;
 * `run_not_found` if there is nothing to delete, `not_an_agent`.
 */
export async function forgetRun(
  { client, archiveDir, blobs }: RunPlaces,
  id: string,
): Promise<Forgotten> {
  const { namespace } = client.options;
  if (blobs !== undefined) await checkOwner(client.workflowService, namespace, blobs);
  await refuseForeign(client, id);
  const executions: { readonly workflowId: string; readonly runId: string }[] = [];
  const tree = `${OWN_WORKFLOWS} AND (WorkflowId = ${quoted(id)} OR WorkflowId STARTS_WITH ${quoted(belowOf(id))} OR RootWorkflowId = ${quoted(id)})`;
  for await (const { workflowId, runId } of client.workflow.list({ query: tree })) {
    executions.push({ workflowId, runId });
  }
  const runs = [...new Set([...executions.map(({ workflowId }) => workflowId), id])];
  await checkEnded(client, runs, id);
  if (blobs !== undefined) await checkUnneeded(client, id);
  const pages = await archivedOf(id, namespace, archiveDir);
  // The first execution of a chain names the folder.
  const chains = new Set([...executions, ...pages].map(({ runId: first }) => first));
  await checkUnforked(client, id, { runs, chains, archiveDir });
  let removed = 0;
  for (const workflowId of await withStored(runs, id, namespace, blobs)) {
    removed += (await blobs?.remove(namespace, workflowId))?.blobs ?? 0;
  }
  for (const runId of chains) {
    await rm(join(archiveDir, archiveFolderOf(runId)), { recursive: true, force: true });
  }
  for (const { workflowId, runId } of executions) await deleteHistory(client, workflowId, runId);
  if (executions.length + removed + pages.length > 0)
    return { runs, executions: executions.length, blobs: removed };
  throw new UsageError(
    'run_not_found',
    `Expected the id of a run of which something is left, got \`${id}\`. List the runs to find it.`,
  );
}

/** Makes sure that none of `runs`, and no run above `id`, is open (I1). */
async function checkEnded(client: Client, runs: readonly string[], id: string): Promise<void> {
  // A person waits for the answer, and asks about one tree.
  const service = knownRuns(client, 0);
  const [, ...above] = selfAndAbove(id);
  for (const run of above) if (await service.isOpen(run)) throw isBelowOpen(id, run);
  const head = headAbove(id);
  if (head !== undefined && (await service.hasOpenFrom(head))) throw isBelowOpen(id, `${head}…`);
  for (const run of runs) if (await service.isOpen(run)) throw isOpen(run);
}

/** Makes sure that the next run of a schedule does not need the Step of run `id`. */
async function checkUnneeded(client: Client, id: string): Promise<void> {
  const schedule = await scheduleKeeping(client, id);
  if (schedule === undefined) return;
  throw new UsageError(
    'run_kept',
    `Expected a run whose Step no schedule needs, got \`${id}\`, whose Step schedule \`${schedule}\` gives to its next run. Wait until that has ended, or delete the schedule.`,
  );
}

/** Makes sure that no fork outside of the tree shows a run of it (I3). */
async function checkUnforked(
  client: Client,
  id: string,
  tree: {
    readonly runs: readonly string[];
    readonly chains: ReadonlySet<string>;
    readonly archiveDir: string;
  },
): Promise<void> {
  const service = knownRuns(client, 0);
  for (const runId of tree.chains) {
    const fork = await forkKeeping({ directory: tree.archiveDir, runId }, service, tree.runs);
    if (fork === undefined) continue;
    throw new UsageError(
      'run_kept',
      `Expected a run that no fork needs, got \`${id}\`, which fork \`${fork}\` shows as its beginning. Delete the fork first: everloop forget ${fork}`,
    );
  }
}

/** What the archive holds of the tree of `id`, also of executions that the service has forgotten. */
async function archivedOf(
  id: string,
  namespace: string,
  archiveDir: string,
): Promise<readonly ArchivedRun[]> {
  const found: ArchivedRun[] = [];
  for await (const run of archivedRuns(archiveDir)) {
    const isBelow = run.workflowId === id || run.workflowId.startsWith(belowOf(id));
    if (isBelow && run.namespace === namespace) found.push(run);
  }
  return found;
}

/** The runs, and those below `id` that only the store remembers. */
async function withStored(
  runs: readonly string[],
  id: string,
  namespace: string,
  blobs: BlobStore | undefined,
): Promise<ReadonlySet<string>> {
  const all = new Set(runs);
  if (blobs === undefined) return all;
  for await (const { workflowId } of blobs.runs(namespace)) {
    if (workflowId?.startsWith(belowOf(id)) === true) all.add(workflowId);
  }
  return all;
}

async function deleteHistory(client: Client, workflowId: string, runId: string): Promise<void> {
  try {
    await client.workflowService.deleteWorkflowExecution({
      namespace: client.options.namespace,
      workflowExecution: { workflowId, runId },
    });
  } catch (error) {
    // The list lags behind.
    if (!isNotFound(error)) throw error;
  }
}

function isOpen(id: string): UsageError {
  return new UsageError(
    'run_open',
    `Expected run \`${id}\` to have ended, got one that is alive. Cancel it first: everloop cancel ${id}`,
  );
}

function isBelowOpen(id: string, above: string): UsageError {
  return new UsageError(
    'run_open',
    `Expected run \`${above}\` above \`${id}\` to have ended, because it reads the data of runs below it, got one that is alive. When it has ended, delete all of it: everloop forget ${above}`,
  );
}
