/** Lists runs, and what waits for people in all of them. */
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { isUsageError, UsageError } from '../core/base/usage-error.ts';
import { AGENT_WORKFLOW, type PendingItem } from '../core/contract/messages.ts';
import { SEARCH_ATTRIBUTES, visibleState } from '../core/base/search-attributes.ts';
import { shown } from '../core/text/shown.ts';
import { wellFormedText } from '../core/text/well-formed.ts';
import { inTurns } from './in-turns.ts';
import { defineSearchAttributeKey } from '@temporalio/common';
import { UNREADABLE_TEXT } from '../protection/data-converter.ts';
import { tolerant } from './connection/open-connection.ts';
import { asking, notAnAgent } from './connection/service-calls.ts';

/** The agent of a run in a summary, if this process lacks the key of its memo. */
export const UNREADABLE_AGENT: string = UNREADABLE_TEXT;

/** One run in a list, or by itself. */
export interface RunSummary {
  readonly id: string;
  /** `(encrypted)`: this process lacks the key, and `task` is empty. */
  readonly agent: string;
  /** The first 200 characters of the task. */
  readonly task: string;
  /** `RUNNING`, `COMPLETED`, `FAILED`, `CANCELLED`, `TERMINATED`, `TIMED_OUT`. */
  readonly status: string;
  /** As `status`, but `waiting` for a live run that waits for a person. */
  readonly state: ListedState;
  /** Id of the run above; null for a root. */
  readonly parent: string | null;
  readonly startedAt: Date;
  readonly closedAt: Date | null;
}

/** The states that runs are listed by. */
export const LISTED_STATES = [
  'running',
  'waiting',
  'completed',
  'failed',
  'canceled',
  'terminated',
  'timed_out',
] as const;

/** One of {@link LISTED_STATES}. */
export type ListedState = (typeof LISTED_STATES)[number];

/** Which runs to list. */
export interface ListOptions {
  /** Only live runs. */
  readonly running?: boolean;
  /** Only runs of the agent of this name. */
  readonly agent?: string;
  /** Only runs that no other run started. */
  readonly roots?: boolean;
  /** Only runs in this state; `running` means live and not waiting for a person. */
  readonly state?: ListedState;
  /** Only runs whose id begins with this. */
  readonly idPrefix?: string;
  /** At most this many, newest first; default 100. */
  readonly limit?: number;
}

/** Something that waits for a person, and its run. */
export interface InboxItem {
  /** Id of the run. */
  readonly run: string;
  readonly agent: string;
  /** The first 200 characters of the task. */
  readonly task: string;
  readonly item: PendingItem;
}

/** What waits for people, in all runs. */
export interface InboxView {
  /** Oldest first. */
  readonly items: readonly InboxItem[];
  /** Ids of runs that wait for a person, but no worker answers to say what they wait for. */
  readonly silent: readonly string[];
}

/**
 * The runs that `options` name, newest first.
 *
 * @throws UsageError `number` for a limit below 1, `invalid_input` for an unknown state.
 */
export async function listRuns(
  client: Client,
  options: ListOptions,
  hasAttributes: boolean,
): Promise<readonly RunSummary[]> {
  const { limit = 100 } = options;
  if (!Number.isSafeInteger(limit) || limit < 1) {
    throw new UsageError('number', `Expected \`limit\` from 1 up, got ${shown(limit)}. Change it.`);
  }
  checkState(options.state);
  const runs: RunSummary[] = [];
  for await (const info of tolerant(client).workflow.list({
    query: queryOf(options, hasAttributes),
  })) {
    // The list has every link; only the last link of a run stands for the run.
    if (info.status.name === 'CONTINUED_AS_NEW') continue;
    const run = summaryOf(info);
    if (isWanted(run, options)) runs.push(run);
    if (runs.length >= limit) break;
  }
  return runs;
}

function checkState(state: ListOptions['state']): void {
  if (state === undefined || LISTED_STATES.includes(state)) return;
  throw new UsageError(
    'invalid_input',
    `Expected a state of ${LISTED_STATES.join(', ')}, got ${shown(state)}. Choose one of them.`,
  );
}

/**
 * The part of `options` that the service can filter by. Runs that were started without attributes
 * are listed too, for {@link isWanted}.
 */
function queryOf(
  { running = false, idPrefix = '', state, agent }: ListOptions,
  hasAttributes: boolean,
): string {
  const status = state === undefined ? undefined : STATUS_OF_STATE[state];
  return [
    `WorkflowType = '${AGENT_WORKFLOW}'`,
    ...(running ? [IS_RUNNING] : []),
    ...(status === undefined ? [] : [`ExecutionStatus = '${status}'`]),
    ...(hasAttributes ? attributeFilters(agent, state) : []),
    ...(idPrefix === '' ? [] : [`WorkflowId STARTS_WITH ${quoted(idPrefix)}`]),
  ].join(' AND ');
}

