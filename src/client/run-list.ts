/** Lists runs, page by page, and counts them. */
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { defined } from '../core/base/defined.ts';
import { conversationOf } from '../core/base/ids.ts';
import { UsageError } from '../core/base/usage-error.ts';
import { AGENT_WORKFLOW } from '../core/contract/messages.ts';
import { SEARCH_ATTRIBUTES, visibleState } from '../core/base/search-attributes.ts';
import { tenantProblem } from '../core/tenant/tenant.ts';
import { shown } from '../core/text/shown.ts';
import { LISTED_STATES, type ListedState } from './reading/listed-states.ts';
import { defineSearchAttributeKey } from '@temporalio/common';
import { UNREADABLE_TEXT } from '../protection/data-converter.ts';
import { describeRun } from './connection/own-run.ts';
import { quoted, readListPage } from './connection/list-queries.ts';

/** The agent of a run in a summary, if this process lacks the key of its memo. */
export const UNREADABLE_AGENT: string = UNREADABLE_TEXT;

/** One run in a list, or by itself. */
export interface RunSummary {
  readonly id: string;
  /** `(encrypted)`: this process lacks the key, and `task` is empty. */
  readonly agent: string;
  /** The conversation that the run is; absent: it is none. */
  readonly conversation?: string;
  /** The first 200 characters of the task; of a conversation, of its first message. */
  readonly task: string;
  /** `RUNNING`, `COMPLETED`, `FAILED`, `CANCELLED`, `TERMINATED`, `TIMED_OUT`. */
  readonly status: string;
  /** As `status`, but `waiting` for a live run that waits for a person. */
  readonly state: ListedState;
  /** Id of the run above; null for a root. */
  readonly parent: string | null;
  /** Id of the root of its tree; its own for a root. */
  readonly root: string;
  /** The run that it is a fork of; absent: it is none. */
  readonly forkedFrom?: string;
  readonly startedAt: Date;
  readonly closedAt: Date | null;
  /** Id of the schedule that started it; absent: none. */
  readonly schedule?: string;
}

/** Which runs to list. */
export interface ListOptions {
  /** Only live runs. */
  readonly running?: boolean;
  /** Only runs of the agent of this name. */
  readonly agent?: string;
  /** Only runs that no other run started. */
  readonly roots?: boolean;
  /** Only runs that the schedule of this id started; not those below them. */
  readonly schedule?: string;
  /** Only runs in this state; `running` means live and not waiting for a person. */
  readonly state?: ListedState;
  /** Only runs of this tenant, with their children. */
  readonly tenant?: string;
  /** Only runs whose id begins with this. */
  readonly idPrefix?: string;
  /** Only runs that began at this time or later; a number counts milliseconds since 1970. */
  readonly since?: Date | number;
  /** At most this many, newest first; default 100. */
  readonly limit?: number;
}

/** Which page of a list. */
export interface PageOptions extends ListOptions {
  /** From the page before, for the same filters; default, or null: the first page. */
  readonly cursor?: string | null;
}

/** One page of a list of runs. */
export interface RunPage {
  /** Newest first; may be fewer than the limit, and none, though others follow. */
  readonly runs: readonly RunSummary[];
  /** Of the next page; null: the list ends here. */
  readonly cursor: string | null;
}

/** Which runs to count. */
export type CountOptions = Pick<ListOptions, 'agent' | 'roots' | 'tenant' | 'idPrefix' | 'since'>;

/**
 * How many runs there are in each state. Null: the namespace lacks the search attribute, so runs that
 * wait are among the running ones.
 */
export interface RunCounts extends Readonly<Record<Exclude<ListedState, 'waiting'>, number>> {
  readonly waiting: number | null;
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
  const runs: RunSummary[] = [];
  let cursor: string | null = null;
  do {
    const rest: PageOptions = { ...options, limit: limit - runs.length, cursor };
    const page: RunPage = await listPage(client, rest, hasAttributes);
    runs.push(...page.runs);
    ({ cursor } = page);
  } while (cursor !== null && runs.length < limit);
  return runs;
}

/** Pages of the service for one page of runs: it cannot filter runs without attributes. */
const MAX_SERVICE_PAGES = 10;

