/** What the checks ask the service. Nothing here changes anything. */
import type { Client } from '@temporalio/client';
import { defined } from '../core/base/defined.ts';
import { AGENT_WORKFLOW } from '../core/contract/messages.ts';
import { createEverloop } from '../client/everloop-client.ts';
import { inTurns } from '../client/in-turns.ts';
import { createDeployment } from '../versioning/deployment.ts';
import { readPollers } from '../versioning/deployment-service.ts';
import type { DoctorService, OpenRun } from './checks/check.ts';

/** Described at most, newest first. */
const MAX_OPEN = 200;

/** Events of a history that are searched for a failed task, newest first. */
const MAX_SEARCHED = 1_000;

/** Asks with `client`; `deployment` is the name of the fleet's deployment. */
export function doctorService(client: Client, deployment?: string): DoctorService {
  const { namespace } = client.options;
  const fleet = createDeployment(defined({ client, name: deployment }));
  const everloop = createEverloop({ client });
  let listed: Promise<readonly OpenRun[]> | null = null;
  return {
    namespace,
    retentionMs: async () => {
      const { config } = await client.workflowService.describeNamespace({ namespace });
      const seconds = config?.workflowExecutionRetentionTtl?.seconds;
      return seconds === undefined || seconds === null ? null : Number(seconds.toString()) * 1_000;
    },
    workers: (queue, kind) => readPollers({ client, name: fleet.name }, { name: queue, kind }),
    openRuns: () => (listed ??= openRuns(client)),
    taskFailure: (id) => taskFailure(client, id),
    waitsFor: async (id) => {
      const status = await everloop
        .attach(id)
        .status()
        // No worker answers for it, which is another finding.
        .catch(() => null);
      return status?.waitsFor ?? [];
    },
    deployment: () => fleet.status(),
  };
}

async function openRuns(client: Client): Promise<readonly OpenRun[]> {
  const query = `WorkflowType = '${AGENT_WORKFLOW}' AND ExecutionStatus = 'Running'`;
  const ids: { readonly workflowId: string; readonly runId: string }[] = [];
  for await (const { workflowId, runId } of client.workflow.list({ query })) {
    ids.push({ workflowId, runId });
    if (ids.length === MAX_OPEN) break;
  }
  const runs = await inTurns(ids, ({ workflowId, runId }) => describe(client, workflowId, runId));
  return runs.filter((run) => run !== null);
}

/** A run as it is now; null if it has ended. */
async function describe(client: Client, id: string, runId: string): Promise<OpenRun | null> {
  // It may have ended, and been forgotten, since it was listed.
  const found = await client.workflow
    .getHandle(id, runId)
    .describe()
    .catch(() => null);
  if (found === null || found.status.name !== 'RUNNING') return null;
  const { historyLength, historySize, memo, raw } = found;
  const task = raw.pendingWorkflowTask;
  const agent = memo?.['agent'];
  return {
    id,
    agent: typeof agent === 'string' ? agent : '',
    events: historyLength,
    bytes: historySize ?? 0,
    task:
      task === undefined || task === null
        ? null
        : {
            attempt: task.attempt ?? 1,
            scheduledAt: Number((task.originalScheduledTime?.seconds ?? 0).toString()) * 1_000,
            isStarted: task.state === STARTED,
          },
  };
}

/** The value of the service for a workflow task that a worker has. */
const STARTED = 2;

async function taskFailure(client: Client, id: string): Promise<string | null> {
  const { history } = await client.workflowService.getWorkflowExecutionHistoryReverse({
    namespace: client.options.namespace,
    execution: { workflowId: id },
    maximumPageSize: MAX_SEARCHED,
  });
  for (const { workflowTaskFailedEventAttributes: failed } of history?.events ?? []) {
    if (failed !== undefined && failed !== null) return failed.failure?.message ?? '';
  }
  return null;
}
