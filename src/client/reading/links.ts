/** The links of a run, as the service lists them. */
import type { Client } from '@temporalio/client';
import { describeRun } from '../connection/own-run.ts';
import { quoted, readListPage, type ListPage } from '../connection/list-queries.ts';
import { millisecondsOf } from '../connection/service-time.ts';

/** One link of a chain: one workflow execution, with a history of its own. */
export interface RunLink {
  readonly executionId: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** Null for a link that is open. */
  readonly closedAt: number | null;
  /**
   * In the words of the service: `RUNNING`, `CONTINUED_AS_NEW` after a hand-over, `COMPLETED`,
   * `FAILED`, `CANCELED`, `TERMINATED`, `TIMED_OUT`.
   */
  readonly status: string;
  /** Events of its history. */
  readonly events: number;
  /** Size of its history in bytes. */
  readonly bytes: number;
}

/** Links of a page; a run of 10,000 turns has some dozen. */
const PAGE = 100;

/** Links that are read at most; a longer chain shows its newest ones. */
const MAX_LINKS = 1_000;

/**
 * The links of run `id`, oldest first. The list of the service lags behind by about a second, so
 * the last link comes from the run itself.
 *
 * @throws UsageError `run_not_found`.
 */
export async function readLinks(client: Client, id: string): Promise<readonly RunLink[]> {
  const described = await describeRun(client, id);
  const { workflowExecutionInfo: info } = described.raw;
  const last: RunLink = {
    executionId: described.runId,
    startedAt: millisecondsOf(info?.startTime),
    closedAt: described.closeTime?.getTime() ?? null,
    status: described.status.name,
    events: Number((info?.historyLength ?? 0).toString()),
    bytes: Number((info?.historySizeBytes ?? 0).toString()),
  };
  const links = new Map([[last.executionId, last]]);
  const query = `WorkflowId = ${quoted(id)}`;
  let token: Uint8Array | null = null;
  do {
    const page: ListPage = await readListPage(client, { query, pageSize: PAGE, token });
    for (const { runId, raw, startTime, closeTime, status } of page.infos) {
      if (links.has(runId)) continue;
      links.set(runId, {
        executionId: runId,
        startedAt: startTime.getTime(),
        closedAt: closeTime?.getTime() ?? null,
        status: status.name,
        events: Number((raw.historyLength ?? 0).toString()),
        bytes: Number((raw.historySizeBytes ?? 0).toString()),
      });
    }
    ({ token } = page);
  } while (token !== null && links.size < MAX_LINKS);
  return [...links.values()].toSorted((a, b) => a.startedAt - b.startedAt);
}
