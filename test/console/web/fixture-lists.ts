/** Fixed lists of runs, long enough to be windowed. */
import type { RunProgress, RunRow, RunsAnswer } from '../../../src/console/api.ts';
import type { MemoryRun } from '../../../src/testing/memory-run.ts';
import { FIXTURE_NOW, spentBy, type FixtureRun } from './fixture-data.ts';

/** Rows that only the list has. */
const OTHERS = 10_000;

const STATES = ['completed', 'completed', 'failed', 'completed', 'canceled', 'completed'] as const;
const NAMES = ['airline', 'clerk', 'research'];
const TASKS = [
  'Please list every flight of the year.',
  'Compare the three suppliers and write two pages.',
  'What changed in the law since March?',
  'Refund the late orders of April.',
];

const others: readonly RunRow[] = Array.from({ length: OTHERS }, (_, index) => {
  const startedAt = FIXTURE_NOW - 4_000_000 - index * 3_600_000;
  const agent = NAMES[index % NAMES.length] ?? 'airline';
  const id = `${agent}-${OTHERS - index}`;
  return {
    id,
    agent,
    task: TASKS[index % TASKS.length] ?? '',
    state: stateOf(OTHERS - index),
    parent: null,
    root: id,
    startedAt,
    closedAt: startedAt + 60_000,
  };
});

function stateOf(number: number): (typeof STATES)[number] {
  return STATES[(OTHERS - number) % STATES.length] ?? 'completed';
}

function isAtLimit(number: number): boolean {
  return stateOf(number) === 'completed' && number % 9 === 4;
}

/** The answer to GET /runs. */
export function listOf(runs: readonly FixtureRun[], query: URLSearchParams): RunsAnswer {
  const below = query.get('below');
  const all = below === null ? [...runs.map(rowOf), ...others] : rowsBelow(runs, below);
  const words = (query.get('q') ?? '').toLowerCase();
  const state = query.get('state');
  const agent = query.get('agent');
  const rows = all.filter(
    (row) =>
      (state === null || row.state === state || (state === 'limit' && isAtLimit(numberOf(row)))) &&
      (agent === null || row.agent === agent) &&
      `${row.id} ${row.task}`.toLowerCase().includes(words),
  );
  const counts: Record<string, number> = {};
  for (const row of all) counts[row.state] = (counts[row.state] ?? 0) + 1;
  const from = Number(query.get('cursor') ?? 0);
  const next = from + Number(query.get('limit') ?? 200);
  return {
    rows: rows.slice(from, next),
    cursor: next < rows.length ? String(next) : null,
    counts: counts as unknown as RunsAnswer['counts'],
  };
}

function numberOf({ id }: Pick<RunRow, 'id'>): number {
  return Number(id.split('-').at(-1));
}

function rowOf({ id, agent, task, step, events }: FixtureRun): RunRow {
  return {
    id,
    agent,
    task,
    state: step === null ? 'waiting' : 'completed',
    ...(step === null ? {} : { status: step.status }),
    parent: null,
    root: id,
    startedAt: events[0]?.at ?? FIXTURE_NOW,
    closedAt: step === null ? null : (events.at(-1)?.at ?? FIXTURE_NOW),
  };
}

/** The id of a run below `id`: that of its call after it. */
export function idBelow(
  id: string,
  { address }: Pick<MemoryRun['children'][number], 'address'>,
): string {
  return `${id}/${address.split('/').at(-1) ?? ''}`;
}

function rowsBelow(runs: readonly FixtureRun[], above: string): readonly RunRow[] {
  const visit = (memory: FixtureRun['memory'], parent: string, root: RunRow): readonly RunRow[] =>
    memory.children.flatMap((child) => {
      const id = idBelow(parent, child);
      const row = { ...root, id, agent: child.state.head.spec.name, parent, root: root.id };
      return [row, ...visit(child, id, root)];
    });
  return runs
    .flatMap((run) => visit(run.memory, run.id, rowOf(run)))
    .filter(({ id }) => id.startsWith(`${above}/`));
}

/** The progress of run `id`. */
export function progressOf(runs: readonly FixtureRun[], id: string): RunProgress {
  const root = runs.find((each) => id === each.id || id.startsWith(`${each.id}/`));
  if (root === undefined) return progressOfOther(id);
  const memory = memoryOf(root, id);
  const usage = spentBy({ ...root, memory, step: id === root.id ? root.step : null });
  const [tightest = null] = root.budgets.toSorted((a, b) => b.used / b.max - a.used / a.max);
  return {
    id,
    state: root.step === null ? 'waiting' : 'ended',
    iteration: memory.state.iteration,
    tokens: usage.totalTokens,
    costMicroUsd: usage.costMicroUsd,
    tightest,
    waitsFor: [],
    children: memory.children.length,
    ...(root.step === null ? {} : { status: root.step.status }),
  };
}

function memoryOf(run: FixtureRun, id: string): FixtureRun['memory'] {
  const visit = (memory: FixtureRun['memory'], at: string): FixtureRun['memory'] | undefined => {
    if (at === id) return memory;
    for (const child of memory.children) {
      const found = visit(child, idBelow(at, child));
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return visit(run.memory, run.id) ?? run.memory;
}

function progressOfOther(id: string): RunProgress {
  const number = numberOf({ id });
  const max = 60_000;
  const atLimit = isAtLimit(number);
  const used = atLimit ? max + 112 : 300 + ((number * 1_370) % 50_000);
  return {
    id,
    state: 'ended',
    iteration: 1 + (number % 11),
    tokens: used,
    costMicroUsd: used * 7,
    tightest: {
      key: 'agent:total_tokens',
      origin: 'self',
      max,
      used,
      reserved: 0,
      free: max - used,
    },
    waitsFor: [],
    children: 0,
    ...(atLimit ? { status: 'limit_exceeded' as const } : {}),
  };
}
