/**
 * A console with more than a test can run: a run of thousands of iterations and thousands of runs.
 * The client's answers are prepared; console, API and pages are the real ones.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunSummary } from '../../../src/client/run-list.ts';
import type { ConsoleClient } from '../../../src/console/console-client.ts';
import { openConsole } from '../../../src/console/serve/open-console.ts';
import type { Entry } from '../../../src/core/contract/entry.ts';
import type { AgentEvent } from '../../../src/core/contract/events.ts';
import { memoryEverloop } from '../../support/memory-everloop.ts';
import { fakeRun } from '../../cli/cli-fixture.ts';
import { act, answer, searchTool } from '../../support/runs.ts';
import { player } from '../../support/trees.ts';

/** A console that listens, with its large run. */
export interface LargeConsole {
  /** The address of a page, with the key. */
  readonly urlOf: (path: string) => string;
  readonly close: () => Promise<void>;
}

/** The id of the large run. */
export const LARGE_RUN = 'tester-large';

/** Opens a console of a run of so many iterations, and of so many runs. */
export async function openLargeConsole(iterations: number, runs: number): Promise<LargeConsole> {
  const dataDir = await mkdtemp(join(tmpdir(), 'everloop-large-'));
  const everloop = await largeClient(iterations, runs);
  const opened = await openConsole({ everloop, dataDir, env: {}, port: 0 });
  const { hash, origin } = new URL(opened.address);
  return {
    urlOf: (path) => `${origin}${path}${hash}`,
    close: async () => {
      await opened.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function largeClient(iterations: number, runs: number): Promise<ConsoleClient> {
  const agent = player('tester', ({ iteration }) => (iteration < 3 ? act('more') : answer()), {
    tools: [searchTool()],
  });
  const memory = memoryEverloop([agent]);
  const played = await memory.start('tester', { id: LARGE_RUN, task: 'Go on and on.' });
  await played.result();
  const { status, ...overview } = await played.view();
  const { step: _step, ...live } = status;
  const { events, entries } = repeated(
    await played.events(),
    await played.transcript(),
    iterations,
  );
  const counted = { iteration: iterations, events: events.length, entries: entries.length };
  const view = { ...overview, status: { ...live, ...counted, state: 'running' as const } };
  const run = fakeRun(LARGE_RUN, {
    view: async () => view,
    events: async (range) => cut(events, range),
    transcript: async (range) => cut(entries, range),
    current: async () => null,
    attempts: async () => [],
    links: async () => [],
    step: async () => null,
    startedWith: async () => ({ agent: 'tester', task: { text: 'Go on and on.' } }),
    async *stream() {
      // Nothing is written.
    },
  });
  const summaries = summariesOf(runs);
  return Object.assign(memory, {
    attach: (id: string) => (id === LARGE_RUN ? run : fakeRun(id, { view: async () => view })),
    list: async () => summaries,
    counts: async () => ({ ...(await NO_COUNTS), running: 1, completed: runs - 1 }),
  });
}

const NO_COUNTS = memoryEverloop([]).counts();

function cut<Item>(
  items: readonly Item[],
  { from = 0, limit = items.length }: { readonly from?: number; readonly limit?: number } = {},
): readonly Item[] {
  return items.slice(from, from + limit);
}

/** The second iteration of a run, again and again. */
function repeated(
  events: readonly AgentEvent[],
  entries: readonly Entry[],
  iterations: number,
): { readonly events: readonly AgentEvent[]; readonly entries: readonly Entry[] } {
  const start = Date.now() - iterations * 2_000;
  const ofSecond = JSON.stringify(events.filter(({ iteration }) => iteration === 2));
  const again = events.filter(({ iteration }) => iteration === 0);
  for (let number = 1; number <= iterations; number++) {
    const block = JSON.parse(ofSecond.replaceAll('"2.1"', `"${number}.1"`)) as AgentEvent[];
    for (const [index, event] of block.entries()) {
      const at = start + number * 2_000 + index * 100;
      again.push({ ...event, iteration: number, at, seq: again.length + 1 });
    }
  }
  const entry = entries.find(({ iteration }) => iteration === 2);
  const kept = Array.from({ length: entry === undefined ? 0 : iterations }, (_, index) => ({
    ...(entry as Entry),
    index,
    iteration: index + 1,
  }));
  return { events: again, entries: kept };
}

function summariesOf(count: number): readonly RunSummary[] {
  const now = Date.now();
  return Array.from({ length: count }, (_, index): RunSummary => {
    const isLarge = index === 0;
    const id = isLarge ? LARGE_RUN : `tester-${count - index}`;
    const startedAt = new Date(now - index * 60_000);
    return {
      id,
      agent: index % 3 === 0 ? 'tester' : 'clerk',
      task: isLarge ? 'Go on and on.' : `Task number ${count - index}.`,
      status: isLarge ? 'RUNNING' : 'COMPLETED',
      state: isLarge ? 'running' : 'completed',
      parent: null,
      root: id,
      startedAt,
      closedAt: isLarge ? null : startedAt,
    };
  });
}