/** Runs of a page of the service, when not all of them may be wanted. */
const MIN_SERVICE_PAGE = 100;

/**
 * A page of the runs that `options` name, newest first.
 *
 * @throws UsageError `number` for a limit below 1, `invalid_input` for an unknown state or a cursor
 * that is none.
 */
export async function listPage(
  client: Client,
  options: PageOptions,
  hasAttributes: boolean,
): Promise<RunPage> {
  const { limit = 100, cursor = null } = options;
  if (!Number.isSafeInteger(limit) || limit < 1) {
    throw new UsageError('number', `Expected \`limit\` from 1 up, got ${shown(limit)}. Change it.`);
  }
  checkState(options.state);
  const query = queryOf(options, hasAttributes);
  const start = cursor === null ? FIRST_PAGE : readCursor(cursor);
  const runs: RunSummary[] = [];
  let { token, skip } = start;
  for (let read = 0; read < MAX_SERVICE_PAGES; read++) {
    // Runs that begin meanwhile move those of the first page, so none of it is left for later.
    const pageSize = token === null ? limit : Math.max(limit, MIN_SERVICE_PAGE);
    const page = await readListPage(client, { query, pageSize, token });
    for (const [at, info] of page.infos.entries()) {
      if (at < skip) continue;
      const run = runOf(info);
      if (run === null || !isWanted(run, options)) continue;
      runs.push(run);
      if (runs.length < limit) continue;
      const isEnd = at === page.infos.length - 1;
      const next = isEnd ? { token: page.token, skip: 0 } : { token, skip: at + 1 };
      return { runs, cursor: isEnd && page.token === null ? null : cursorOf(next) };
    }
    if (page.token === null) return { runs, cursor: null };
    ({ token } = page);
    skip = Math.max(0, skip - page.infos.length);
  }
  return { runs, cursor: cursorOf({ token, skip }) };
}

/** The list has every link; only the last link of a run stands for the run. */
export function runOf(info: WorkflowExecutionInfo): RunSummary | null {
  return info.status.name === 'CONTINUED_AS_NEW' ? null : summaryOf(info);
}

/** A place in a list: a page of the service, and how many of its runs come before. */
interface ListPlace {
  readonly token: Uint8Array | null;
  readonly skip: number;
}

const FIRST_PAGE: ListPlace = { token: null, skip: 0 };

function cursorOf({ token, skip }: ListPlace): string {
  return `${skip}.${Buffer.from(token ?? []).toString('base64url')}`;
}

function readCursor(cursor: string): ListPlace {
  const [, skip, token = ''] = /^(\d{1,9})\.([\w-]{0,4096})$/.exec(String(cursor)) ?? [];
  if (skip === undefined) {
    throw new UsageError(
      'invalid_input',
      `Expected the cursor of a page, got ${shown(cursor)}. Leave it out to begin at the first page.`,
    );
  }
  const bytes = Buffer.from(token, 'base64url');
  return { token: bytes.length === 0 ? null : bytes, skip: Number(skip) };
}

/**
 * How many runs there are in each state, of those that `options` name.
 *
 * @throws UsageError `invalid_input` for an agent where the namespace lacks the search attributes.
 */
export async function countRuns(
  client: Client,
  options: CountOptions,
  hasAttributes: boolean,
): Promise<RunCounts> {
  const { agent } = options;
  if (agent !== undefined && !hasAttributes) {
    throw new UsageError(
      'invalid_input',
      'Expected a namespace with the search attributes of runs to count those of an agent, got one without. Add them with `everloop setup`.',
    );
  }
  const { agent: _agent, ...others } = options;
  const filter = queryOf(others, hasAttributes);
  const ofAgent = agent === undefined ? '' : ` AND ${SEARCH_ATTRIBUTES.agent} = ${quoted(agent)}`;
  const { groups } = await client.workflow.count(`${filter}${ofAgent} GROUP BY ExecutionStatus`);
  const counts = { ...NO_RUNS, waiting: null as number | null };
  for (const { groupValues, count } of groups) {
    const status = String(groupValues[0] ?? '');
    const state = LISTED_STATES.find((one) => STATUS_OF_STATE[one] === status);
    if (state !== undefined && state !== 'waiting') counts[state] += count;
  }
  if (!hasAttributes) return counts;
  const waits = `${IS_RUNNING} AND ${SEARCH_ATTRIBUTES.state} = ${quoted(visibleState(true))}`;
  const { count } = await client.workflow.count(`${filter}${ofAgent} AND ${waits}`);
  counts.waiting = count;
  counts.running = Math.max(0, counts.running - count);
  return counts;
}

