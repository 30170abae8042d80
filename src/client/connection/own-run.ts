/**
 * Which workflows are runs of agents. A namespace may have workflows of other applications, and has
 * workflows of our own that keep tenants and rates: none of them is read, and none gets a message.
 *
 * I1  A run is of the type `agent` and has the mark of its start: `agent` in its memo, as our clients,
 *     schedules and parents write it. Without a memo, as from Temporal's own CLI, it is one if it
 *     began with what a run is started with, or ended with a Step.
 * I2  A description says it, which most readers ask for anyway. Others ask once a minute for each run,
 *     so that polls cost what they did. What ends a run asks each time.
 */
import {
  ApplicationFailure,
  type Client,
  WorkflowFailedError,
  type WorkflowExecutionDescription,
} from '@temporalio/client';
import { LRUCache } from 'lru-cache';
import { isPlainObject } from '../../core/base/json.ts';
import { isUsageError, UsageError } from '../../core/base/usage-error.ts';
import { AGENT_WORKFLOW } from '../../core/contract/messages.ts';
import { isStep } from '../../core/contract/piping.ts';
import { checkedRunId } from '../../core/start/start-input.ts';
import { unreadableError } from '../../protection/key-errors.ts';
import { readPayloads } from '../../protection/read-payloads.ts';
import { treeTraceId } from '../../telemetry/ids.ts';
import { tolerant } from './open-connection.ts';
import { asking, isAlive, notAnAgent } from './service-calls.ts';

/** Runs that a client remembers, and for how long: an id may be used again. */
const MAX_KNOWN = 10_000;
const KNOWN_MS = 60_000;

const known = new WeakMap<Client, LRUCache<string, true>>();

function knownOf(client: Client): LRUCache<string, true> {
  let runs = known.get(client);
  if (runs === undefined) {
    runs = new LRUCache({ max: MAX_KNOWN, ttl: KNOWN_MS });
    known.set(client, runs);
  }
  return runs;
}

/** Notes a run that `client` has just started. */
export function noteOwnRun(client: Client, id: string): void {
  knownOf(client).set(id, true);
}

/**
 * Makes sure that `id` is a run of an agent; asks the service at most once a minute.
 *
 * @throws UsageError `run_not_found`, `not_an_agent`.
 */
export async function requireOwnRun(client: Client, id: string): Promise<void> {
  if (!knownOf(client).has(id)) await describeRun(client, id);
}

/**
 * What the service says of run `id`. Needs no worker.
 *
 * @throws UsageError `run_not_found`, `not_an_agent`.
 */
export async function describeRun(
  client: Client,
  id: string,
): Promise<WorkflowExecutionDescription> {
  const described = await asking(id, () => tolerant(client).workflow.getHandle(id).describe());
  if (!knownOf(client).has(id) || described.type !== AGENT_WORKFLOW) {
    if (!(await isRun(client, described))) {
      knownOf(client).delete(id);
      throw notAnAgent(id);
    }
    noteOwnRun(client, id);
  }
  return described;
}

/**
 * Makes sure that `id` is no workflow of another kind; the service may have forgotten the run.
 *
 * @throws UsageError `invalid_input` for an id that no run can have, `not_an_agent`.
 */
export async function refuseForeign(client: Client, id: string): Promise<void> {
  try {
    await describeRun(client, checkedRunId(id));
  } catch (error) {
    if (!isUsageError(error) || error.code !== 'run_not_found') throw error;
  }
}

async function isRun(client: Client, described: WorkflowExecutionDescription): Promise<boolean> {
  const { type, memo, workflowId, runId, status } = described;
  if (type !== AGENT_WORKFLOW) return false;
  if (typeof memo?.['agent'] === 'string') return true;
  if (await beganAsRun(client, workflowId, runId)) return true;
  return !isAlive(status.name) && endedWithStep(client, workflowId, runId);
}

async function beganAsRun(client: Client, workflowId: string, runId: string): Promise<boolean> {
  try {
    const { payload } = await readFirstEvent(client, workflowId, runId);
    if (!isPlainObject(payload)) return false;
    return typeof payload['agent'] === 'string' || payload['kind'] === 'handover';
  } catch (error) {
    // Our keys have encrypted it, so it is ours.
    if (unreadableError(error, '') !== undefined) return true;
    if (error instanceof UsageError) throw error;
    return false;
  }
}

/** Whoever starts a run with an input that is none is told so by the Step of its failure. */
async function endedWithStep(client: Client, workflowId: string, runId: string): Promise<boolean> {
  try {
    return isStep(await client.workflow.getHandle(workflowId, runId).result());
  } catch (error) {
    const cause = error instanceof WorkflowFailedError ? error.cause : undefined;
    return cause instanceof ApplicationFailure && isStep(cause.details?.[0]);
  }
}

/** With what an execution began, and the first execution of its chain. */
export async function readFirstEvent(
  client: Client,
  workflowId: string,
  runId: string,
): Promise<{ readonly payload: unknown; readonly firstRunId: string }> {
  const { namespace, loadedDataConverter } = client.options;
  const { history } = await client.connection.workflowService.getWorkflowExecutionHistory({
    namespace,
    execution: { workflowId, runId },
    maximumPageSize: 1,
  });
  const started = history?.events?.[0]?.workflowExecutionStartedEventAttributes;
  if (started?.workflowType?.name !== AGENT_WORKFLOW) throw notAnAgent(workflowId);
  const [payload] = await readPayloads(loadedDataConverter, started.input?.payloads);
  return { payload, firstRunId: started.firstExecutionRunId ?? runId };
}

/** The first execution of a run that was described: also a later link has it. */
export function firstRunIdOf({ raw, runId }: WorkflowExecutionDescription): string {
  return raw.workflowExecutionInfo?.firstRunId || runId;
}

/** @throws UsageError `run_ended`, `run_not_found` or `not_an_agent` for what takes no messages. */
export async function assertAlive(id: string, client: Client): Promise<void> {
  const { status } = await describeRun(client, id);
  if (isAlive(status.name)) return;
  throw new UsageError(
    'run_ended',
    `Expected run \`${id}\` to be alive, got one that is ${status.name}. Start a new run.`,
  );
}

/** The id of the trace of the tree that run `id` is in, also while it goes on. Needs no worker. */
export async function readTraceId(client: Client, id: string): Promise<string> {
  const run = await describeRun(client, id);
  const rootId = run.raw.workflowExecutionInfo?.rootExecution?.workflowId ?? id;
  const root =
    rootId === id
      ? run
      : // A workflow of the user's own may have started the run.
        await asking(rootId, () => tolerant(client).workflow.getHandle(rootId).describe());
  const traceparent = root.memo?.['traceparent'];
  return treeTraceId({
    rootRunId: firstRunIdOf(root),
    ...(typeof traceparent === 'string' ? { traceparent } : undefined),
  });
}
