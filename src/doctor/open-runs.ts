/** What the checks ask the service about open runs. Nothing here changes anything. */
import type { Client } from '@temporalio/client';
import { inTurns } from '../client/connection/in-turns.ts';
import { querying } from '../client/connection/service-calls.ts';
import { AGENT_WORKFLOW, MESSAGE_NAMES } from '../core/contract/messages.ts';
import type { PendingItem, RunStatus } from '../core/contract/messages.ts';
import { MAX_ASKED, MAX_OPEN, type OpenRun, type RunAnswer } from './checks/doctor-service.ts';
import { millisecondsOf } from '../client/connection/service-time.ts';
import { tolerant } from '../client/connection/open-connection.ts';

/** A list query for the open runs of agents. */
export const OPEN_RUNS: string = `WorkflowType = '${AGENT_WORKFLOW}' AND ExecutionStatus = 'Running'`;

/** How long one run may take to answer. A worker that is there needs much less. */
const ANSWER_MS = 5_000;

/** How long all of them may take; the rest is not asked. */
const ANSWERS_MS = 30_000;

/** The value of the service for a workflow task that a worker has. */
const STARTED = 2;

/** The newest open runs, at most {@link MAX_OPEN}. */
export async function readOpenRuns(client: Client): Promise<readonly OpenRun[]> {
  const ids: { readonly workflowId: string; readonly runId: string }[] = [];
  for await (const { workflowId, runId } of tolerant(client).workflow.list({ query: OPEN_RUNS })) {
    ids.push({ workflowId, runId });
    if (ids.length === MAX_OPEN) break;
  }
  const runs = await inTurns(ids, ({ workflowId, runId }) => describe(client, workflowId, runId));
  return runs.filter((run) => run !== null);
}

/** A run as it is now; null if it has ended. */
async function describe(client: Client, id: string, runId: string): Promise<OpenRun | null> {
  // It may have ended, and been forgotten, since it was listed.
  const found = await tolerant(client)
    .workflow.getHandle(id, runId)
    .describe()
    .catch(() => null);
  if (found === null || found.status.name !== 'RUNNING') return null;
  const { historyLength, historySize, memo, raw } = found;
  const task = raw.pendingWorkflowTask;
  const agent = memo?.['agent'];
  return {
    id,
    agent: typeof agent === 'string' ? agent : '',
    waitsForPerson: memo?.['waiting'] === true,
    events: historyLength,
    bytes: historySize ?? 0,
    task:
      task === undefined || task === null
        ? null
        : {
            attempt: task.attempt ?? 1,
            scheduledAt: millisecondsOf(task.originalScheduledTime),
            isStarted: task.state === STARTED,
          },
  };
}

/** What the newest runs without a task say of themselves, at most {@link MAX_ASKED}. */
export async function readAnswers(
  client: Client,
  runs: readonly OpenRun[],
): Promise<ReadonlyMap<string, RunAnswer>> {
  // No worker answers for a run whose task waits or fails, which is another finding.
  const asked = runs.filter(({ task }) => task === null).slice(0, MAX_ASKED);
  const until = Date.now() + ANSWERS_MS;
  const answers = await inTurns(asked, async (run) => {
    if (Date.now() > until) return null;
    // No worker answers for it, which is another finding.
    return readAnswer(client, run).catch(() => null);
  });
  return new Map(
    asked.flatMap(({ id }, place) => {
      const answer = answers[place] ?? null;
      return answer === null ? [] : [[id, answer] as const];
    }),
  );
}

async function readAnswer(client: Client, { id, waitsForPerson }: OpenRun): Promise<RunAnswer> {
  const ask = <Answer>(name: string): Promise<Answer> =>
    querying(id, client, () => client.workflow.getHandle(id).query<Answer>(name), ANSWER_MS);
  const { waitsFor, unreadInputs } = await ask<RunStatus>(MESSAGE_NAMES.status);
  const pending = waitsForPerson ? await ask<readonly PendingItem[]>(MESSAGE_NAMES.pending) : [];
  const deadlines = pending.flatMap(({ id: item, deadline }) =>
    deadline === undefined ? [] : [{ id: item, deadline }],
  );
  return { waitsFor, unreadInputs, deadlines };
}
