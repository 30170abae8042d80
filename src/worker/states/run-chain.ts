/** The links of a run's chain, read backwards: where each began, and the history of one of them. */
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { isPlainObject } from '../../core/base/json.ts';
import type { ForkInput } from '../../core/base/fork.ts';
import { AGENT_WORKFLOW, PROBE_WORKFLOW } from '../../core/contract/messages.ts';
import type { RunState } from '../../core/run/run-state.ts';
import { isNotFound, notAnAgent, unknownRun } from '../../client/connection/service-calls.ts';
import { tolerant } from '../../client/connection/open-connection.ts';
import { unreadableError } from '../../protection/key-errors.ts';
import { readPayloads } from '../../protection/read-payloads.ts';
import type { ProbedHistory } from './replayer.ts';

/** What the service gives for the history of a link. */
export type History = Awaited<
  ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>
>;

/** A link of a chain. */
export interface ChainLink {
  readonly executionId: string;
  /** The run id of the first link. */
  readonly runId: string;
  /** The link before; null for the first. */
  readonly previous: string | null;
  /** Where it began: the state that was handed over; null for the first link. */
  readonly state: RunState | null;
  readonly history: History;
}

/** The newest link of a run, or the one that `source` names. @throws UsageError */
export async function newestLink(
  client: Client,
  { workflowId, executionId }: ForkInput['source'],
): Promise<ChainLink> {
  let described: WorkflowExecutionDescription;
  try {
    described = await tolerant(client).workflow.getHandle(workflowId, executionId).describe();
  } catch (error) {
    if (isNotFound(error) || isMissing(error)) throw unknownRun(workflowId);
    throw error;
  }
  if (described.type !== AGENT_WORKFLOW) throw notAnAgent(workflowId);
  const link = await readLink(client, workflowId, described.runId);
  if (link === null) throw unknownRun(workflowId);
  return link;
}

/** A link with its history; null if the service has forgotten it. */
export async function readLink(
  client: Client,
  workflowId: string,
  executionId: string,
): Promise<ChainLink | null> {
  let history: History;
  try {
    history = await client.workflow.getHandle(workflowId, executionId).fetchHistory();
  } catch (error) {
    if (isNotFound(error) || isMissing(error)) return null;
    throw error;
  }
  const started = history.events?.[0]?.workflowExecutionStartedEventAttributes;
  if (started == null) return null;
  const previous = started.continuedExecutionRunId ?? '';
  return {
    executionId,
    runId: (started.firstExecutionRunId ?? '') || executionId,
    previous: previous === '' ? null : previous,
    state: previous === '' ? null : await handedOver(client, workflowId, started.input?.payloads),
    history,
  };
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && error.name === 'WorkflowNotFoundError';
}

type Payloads = Parameters<typeof readPayloads>[1];

async function handedOver(
  client: Client,
  workflowId: string,
  payloads: Payloads,
): Promise<RunState | null> {
  try {
    const [given] = await readPayloads(client.options.loadedDataConverter, payloads);
    const state = isPlainObject(given) ? given['state'] : undefined;
    return isPlainObject(state) ? (state as unknown as RunState) : null;
  } catch (error) {
    throw unreadableError(error, `to read run \`${workflowId}\``) ?? error;
  }
}

/** The history of a link as the probe replays it: of another type, under its own id. */
export function probed({ history }: ChainLink, workflowId: string): ProbedHistory {
  const { events = [] } = history;
  const [first, ...rest] = events ?? [];
  const started = first?.workflowExecutionStartedEventAttributes;
  if (first === undefined || started == null) return { workflowId, history };
  const workflowType = { ...started.workflowType, name: PROBE_WORKFLOW };
  const copy = {
    ...first,
    workflowExecutionStartedEventAttributes: { ...started, workflowType },
  };
  return { workflowId, history: { ...history, events: [copy, ...rest] } };
}
