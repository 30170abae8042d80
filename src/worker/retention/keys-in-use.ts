/** Counts which keys are needed: by open runs, the archive and the blobs. Decrypts nothing. */
import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { tolerant } from '../../client/connection/open-connection.ts';
import { isNotFound } from '../../client/connection/service-errors.ts';
import type { BlobStore } from '../../protection/blobs/blob-store.ts';
import { addKeyIds, HEAD_BYTES, keyIdOfHead } from '../../protection/key-ids.ts';
import { archivedKeys } from '../files/sealed-archive.ts';
import { OWN_WORKFLOWS } from './own-workflows.ts';

/** Where runs are, and what is stored of them. */
export interface KeyPlaces {
  readonly client: Client;
  readonly archiveDir: string;
  readonly blobs: BlobStore | undefined;
}

/** What a key has encrypted. */
export interface KeyUse {
  /** `null`: what is not encrypted. */
  readonly id: string | null;
  /** Open runs with at least one payload of it in a link that the service still has. */
  readonly openRuns: number;
  /** Lines of the archive. */
  readonly archivedLines: number;
  readonly blobs: number;
}

/** Any workflow: callbacks are encrypted like runs. */
const OPEN: string = `${OWN_WORKFLOWS} AND ExecutionStatus = 'Running'`;

const PAGE = 200;

/** A run of more links is counted by its newest ones. */
const MAX_LINKS = 10_000;

/** The keys that are in use, and those in `held` that are not, sorted by their ids. */
export async function keysInUse(
  { client, archiveDir, blobs }: KeyPlaces,
  held: readonly string[],
): Promise<readonly KeyUse[]> {
  const runs = await openRunKeys(client);
  const lines = await archivedKeys(archiveDir);
  const stored = await blobKeys(blobs, client.options.namespace);
  const ids = new Set([...held, ...runs.keys(), ...lines.keys(), ...stored.keys()]);
  return [...ids]
    .toSorted((left, right) => (left ?? '').localeCompare(right ?? '', 'en'))
    .map((id) => ({
      id,
      openRuns: runs.get(id) ?? 0,
      archivedLines: lines.get(id) ?? 0,
      blobs: stored.get(id) ?? 0,
    }));
}

type Counts = Map<string | null, number>;

function count(counts: Counts, id: string | null): void {
  counts.set(id, (counts.get(id) ?? 0) + 1);
}

async function openRunKeys(client: Client): Promise<Counts> {
  const counts: Counts = new Map();
  for await (const { workflowId, runId } of tolerant(client).workflow.list({ query: OPEN })) {
    const ids = await keysOfRun(client, workflowId, runId);
    if (ids === undefined) continue;
    if (ids.size === 0) count(counts, null);
    for (const id of ids) count(counts, id);
  }
  return counts;
}

/**
 * The keys of a run, whose newest link is `runId`; undefined if that is gone since it was listed.
 * Earlier links are read as well, because readers without the archive ask those.
 */
async function keysOfRun(
  client: Client,
  workflowId: string,
  runId: string,
): Promise<ReadonlySet<string> | undefined> {
  const ids = new Set<string>();
  try {
    // What has not ended yet is in no event: heartbeats, failures of attempts.
    const { raw } = await tolerant(client).workflow.getHandle(workflowId, runId).describe();
    addKeyIds(raw, ids);
  } catch (error) {
    if (!isGone(error)) throw error;
    return undefined;
  }
  let link = runId;
  for (let links = 0; link !== '' && links < MAX_LINKS; links++) {
    try {
      link = await addKeysOfLink(client, { workflowId, runId: link }, ids);
    } catch (error) {
      if (!isGone(error)) throw error;
      break;
    }
  }
  return ids;
}

/** Adds the keys of the history of a link to `ids`, and returns the link before it, or ''. */
async function addKeysOfLink(
  { workflowService, options: { namespace } }: Client,
  execution: { readonly workflowId: string; readonly runId: string },
  ids: Set<string>,
): Promise<string> {
  let previous = '';
  let nextPageToken: Uint8Array | null = null;
  do {
    const page: Awaited<ReturnType<typeof workflowService.getWorkflowExecutionHistory>> =
      await workflowService.getWorkflowExecutionHistory({
        namespace,
        execution,
        maximumPageSize: PAGE,
        nextPageToken,
      });
    addKeyIds(page.history, ids);
    const [first] = page.history?.events ?? [];
    previous ||= first?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? '';
    nextPageToken = page.nextPageToken;
  } while ((nextPageToken?.length ?? 0) > 0);
  return previous;
}

function isGone(error: unknown): boolean {
  return error instanceof WorkflowNotFoundError || isNotFound(error);
}

async function blobKeys(blobs: BlobStore | undefined, namespace: string): Promise<Counts> {
  const counts: Counts = new Map();
  if (blobs === undefined) return counts;
  for await (const head of blobs.heads(namespace, HEAD_BYTES)) {
    count(counts, keyIdOfHead(head) ?? null);
  }
  return counts;
}
