/** The links of a run's chain, read backwards: where each began, and the history of one of them. */
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { LRUCache } from 'lru-cache';
import { isPlainObject } from '../../core/base/json.ts';
import type { ForkInput } from '../../core/base/fork.ts';
import { AGENT_WORKFLOW, PROBE_WORKFLOW } from '../../core/contract/messages.ts';
import type { RunState } from '../../core/run/run-state.ts';
import { notAnAgent, unknownRun } from '../../client/connection/service-calls.ts';
import { isNotFound } from '../../client/connection/service-errors.ts';
import { tolerant } from '../../client/connection/open-connection.ts';
import { unreadableError } from '../../protection/key-errors.ts';
import { readPayloads } from '../../protection/read-payloads.ts';
import type { ArchivedHistory as History, StateArchive } from './archived-states.ts';
import type { ProbedHistory } from './replayer.ts';

/** A link of a chain. */
export interface ChainLink {
  readonly executionId: string;
  /** The run id of the first link. */
  readonly runId: string;
  /** The link before; null for the first. */
  readonly previous: string | null;
  /** Where it began; null for the first link. */
  readonly begin: LinkBegin | null;
  /** Its events, if it may get more; absent: it has ended. */
  readonly events?: number;
}

/** The boundary at which a link began: what the state that was handed over says of it. */
export interface LinkBegin {
  readonly link: number;
  readonly iteration: number;
  readonly seq: number;
  /** It began in the middle of a turn, which waited for people. */
  readonly isInTurn: boolean;
}

/** Reads the links of chains. */
export interface RunChains {
  /** The newest link of a run, or the one that `source` names. @throws UsageError */
  newest(source: ForkInput['source']): Promise<ChainLink>;
  /** The link before `later`; null if there is none, or neither service nor archive has it. */
  before(workflowId: string, later: ChainLink): Promise<ChainLink | null>;
  /** The history of a link; null if neither service nor archive has it. */
  history(workflowId: string, link: ChainLink): Promise<History | null>;
}

/** Links that have ended stay as they are; so long they are not read again. */
const KEPT_MS = 60_000;
const MAX_KEPT = 1_000;

/** The chains of the runs that `client` reaches; what it does not have may be in `archive`. */
export function createRunChains(client: Client, archive: Pick<StateArchive, 'history'>): RunChains {
  const kept = new LRUCache<string, ChainLink>({ max: MAX_KEPT, ttl: KEPT_MS });
  const keep = (link: ChainLink): ChainLink => {
    kept.set(link.executionId, link);
    return link;
  };
  const known = async (workflowId: string, executionId: string): Promise<ChainLink | null> => {
    const found = kept.get(executionId) ?? (await readLink(client, workflowId, executionId));
    return found === null ? null : keep(found);
  };
  return {
    newest: async (source) => {
      const { workflowId } = source;
      const { runId, historyLength, closeTime } = await describeLink(client, source);
      const isOpen = closeTime === undefined;
      const link = await (isOpen ? readLink(client, workflowId, runId) : known(workflowId, runId));
      if (link === null) throw unknownRun(workflowId);
      return isOpen ? { ...link, events: historyLength } : link;
    },
    before: async (workflowId, { runId, previous, begin }) => {
      if (previous === null) return null;
      const found = await known(workflowId, previous);
      if (found !== null || begin === null) return found;
      const saved = await archive.history({
        workflowId,
        runId,
        executionId: previous,
        link: begin.link - 1,
      });
      const link = saved && (await linkOf(client, { workflowId, executionId: previous }, saved));
      return link && keep(link);
    },
    history: async (workflowId, { runId, executionId, begin }) => {
      const handle = client.workflow.getHandle(workflowId, executionId);
      const fetched = await orForgotten(() => handle.fetchHistory());
      const link = begin?.link ?? 1;
      return fetched ?? archive.history({ workflowId, runId, executionId, link });
    },
  };
}

async function describeLink(
  client: Client,
  { workflowId, executionId }: ForkInput['source'],
): Promise<WorkflowExecutionDescription> {
  const handle = tolerant(client).workflow.getHandle(workflowId, executionId);
  const described = await orForgotten(() => handle.describe());
  if (described === null) throw unknownRun(workflowId);
  if (described.type !== AGENT_WORKFLOW) throw notAnAgent(workflowId);
  return described;
}

/** The link by its first event; null if the service has forgotten it. */
async function readLink(
  client: Client,
  workflowId: string,
  executionId: string,
): Promise<ChainLink | null> {
  const page = await orForgotten(() =>
    client.workflowService.getWorkflowExecutionHistory({
      namespace: client.options.namespace,
      execution: { workflowId, runId: executionId },
      maximumPageSize: 1,
    }),
  );
  return linkOf(client, { workflowId, executionId }, page?.history ?? {});
}

/** The link with this history; null without its first event. */
async function linkOf(
  client: Client,
  { workflowId, executionId }: { readonly workflowId: string; readonly executionId: string },
  { events }: Pick<History, 'events'>,
): Promise<ChainLink | null> {
  const started = events?.[0]?.workflowExecutionStartedEventAttributes;
  if (started == null) return null;
  const previous = started.continuedExecutionRunId ?? '';
  const state =
    previous === '' ? null : await handedOver(client, workflowId, started.input?.payloads);
  return {
    executionId,
    runId: (started.firstExecutionRunId ?? '') || executionId,
    previous: previous === '' ? null : previous,
    begin: state === null ? null : beginOf(state),
  };
}

function beginOf({ link, iteration, seq, turn }: RunState): LinkBegin {
  return { link, iteration, seq, isInTurn: (turn ?? null) !== null };
}

async function orForgotten<Answer>(ask: () => Promise<Answer>): Promise<Answer | null> {
  try {
    return await ask();
  } catch (error) {
    if (isNotFound(error) || isMissing(error)) return null;
    throw error;
  }
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
export function probed(history: History, workflowId: string): ProbedHistory {
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
