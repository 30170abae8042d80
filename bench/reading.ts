/**
 * `reading`: how long a client waits for what a page asks. All runs are on one server.
 *
 * - `status_ms`, `events_page_ms`: a run of 3,000 turns that has ended, whose worker is gone, and
 *   whose pages are in the archive. The page is the last 200 events. The client is new for each
 *   figure. `status_live_ms`, `events_live_ms`: the same run before its last turn, when its worker
 *   has it in memory. Its conversation of 3 MB, without a context window, fits into no hand-over.
 * - `list_ms`: the newest 200 of 10,000 runs. `inbox_ms`: all that waits in 2,000 of them. These runs
 *   are started with the memo and the attributes that a run which waits has; no worker asks for
 *   them, as none answers for them.
 *
 * Each figure is the median of nine; `first` stands for the first of them, with cold caches.
 */
import { defineSearchAttributeKey } from '@temporalio/common';
import { connect, type ConnectedEverloop } from '../src/client/connect.ts';
import type { RunHandle } from '../src/client/run-handle.ts';
import { SEARCH_ATTRIBUTES } from '../src/core/base/search-attributes.ts';
import { AGENT_WORKFLOW } from '../src/core/contract/messages.ts';
import { listWaits, WAITS_KEY } from '../src/core/people/listed-waits.ts';
import { withStage, type Stage } from './support/bench-stage.ts';
import { figure, median, type Bench, type Figure } from './support/figure.ts';
import { instantAgent } from './support/instant-agent.ts';

const TURNS = 3_000;
const PAGE = 200;
const RUNS = 10_000;
const WAITING = 2_000;
const AT_ONCE = 40;
const REPEATS = 9;

/** The benchmark `reading`. */
export const readingBench: Bench = {
  name: 'reading',
  about: 'how long a client waits for a run, its events, lists and the inbox',
  run: () =>
    withStage(async (stage) => [...(await readLongRun(stage)), ...(await readLists(stage))]),
};

async function readLongRun(stage: Stage): Promise<readonly Figure[]> {
  let hold = true;
  let held = (): void => undefined;
  const isHeld = new Promise<void>((resolve) => {
    held = resolve;
  });
  const agent = instantAgent('reading', {
    mode: 'chat',
    local: true,
    beforeReply: async ({ iteration }) => {
      if (iteration <= TURNS) return;
      held();
      while (hold) await new Promise((resolve) => setTimeout(resolve, 50));
    },
  });
  const taskQueue = 'reading';
  const { everloop, stop } = await stage.serve([agent], { taskQueue });
  const { id } = await everloop.start('reading', { task: String(TURNS), limits: 'unlimited' });
  await isHeld;
  const live = await timesOf(stage, id);
  hold = false;
  await everloop.attach(id).result();
  await stop();
  const ended = await timesOf(stage, id);
  return [
    figure('status_ms', median(ended.status), 'ms', '<= 50', ended.status[0]),
    figure('events_page_ms', median(ended.events), 'ms', '<= 100', ended.events[0]),
    figure('status_live_ms', median(live.status), 'ms', '<= 50', live.status[0]),
    figure('events_live_ms', median(live.events), 'ms', '<= 100', live.events[0]),
    figure('links', ended.links, ''),
  ];
}

interface ReadTimes {
  readonly status: readonly number[];
  readonly events: readonly number[];
  readonly links: number;
}

/** Milliseconds of each status and of each last page of events; each client is new. */
async function timesOf(stage: Stage, id: string): Promise<ReadTimes> {
  const status: number[] = [];
  const events: number[] = [];
  let links = 0;
  for (let turn = 0; turn < REPEATS; turn++) {
    await withClient(stage, async (everloop) => {
      const run = everloop.attach(id);
      status.push(await ms(() => run.status()));
      const { events: count, link } = await run.status();
      links = link;
      events.push(await ms(() => lastPage(run, count)));
    });
  }
  return { status, events, links };
}

async function lastPage(run: RunHandle, count: number): Promise<void> {
  const page = await run.events({ from: count - PAGE, limit: PAGE });
  if (page.length !== PAGE) throw new Error(`Expected ${PAGE} events, got ${page.length}.`);
}

async function readLists(stage: Stage): Promise<readonly Figure[]> {
  for (let first = 0; first < RUNS; first += AT_ONCE) {
    const numbers = Array.from({ length: AT_ONCE }, (_, index) => first + index);
    await Promise.all(numbers.map((number) => startIdle(stage, number)));
  }
  await untilListed(stage);
  return withClient(stage, async (everloop) => {
    const lists: number[] = [];
    const inboxes: number[] = [];
    for (let turn = 0; turn < REPEATS; turn++) {
      lists.push(await ms(() => everloop.list({ limit: PAGE })));
      inboxes.push(await ms(() => everloop.inbox()));
    }
    return [
      figure('list_ms', median(lists), 'ms', '<= 150', lists[0]),
      figure('inbox_ms', median(inboxes), 'ms', '<= 1000', inboxes[0]),
    ];
  });
}

/** A run as the service has it while it waits, or before its worker has begun it. */
async function startIdle({ client }: Stage, number: number): Promise<void> {
  const waits = number < WAITING;
  const item = {
    id: '1.1',
    callId: '1.1',
    kind: 'question' as const,
    since: Date.now(),
    question: `Which colour shall number ${number} have?`,
  };
  await client.workflow.start(AGENT_WORKFLOW, {
    workflowId: `idle-${number}`,
    taskQueue: 'nobody',
    args: [],
    memo: {
      agent: 'idle',
      task: `Paint number ${number}.`,
      ...(waits ? { waiting: true, [WAITS_KEY]: listWaits([item as never], 'idle') } : {}),
    },
    typedSearchAttributes: [
      { key: defineSearchAttributeKey(SEARCH_ATTRIBUTES.agent, 'KEYWORD'), value: 'idle' },
      {
        key: defineSearchAttributeKey(SEARCH_ATTRIBUTES.state, 'KEYWORD'),
        value: waits ? 'waiting' : 'running',
      },
    ],
  });
}

/** The list of the service lags behind. */
async function untilListed(stage: Stage): Promise<void> {
  await withClient(stage, async (everloop) => {
    for (;;) {
      const { items } = await everloop.inbox();
      if (items.length === WAITING) return;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  });
}

async function withClient<Result>(
  { address, folder }: Stage,
  work: (everloop: ConnectedEverloop) => Promise<Result>,
): Promise<Result> {
  const everloop = await connect({ address, dataDir: folder, taskQueue: 'reading', env: {} });
  try {
    return await work(everloop);
  } finally {
    await everloop.close();
  }
}

async function ms(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
