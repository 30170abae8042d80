/**
 * Saves whole histories of a run in the archive: then any of its moments can be looked at and forked
 * when the service has forgotten the link. A history is one line, with plain payloads, so the keys of
 * the archive encrypt it as they do all lines.
 */
import type { Client } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { Archive } from '../../activities/archive-transcript.ts';
import { isPlainObject, type Json } from '../../core/base/json.ts';
import { isNotFound } from '../../client/connection/service-errors.ts';
import { readLinks } from '../../client/reading/links.ts';
import { unreadableError } from '../../protection/key-errors.ts';
import { plainHistory } from '../../protection/plain-history.ts';
import { readPayloads } from '../../protection/read-payloads.ts';

/** A history as the archive has it, version 1. */
export interface SavedHistory {
  readonly v: 1;
  readonly workflowId: string;
  /** The run id of the link. */
  readonly executionId: string;
  /** As the service exports it: JSON. */
  readonly history: Json;
}

/** What was saved. */
export interface SavedHistories {
  readonly links: number;
  readonly events: number;
}

/**
 * Saves the links of run `id` that the service still has. A link that is open is saved as far as it
 * has come; saved again, it replaces what was saved before.
 *
 * @throws UsageError `run_not_found`, `keys_missing`, `no_blobs`.
 */
export async function saveHistories(
  client: Client,
  archive: Pick<Archive, 'write'>,
  id: string,
): Promise<SavedHistories> {
  let [links, events] = [0, 0];
  for (const { executionId } of await readLinks(client, id)) {
    const count = await saveLink(client, archive, { workflowId: id, executionId });
    if (count === 0) continue;
    links += 1;
    events += count;
  }
  return { links, events };
}

/** Saves a link, and says how many events it has; 0 if the service has deleted it meanwhile. */
async function saveLink(
  client: Client,
  archive: Pick<Archive, 'write'>,
  { workflowId, executionId }: Pick<SavedHistory, 'workflowId' | 'executionId'>,
): Promise<number> {
  const { loadedDataConverter, namespace } = client.options;
  try {
    const fetched = await client.workflow.getHandle(workflowId, executionId).fetchHistory();
    const history = await plainHistory(loadedDataConverter, fetched);
    const started = history.events?.[0]?.workflowExecutionStartedEventAttributes;
    const [given] = await readPayloads(loadedDataConverter, started?.input?.payloads);
    const link = linkIn(given);
    const saved: SavedHistory = {
      v: 1,
      workflowId,
      executionId,
      history: JSON.parse(historyToJSON(history)) as Json,
    };
    const runId = (started?.firstExecutionRunId ?? '') || executionId;
    const run = { namespace, workflowId };
    await archive.write({ runId, link, kind: 'history', firstEntry: 0, firstEvent: 0, run }, [
      { list: 'histories', items: [saved as unknown as Json] },
    ]);
    return history.events?.length ?? 0;
  } catch (error) {
    if (isNotFound(error)) return 0;
    throw unreadableError(error, `to save run \`${workflowId}\``) ?? error;
  }
}

/** The number of a link by the state with which it began; the first has none. */
function linkIn(given: unknown): number {
  const state = isPlainObject(given) && given['kind'] === 'handover' ? given['state'] : undefined;
  const link = isPlainObject(state) ? state['link'] : undefined;
  return typeof link === 'number' ? link : 1;
}
