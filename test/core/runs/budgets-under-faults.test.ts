/**
 * Budgets of a tree while messages get lost, doubled and late and runs die on the memory
 * host, each with limits that bind in the middle of the tree. Prints how far limits were overrun.
 */
import { describe, expect, it } from 'vitest';
import type { AgentEvent } from '../../../src/core/contract/events.ts';
import type { LimitsInput } from '../../../src/core/contract/input.ts';
import type { BudgetLine } from '../../../src/core/contract/messages.ts';
import { treeView } from '../../../src/core/run/tree-view.ts';
import type { Step } from '../../../src/core/contract/step.ts';
import { createFakeClock, type FakeClock } from '../../../src/testing/fake-clock.ts';
import type { MemoryRun, TreeMessage } from '../../../src/testing/memory-run.ts';
import { startInMemory } from '../../../src/testing/run-in-memory.ts';
import { extent } from '../../support/extent.ts';
import { randomNumbers } from '../../support/kill-moments.ts';
import { asker, worker } from '../../support/tree-agents.ts';
import { ownSums, runsOf, TOKENS } from '../../support/trees.ts';

const SEEDS = extent(100, 10);
const MIDDLES = 2;
const LEAVES = 3;
/** Runs below which nothing is called: each may be in a model call when a limit is crossed. */
const BRANCHES = MIDDLES * LEAVES;
const CALL_TOKENS = TOKENS.inputTokens + TOKENS.outputTokens;

interface Limited {
  readonly limits: LimitsInput;
  readonly key: string;
  readonly max: number;
  /** What one model call in flight may add; 0: nothing of this kind is ever in flight beyond a limit. */
  readonly ofACall: number;
}

/** Undisturbed, the tree makes 54 model calls and 36 calls of its tool. */
const KINDS: readonly ((spread: number) => Limited)[] = [
  (spread) => {
    const max = 1_500 + Math.floor(spread * 2_500);
    return { limits: { totalTokens: max }, key: 'agent:total_tokens', max, ofACall: CALL_TOKENS };
  },
  (spread) => {
    const max = 1_500 + Math.floor(spread * 2_500);
    const limits = { costUsd: max / 1_000_000 };
    // A dollar for a million tokens: a micro-dollar each.
    return { limits, key: 'agent:cost_microusd', max, ofACall: CALL_TOKENS };
  },
  (spread) => {
    const max = 12 + Math.floor(spread * 30);
    return { limits: { modelCalls: max }, key: 'agent:model_calls', max, ofACall: 0 };
  },
  (spread) => {
    const max = 3 + Math.floor(spread * 5);
    return { limits: { children: max }, key: 'agent:children', max, ofACall: 0 };
  },
];

/** What one seed came to. */
interface Outcome {
  readonly limited: Limited;
  readonly step: Step;
  readonly runs: readonly MemoryRun[];
  /** What of each budget was free when a run refused something to a child. */
  readonly freeAtRefusals: readonly number[];
  readonly deaths: number;
  /** The limit, or what was spent of it when it was lowered. */
  readonly most: number;
}

/** How a tree is disturbed. */
interface Faults {
  readonly carry: (message: TreeMessage, deliver: () => void) => void;
  /** The limit is this much higher at first, and lowered before the model call of that number. */
  readonly lowered?: { readonly by: number; readonly beforeCall: number };
}

