/** What the server of fixtures answers: runs that were played in memory, with times of real ones. */
import type { AgentEvent } from '../../../src/core/contract/events.ts';
import type { Entry } from '../../../src/core/contract/entry.ts';
import type { BudgetLine, PendingItem } from '../../../src/core/contract/messages.ts';
import { treeView } from '../../../src/core/run/tree-view.ts';
import { usageOf } from '../../../src/core/run/step-of.ts';
import type { Step } from '../../../src/core/contract/step.ts';
import type { ProgramView } from '../../../src/core/contract/report.ts';
import type { AttemptView } from '../../../src/console/view/attempts.ts';
import type { MemoryRun } from '../../../src/testing/memory-run.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { startInMemory } from '../../../src/testing/run-in-memory.ts';
import { playedInMemory, SCENARIOS } from '../../support/scenarios.ts';
import { clerk, playedLong, playedTree } from '../view/played-runs.ts';
import { timed } from './timed-events.ts';

/** The moment at which the fixtures stand: 2026-03-10T09:10:00Z. */
export const FIXTURE_NOW: number = Date.parse('2026-03-10T09:10:00Z');

/** One run as the server of fixtures knows it. */
export interface FixtureRun {
  readonly id: string;
  readonly agent: string;
  readonly task: string;
  readonly events: readonly AgentEvent[];
  readonly entries: readonly Entry[];
  readonly pending: readonly PendingItem[];
  readonly budgets: readonly BudgetLine[];
  readonly attempts: readonly AttemptView[];
  readonly program: ProgramView | null;
  readonly step: Step | null;
  readonly memory: MemoryRun;
}

/** The runs of the fixtures, newest first. */
export async function fixtureRuns(): Promise<readonly FixtureRun[]> {
  return Promise.all([waitingClerk(), airline(), tree(), long()]);
}

function runOf(
  memory: MemoryRun,
  fields: Pick<FixtureRun, 'id' | 'task' | 'events' | 'step'> & Partial<FixtureRun>,
): FixtureRun {
  const view = treeView(memory.state, FIXTURE_NOW);
  return {
    agent: view.agent,
    entries: memory.entries,
    pending: [],
    budgets: view.budgets,
    attempts: [],
    program: memory.program(),
    memory,
    ...fields,
  };
}

async function waitingClerk(): Promise<FixtureRun> {
  const memory = clerk();
  const found = await memory.resultOrPending();
  const events = timed([...memory.events], FIXTURE_NOW - 16_000);
  const pending = found.kind === 'pending' ? found.pending : [];
  return runOf(memory, {
    id: 'clerk-df080a90-7b6e-487e-8734-08ea4c56a40a',
    task: 'Refund the late orders of May.',
    events,
    pending: pending.map((item) => ({ ...item, since: FIXTURE_NOW - 14_000 })),
    step: null,
  });
}

async function airline(): Promise<FixtureRun> {
  const scenario = SCENARIOS.find(({ name }) => name === 'airline-yaml');
  if (scenario === undefined) throw new Error('Expected the scenario airline-yaml.');
  const agent = scenario.agent({});
  const { task } = scenario;
  const memory = startInMemory({ agent, task, clock: createFakeClock(FIXTURE_NOW) });
  const step = await playedInMemory(memory, scenario);
  const start = FIXTURE_NOW - 120_000;
  const events = timed([...memory.events], start, 3);
  const call = events.find(
    (event) => event.type === 'agent:model_call:before' && event.iteration === 3,
  );
  const from = call?.at ?? start;
  const last = events.at(-1)?.at ?? start;
  return runOf(memory, {
    id: 'airline-55a09702-9302-46b7-bf16-4c9d6e22a107',
    task,
    events,
    attempts: [
      {
        work: 'model',
        iteration: 3,
        attempt: 1,
        scheduledAt: from + 20,
        startedAt: from + 30,
        endedAt: from + 3_200,
        worker: '15401@machine',
        outcome: 'lost',
        reason: 'activity Heartbeat timeout',
      },
      {
        work: 'model',
        iteration: 3,
        attempt: 2,
        scheduledAt: from + 6_380,
        startedAt: from + 6_400,
        endedAt: from + 7_690,
        worker: '15466@machine',
      },
    ],
    budgets: runOf(memory, { id: '', task, events, step }).budgets,
    step: { ...step, usage: { ...step.usage, durationMs: last - start } },
  });
}

async function tree(): Promise<FixtureRun> {
  const memory = await playedTree();
  return runOf(memory, {
    id: 'top-31',
    task: 'Look everywhere.',
    events: timed([...memory.events], FIXTURE_NOW - 600_000),
    step: lasting(await memory.result, 21_000),
  });
}

async function long(): Promise<FixtureRun> {
  const memory = await playedLong();
  return runOf(memory, {
    id: 'tester-7',
    task: 'Go',
    events: timed([...memory.events], FIXTURE_NOW - 3_600_000),
    step: lasting(await memory.result, 21_000),
  });
}

/** What a run has spent. */
export function spentBy({ memory, step }: FixtureRun): Step['usage'] {
  return step?.usage ?? usageOf(memory.state.stats);
}

function lasting(step: Step, durationMs: number): Step {
  return { ...step, usage: { ...step.usage, durationMs } };
}