function attributeFilters(
  agent: ListOptions['agent'],
  state: ListOptions['state'],
): readonly string[] {
  const isLive = state === 'running' || state === 'waiting';
  const is = (name: string, value: string): string =>
    `(${name} = ${quoted(value)} OR ${name} IS NULL)`;
  return [
    ...(agent === undefined ? [] : [is(SEARCH_ATTRIBUTES.agent, agent)]),
    ...(isLive ? [is(SEARCH_ATTRIBUTES.state, state)] : []),
  ];
}

const IS_RUNNING = "ExecutionStatus = 'Running'";

/** The words of the service for states. */
const STATUS_OF_STATE: Readonly<Record<ListedState, string>> = {
  running: 'Running',
  waiting: 'Running',
  completed: 'Completed',
  failed: 'Failed',
  canceled: 'Canceled',
  terminated: 'Terminated',
  timed_out: 'TimedOut',
};

function isWanted(run: RunSummary, { agent, roots = false, state }: ListOptions): boolean {
  return (
    (agent === undefined || run.agent === agent) &&
    (!roots || run.parent === null) &&
    (state === undefined || run.state === state)
  );
}

/** A string literal for a list query of the service. */
/** `text` as a text of a list filter. */
export function quoted(text: string): string {
  return `'${wellFormedText(text).replaceAll(/['\\]/g, (character) => `\\${character}`)}'`;
}

/** What waits for people, in all live runs. */
export async function readInbox(
  client: Client,
  attach: (id: string) => { pending(): Promise<readonly PendingItem[]> },
  hasAttributes: boolean,
): Promise<InboxView> {
  const waiting: RunSummary[] = [];
  const query = queryOf({ state: 'waiting' }, hasAttributes);
  for await (const info of tolerant(client).workflow.list({ query })) {
    const run = summaryOf(info);
    if (run.state === 'waiting') waiting.push(run);
  }
  const items: InboxItem[] = [];
  const silent: string[] = [];
  await inTurns(waiting, async ({ id: run, agent, task }) => {
    try {
      const pending = await attach(run).pending();
      // A run below reports its own items.
      const own = pending.filter((item) => item.run === undefined);
      items.push(...own.map((item) => ({ run, agent, task, item })));
    } catch (error) {
      if (!isUsageError(error)) throw error;
      silent.push(run);
    }
  });
  return { items: items.toSorted((a, b) => a.item.since - b.item.since), silent };
}

/**
 * What the service knows of run `id`; needs no worker.
 *
 * @throws UsageError `run_not_found`, `not_an_agent`.
 */
export async function readSummary(client: Client, id: string): Promise<RunSummary> {
  const info = await asking(id, () => tolerant(client).workflow.getHandle(id).describe());
  if (info.type !== AGENT_WORKFLOW) throw notAnAgent(id);
  return summaryOf(info);
}

function summaryOf(info: Omit<WorkflowExecutionInfo, 'raw'>): RunSummary {
  const { workflowId: id, status, memo = {}, parentExecution, startTime, closeTime } = info;
  const agent = memoText(memo, 'agent');
  const isReadable = agent !== UNREADABLE_AGENT;
  return {
    id,
    agent,
    task: isReadable ? memoText(memo, 'task') : '',
    status: status.name,
    state: stateOf(status.name, isReadable ? memo['waiting'] === true : isVisiblyWaiting(info)),
    parent: parentExecution?.workflowId || null,
    startedAt: startTime,
    closedAt: closeTime ?? null,
  };
}

/** Whether the attributes of a run say that it waits for a person. */
function isVisiblyWaiting({
  typedSearchAttributes,
}: Pick<WorkflowExecutionInfo, 'typedSearchAttributes'>): boolean {
  const state = defineSearchAttributeKey(SEARCH_ATTRIBUTES.state, 'KEYWORD');
  return typedSearchAttributes.get(state) === visibleState(true);
}

function stateOf(status: string, isWaiting: boolean): ListedState {
  if (status === 'RUNNING' && isWaiting) return 'waiting';
  const state = status === 'CANCELLED' ? 'canceled' : status.toLowerCase();
  return LISTED_STATES.find((known) => known === state) ?? 'running';
}

/** The text under `key` of a memo, or an empty one. */
export function memoText(memo: { readonly [key: string]: unknown }, key: string): string {
  const value = memo[key];
  return typeof value === 'string' ? value : '';
}