async function outcomeOf(
  seed: number,
  faultsOf: (random: () => number) => Faults = (random) => ({ carry: faulty(random) }),
): Promise<Outcome> {
  const random = randomNumbers(seed);
  const clock = createFakeClock();
  const limited = (KINDS[seed % KINDS.length] ?? KINDS[0])?.(random()) as Limited;
  const { carry, lowered } = faultsOf(random);
  let calls = 0;
  let most = limited.max;
  const freeAtRefusals: number[] = [];
  let deaths = 0;
  const onEvent = (event: AgentEvent, run: MemoryRun): void => {
    freeAtRefusals.push(...freeOfRefused(event, run, clock));
    const isCall = event.type === 'agent:model_call:before';
    if (isCall && (calls += 1) === lowered?.beforeCall) {
      most = Math.max(limited.max, spentOf(runsOf(root), limited));
      root.adjust(limited.limits);
    }
    // Every third tree loses a leaf without a word, in the midst of its work.
    const isVictim = seed % 3 === 0 && deaths === 0 && event.depth === 2;
    if (!isVictim || event.type !== 'agent:model_call:before' || random() < 0.9) return;
    deaths += 1;
    run.terminate();
  };
  const agent = asker(asker(worker(5), LEAVES, 'middle'), MIDDLES, 'top');
  const limits = higher(limited.limits, lowered?.by ?? 1);
  const root = startInMemory({ agent, task: 'Go', clock, limits, onEvent, carry });
  const step = await endOf(root, clock);
  return { limited, step, runs: runsOf(root), freeAtRefusals, deaths, most };
}

/** `limits`, so many times as high. */
function higher(limits: LimitsInput, times: number): LimitsInput {
  if (limits === 'unlimited') return limits;
  const raised = Object.entries(limits).map(([name, max]) => [name, Number(max) * times]);
  return Object.fromEntries(raised) as LimitsInput;
}

/** Doubles a third of the messages. */
function doubled(random: () => number): (message: TreeMessage, deliver: () => void) => void {
  return (_message, deliver) => {
    deliver();
    if (random() < 0.3) deliver();
  };
}

/** Loses a tenth of the messages, doubles a fifth, and lets a fifth come behind a later one. */
function faulty(random: () => number): (message: TreeMessage, deliver: () => void) => void {
  const late: (() => void)[] = [];
  return (message, deliver) => {
    const chance = random();
    // A cancel is a signal that the service has accepted: it is not lost.
    if (message.kind === 'cancel') return deliver();
    if (chance < 0.1) return;
    if (chance < 0.3) return void late.push(deliver);
    deliver();
    if (chance < 0.5) deliver();
    for (const one of late.splice(0).toReversed()) one();
  };
}

function freeOfRefused(event: AgentEvent, run: MemoryRun, clock: FakeClock): readonly number[] {
  if (event.type !== 'agent:child:granted') return [];
  const refused = event.leases.filter((answer) => 'refused' in answer);
  const { budgets } = treeView(run.state, clock.now());
  return refused.flatMap(({ id }) =>
    budgets.filter((line) => isOf(id, line, run)).map(({ free }) => free),
  );
}

function isOf(leaseId: string, { key, origin }: BudgetLine, run: MemoryRun): boolean {
  const owner = origin === 'self' ? run.state.runId : origin.runId;
  return leaseId.startsWith(`${owner} ${key} `);
}

/** Runs a tree to its end; time goes on whenever nothing else does. */
async function endOf(run: MemoryRun, clock: FakeClock): Promise<Step> {
  let isOver = false;
  const result = run.result.finally(() => {
    isOver = true;
  });
  for (let turns = 0; !isOver; turns++) {
    await new Promise((resolve) => setImmediate(resolve));
    if (turns % 10 === 9) clock.advance(10_000);
  }
  return result;
}

/** What all runs have really spent of `key`, those that died included. */
function spentOf(runs: readonly MemoryRun[], { key }: Limited): number {
  return ownSums(runs.map(({ state }) => state.stats))[key] ?? 0;
}

/** By how much a limit was overrun, beyond what was spent before it was there. */
function overrunOf({ runs, limited, most }: Outcome): number {
  return Math.max(0, spentOf(runs, limited) - most);
}

