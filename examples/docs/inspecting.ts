/** The examples of docs/inspecting.md; test/docs/inspecting.server.test.ts runs them. */
import type {
  AgentEvent,
  CallAttempt,
  Everloop,
  RunHandle,
  RunPage,
  RunSummary,
} from '../../src/index.ts';

/** Reads a run of any length, page by page. */
export async function readPages(
  everloop: Pick<Everloop, 'attach'>,
  id: string,
  show: (events: readonly AgentEvent[]) => void,
): Promise<void> {
  // #region pages
  const run = everloop.attach(id);
  const { events = 0 } = await run.status();
  for (let from = 0; from < events; from += 200) {
    show(await run.events({ from, limit: 200 }));
  }
  // #endregion
}

/** Lists all roots that have begun today, page by page. */
export async function listToday(
  everloop: Pick<Everloop, 'listPage' | 'counts'>,
  since: Date,
  show: (runs: readonly RunSummary[]) => void,
): Promise<string> {
  // #region list
  const { running, waiting, failed } = await everloop.counts({ roots: true, since });
  let cursor: string | null = null;
  do {
    const page: RunPage = await everloop.listPage({ roots: true, since, limit: 50, cursor });
    show(page.runs);
    cursor = page.cursor;
  } while (cursor !== null);
  const head = `${running} at work, ${waiting ?? 0} wait for people, ${failed} failed`;
  // #endregion
  return head;
}

/** One run, as the head of a page and its newest part show it. */
export async function lookAt(run: RunHandle, log: (line: string) => void): Promise<void> {
  // #region view
  const { status, budgets, pending } = await run.view();
  log(`${status.state}, ${pending.length} wait`);
  for (const { key, used, max } of budgets) log(`${key}: ${used} of ${max}`);
  // #endregion
  // #region current
  const current = await run.current();
  for (const part of current?.reply?.parts ?? []) log(part.text);
  for (const { callId, tool, state } of current?.calls ?? []) log(`${callId} ${tool} ${state}`);
  // #endregion
}

/** The attempts that were lost with their worker. */
export async function lostAttempts(run: RunHandle): Promise<readonly CallAttempt[]> {
  // #region attempts
  const attempts = await run.attempts({ from: 1, until: 50 });
  const lost = attempts.filter(({ outcome }) => outcome === 'lost');
  // #endregion
  return lost;
}
