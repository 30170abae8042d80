/** The examples of docs/inspecting.md; test/docs/inspecting.server.test.ts runs them. */
import type {
  AgentEvent,
  CallAttempt,
  Everloop,
  PendingItem,
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
  const { events } = await run.status();
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

/** Shows what waits for people, each item whole; false: there may be more. */
export async function showInbox(
  everloop: Pick<Everloop, 'attach' | 'inbox'>,
  show: (agent: string, item: PendingItem) => void,
): Promise<boolean> {
  // #region inbox
  const { items, silent, more } = await everloop.inbox({ limit: 500 });
  for (const { run: id, agent, item, isCut } of items) {
    const whole = isCut ? await wholeItem(everloop, id, item.id) : item;
    if (whole !== undefined) show(agent, whole);
  }
  const isComplete = silent.length === 0 && more === 0;
  // #endregion
  return isComplete;
}

async function wholeItem(
  everloop: Pick<Everloop, 'attach'>,
  run: string,
  item: string,
): Promise<PendingItem | undefined> {
  return (await everloop.attach(run).pending()).find(({ id }) => id === item);
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

/** Lists what the workers of a fleet serve; false: there may be more. */
export async function listAgents(
  everloop: Pick<Everloop, 'agents'>,
  log: (line: string) => void,
): Promise<boolean> {
  // #region agents
  const { agents, silent } = await everloop.agents();
  for (const { name, taskQueue, tools, workers } of agents) {
    const asking = tools.filter(({ approval }) => approval !== undefined).length;
    log(`${name} on ${taskQueue}: ${asking} tools ask, ${workers.length} workers`);
  }
  const isComplete = silent.length === 0;
  // #endregion
  return isComplete;
}

/** Shows all programs of a run, the oldest first. */
export async function showPrograms(run: RunHandle, log: (line: string) => void): Promise<void> {
  // #region programs
  for (const { programId, outcome = 'runs' } of await run.programs()) {
    const program = await run.program({ id: programId });
    const finished = program?.status?.forms.filter(({ state }) => state === 'done') ?? [];
    log(`${programId} ${outcome}, ${finished.length} forms done: ${program?.source}`);
  }
  // #endregion
}