describe('budgets under faults', () => {
  it(`are not overrun, in ${SEEDS} seeded trees [row 57] [R8]`, { timeout: 240_000 }, async () => {
    let bound = 0;
    let deaths = 0;
    for (let seed = 1; seed <= SEEDS; seed++) {
      const outcome = await outcomeOf(seed);
      const { limited, step, freeAtRefusals } = outcome;
      const over = overrunOf(outcome);
      deaths += outcome.deaths;
      if (freeAtRefusals.length > 0) bound += 1;

      const where = `seed ${seed}, ${limited.key} ${limited.max}`;
      // No prompt of these trees is longer than its estimate.
      expect(over, where).toBe(0);
      // Nothing is refused while there is something to give.
      expect(freeAtRefusals, where).toEqual(freeAtRefusals.map(() => 0));
      expectAllReturned(outcome, where);
      expect(['success', 'limit_exceeded'], where).toContain(step.status);
    }

    process.stdout.write(
      `no overrun in ${SEEDS} trees (${bound} with refusals, ${deaths} with a death)\n`,
    );
    expect(bound).toBeGreaterThan(SEEDS / 4);
    expect(deaths).toBeGreaterThan(SEEDS / 10);
  });
});

describe('lowered budgets', () => {
  it(
    'bind in the midst of a tree as if they had been so low from the start [row 57]',
    { timeout: 240_000 },
    async () => {
      const overshoots: number[] = [];
      for (let seed = 1; seed <= SEEDS / 2; seed++) {
        const outcome = await outcomeOf(seed, (random) => ({
          carry: doubled(random),
          lowered: { by: 3, beforeCall: 2 + Math.floor(random() * 9) },
        }));
        const { limited, freeAtRefusals } = outcome;
        const over = overrunOf(outcome);
        overshoots.push(limited.ofACall === 0 ? over : over / limited.ofACall);

        const where = `seed ${seed}, ${limited.key} ${limited.max}`;
        expect(over, where).toBeLessThanOrEqual(BRANCHES * limited.ofACall);
        expect(freeAtRefusals, where).toEqual(freeAtRefusals.map(() => 0));
        expectAllReturned(outcome, where);
      }
      process.stdout.write(
        `overshoot in ${SEEDS / 2} trees whose limit was lowered, in calls of all branches: ` +
          `${distributionOf(overshoots)}\n`,
      );
    },
  );

  it(
    'are heard late when messages get lost, and leave no tree without an end [row 57]',
    { timeout: 240_000 },
    async () => {
      const overshoots: number[] = [];
      for (let seed = 1; seed <= SEEDS / 2; seed++) {
        const by = 3;
        const outcome = await outcomeOf(seed, (random) => ({
          carry: faulty(random),
          lowered: { by, beforeCall: 2 + Math.floor(random() * 9) },
        }));
        const { limited, step } = outcome;
        const over = overrunOf(outcome);
        overshoots.push(limited.ofACall === 0 ? over : over / limited.ofACall);

        const where = `seed ${seed}, ${limited.key} ${limited.max}`;
        // Who has not heard of it holds what was reserved before.
        const most = (by - 1) * limited.max + BRANCHES * limited.ofACall;
        expect(over, where).toBeLessThanOrEqual(most);
        expect(['success', 'limit_exceeded'], where).toContain(step.status);
        expectAllReturned(outcome, where);
      }
      process.stdout.write(
        `the same, with messages lost and late: ${distributionOf(overshoots)}\n`,
      );
    },
  );
});

/** What was reserved and not spent is free again once all have ended. */
function expectAllReturned({ runs: [root] }: Outcome, where: string): void {
  if (root === undefined) throw new Error('Expected a root.');
  const { budgets } = treeView(root.state, 0);
  expect(
    budgets.map(({ reserved, free }) => [reserved, free]),
    where,
  ).toEqual(budgets.map(({ max, used }) => [0, Math.max(0, max - used)]));
}

/** `0: 71, up to 1: 20, up to 2: 9` */
function distributionOf(values: readonly number[]): string {
  const counts = new Map<number, number>();
  for (const value of values) {
    const step = Math.ceil(value);
    counts.set(step, (counts.get(step) ?? 0) + 1);
  }
  return [...counts]
    .toSorted(([a], [b]) => a - b)
    .map(([step, count]) => `${step === 0 ? '0' : `up to ${step}`}: ${count}`)
    .join(', ');
}