const NO_RUNS = { running: 0, completed: 0, failed: 0, canceled: 0, terminated: 0, timed_out: 0 };

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
export function queryOf(
  {
    running = false,
    roots = false,
    tenant,
    idPrefix = '',
    state,
    agent,
    since,
    schedule,
  }: ListOptions,
  hasAttributes: boolean,
): string {
  const status = state === undefined ? undefined : STATUS_OF_STATE[state];
  return [
    `WorkflowType = '${AGENT_WORKFLOW}'`,
    "ExecutionStatus != 'ContinuedAsNew'",
    ...(running ? [IS_RUNNING] : []),
    ...(status === undefined ? [] : [`ExecutionStatus = '${status}'`]),
    ...(since === undefined ? [] : [`StartTime >= ${quoted(timeOf(since))}`]),
    // A service that has the attributes knows parents as well.
    ...(roots && hasAttributes ? ['ParentWorkflowId IS NULL'] : []),
    ...(hasAttributes ? attributeFilters(agent, state) : []),
    ...(schedule === undefined ? [] : [`${SCHEDULED_BY} = ${quoted(schedule)}`]),
    // Ids say it in every namespace, with the search attribute or without.
    ...(tenant === undefined
      ? []
      : [`WorkflowId STARTS_WITH ${quoted(`${checkedTenant(tenant)}:`)}`]),
    ...(idPrefix === '' ? [] : [`WorkflowId STARTS_WITH ${quoted(idPrefix)}`]),
  ].join(' AND ');
}

function checkedTenant(tenant: string): string {
  const problem = tenantProblem(tenant);
  if (problem === undefined) return tenant;
  throw new UsageError('invalid_input', problem);
}

function timeOf(since: Date | number): string {
  const date = new Date(since);
  if (!Number.isNaN(date.getTime())) return date.toISOString();
  throw new UsageError(
    'invalid_input',
    `Expected \`since\` to be a date or milliseconds since 1970, got ${shown(since)}. Change it.`,
  );
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

/**
 * What the service knows of run `id`; needs no worker.
 *
 * @throws UsageError `run_not_found`, `not_an_agent`.
 */
export async function readSummary(client: Client, id: string): Promise<RunSummary> {
  const info = await describeRun(client, id);
  return summaryOf(info);
}

function summaryOf(info: Omit<WorkflowExecutionInfo, 'raw'>): RunSummary {
  const { workflowId: id, status, memo = {}, parentExecution, startTime, closeTime } = info;
  const root = info.rootExecution?.workflowId || id;
  const agent = memoText(memo, 'agent');
  const isReadable = agent !== UNREADABLE_AGENT;
  return {
    id,
    agent,
    task: isReadable ? memoText(memo, 'task') : '',
    status: status.name,
    state: stateOf(status.name, isReadable ? memo['waiting'] === true : isVisiblyWaiting(info)),
    parent: parentExecution?.workflowId || null,
    root,
    ...defined({
      conversation: conversationOf(id),
      forkedFrom: memoText(memo, 'forkedFrom') || undefined,
    }),
    startedAt: startTime,
    closedAt: closeTime ?? null,
    ...defined({ schedule: scheduleOf(info) }),
  };
}

/** The search attribute in which the service names the schedule of a run. */
const SCHEDULED_BY = 'TemporalScheduledById';

function scheduleOf({
  searchAttributes,
}: Pick<WorkflowExecutionInfo, 'searchAttributes'>): string | undefined {
  const [id] = searchAttributes?.[SCHEDULED_BY] ?? [];
  return typeof id === 'string' ? id : undefined;
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
