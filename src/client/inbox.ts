/**
 * What waits for people, in all runs. The list of the service has it in the memo of each run, so no
 * run is asked but those with more items than a memo holds.
 *
 * I1  Memos are data of others: what is no item is left out.
 * I2  Runs are asked a few at a time, and none after `withinMs`.
 */
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { defined } from '../core/base/defined.ts';
import { isPlainObject } from '../core/base/json.ts';
import { isUsageError } from '../core/base/usage-error.ts';
import { WAITS_KEY } from '../core/people/listed-waits.ts';
import type { PendingItem } from '../core/contract/messages.ts';
import { pendingQuery } from '../workflows/messages.ts';
import { readListPage, type ListPage } from './connection/list-queries.ts';
import { inTurns } from './connection/in-turns.ts';
import { askOpen } from './reading/ended-run.ts';
import { queryOf, runOf, type RunSummary } from './run-list.ts';

/** Which items of the inbox to read. */
export interface InboxOptions {
  /** At most the items of this many runs, those first that began first; default: all that wait. */
  readonly limit?: number;
  /**
   * For how long runs are asked whose list does not say all that they wait for, in milliseconds;
   * default 10,000.
   */
  readonly withinMs?: number;
}

/** Something that waits for a person, and its run. */
export interface InboxItem {
  /** Id of the run. */
  readonly run: string;
  readonly agent: string;
  /** The first 200 characters of the task. */
  readonly task: string;
  readonly item: PendingItem;
  /** Set if long parts of `item` are cut or left out: `run.pending()` has it whole. */
  readonly isCut?: true;
}

/** What waits for people, in all runs: complete if `silent` is empty and `more` is 0. */
export interface InboxView {
  /** Oldest first. */
  readonly items: readonly InboxItem[];
  /** Ids of runs that wait for more than `items` has, but no worker answers to say for what. */
  readonly silent: readonly string[];
  /** How many runs wait that were left out, because of `limit` or `withinMs`. */
  readonly more: number;
}

const ASK_MS = 10_000;

/** What waits for people, in all live runs. */
export async function readInbox(
  client: Client,
  {
    hasAttributes,
    limit = Infinity,
    withinMs = ASK_MS,
  }: InboxOptions & { readonly hasAttributes: boolean },
): Promise<InboxView> {
  const waiting = (await waitingRuns(client, hasAttributes)).toSorted(
    (a, b) => a.summary.startedAt.getTime() - b.summary.startedAt.getTime(),
  );
  const chosen = waiting.slice(0, limit);
  const until = Date.now() + withinMs;
  const silent: string[] = [];
  let unasked = 0;
  const asked = await inTurns(
    chosen.filter((run) => !run.isWhole),
    async ({ summary, items }) => {
      const left = until - Date.now();
      if (left <= 0) {
        unasked += 1;
        return items;
      }
      const found = await askedItems(client, summary, left);
      if (found === null) silent.push(summary.id);
      return found ?? items;
    },
  );
  const listed = chosen.filter((run) => run.isWhole).flatMap(({ items }) => items);
  return {
    items: [...listed, ...asked.flat()].toSorted((a, b) => a.item.since - b.item.since),
    silent,
    more: waiting.length - chosen.length + unasked,
  };
}

/** A run that waits, and what its memo says for what. */
interface WaitingRun {
  readonly summary: RunSummary;
  readonly items: readonly InboxItem[];
  /** False: it waits for more. */
  readonly isWhole: boolean;
}

/** Runs of one question to the service. */
const INBOX_PAGE = 1_000;

async function waitingRuns(client: Client, hasAttributes: boolean): Promise<readonly WaitingRun[]> {
  const query = queryOf({ state: 'waiting' }, hasAttributes);
  const runs: WaitingRun[] = [];
  let token: Uint8Array | null = null;
  do {
    const page: ListPage = await readListPage(client, { query, pageSize: INBOX_PAGE, token });
    for (const info of page.infos) {
      const summary = runOf(info);
      if (summary?.state === 'waiting') runs.push(waitingRun(summary, info.memo ?? {}));
    }
    ({ token } = page);
  } while (token !== null);
  return runs;
}

function waitingRun(
  summary: RunSummary,
  memo: NonNullable<WorkflowExecutionInfo['memo']>,
): WaitingRun {
  const listed = memo[WAITS_KEY];
  if (!isPlainObject(listed) || !Array.isArray(listed['items'])) {
    return { summary, items: [], isWhole: false };
  }
  const values = listed['items'] as readonly unknown[];
  const items = values.flatMap((value) => listedItem(summary, value) ?? []);
  return { summary, items, isWhole: listed['more'] === 0 && items.length === values.length };
}

/** An item of a memo; null: it is none. */
function listedItem(summary: RunSummary, value: unknown): InboxItem | null {
  if (!isPlainObject(value) || !isItem(value)) return null;
  const { isCut, ...item } = value;
  const { id: run, agent, task } = summary;
  const mark = isCut === true ? isCut : undefined;
  const found = { ...item, agent } as unknown as PendingItem;
  return { run, agent, task, item: found, ...defined({ isCut: mark }) };
}

function isItem(value: { readonly [key: string]: unknown }): boolean {
  const { id, path, since, deadline = 0, kind, question, options = [], tool, args } = value;
  if (![id, path].every((text) => typeof text === 'string')) return false;
  if (![since, deadline].every((time) => typeof time === 'number')) return false;
  if (kind === 'question') {
    const areTexts = Array.isArray(options) && options.every((text) => typeof text === 'string');
    return typeof question === 'string' && areTexts;
  }
  return (
    ['approval', 'external'].includes(String(kind)) &&
    typeof tool === 'string' &&
    isPlainObject(args)
  );
}

/** What the run itself says; null if no worker answers. A run below reports its own items. */
async function askedItems(
  client: Client,
  { id: run, agent, task }: RunSummary,
  withinMs: number,
): Promise<readonly InboxItem[] | null> {
  try {
    const open = await askOpen(client, run, (handle) => handle.query(pendingQuery), { withinMs });
    const own = (open?.answer ?? []).filter(
      (item) => item.run === undefined && item.kind !== 'pause',
    );
    return own.map((item) => ({ run, agent, task, item }));
  } catch (error) {
    if (!isUsageError(error)) throw error;
    return null;
  }
}
