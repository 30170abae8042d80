/** The tries of calls within one workflow task. */
import { describe, expect, it } from 'vitest';
import { MOST_LOCAL_TRIES } from '../../src/core/attempt/attempts.ts';
import { createTryBudget, LOCAL_TRIES_MS } from '../../src/workflows/attempts/local-tries.ts';

function budgetAt(startMs = 0) {
  const clock = { now: startMs };
  return { clock, budget: createTryBudget(() => clock.now) };
}

describe('the tries of a workflow task', () => {
  it('share one time, whether they run at once or in a row', () => {
    const { clock, budget } = budgetAt(5_000);
    expect([budget.begin(), budget.begin()]).toEqual([LOCAL_TRIES_MS, LOCAL_TRIES_MS]);
    clock.now += 300;
    budget.end();
    budget.end();

    expect(budget.begin()).toBe(LOCAL_TRIES_MS - 300);
    clock.now += LOCAL_TRIES_MS - 320;
    expect(budget.begin()).toBeNull();
  });

  it('begin anew with the next task, which does not come while one is open', () => {
    const { clock, budget } = budgetAt();
    budget.begin();
    clock.now += LOCAL_TRIES_MS;
    budget.nextTask();
    expect(budget.begin()).toBeNull();
    budget.end();
    budget.nextTask();

    expect(budget.begin()).toBe(LOCAL_TRIES_MS);
  });

  it('are so many that their results fit into its completion', () => {
    const { budget } = budgetAt();
    const begun = Array.from({ length: MOST_LOCAL_TRIES + 1 }, () => {
      const ms = budget.begin();
      if (ms !== null) budget.end();
      return ms;
    });

    expect(begun.filter((ms) => ms === null)).toHaveLength(1);
    expect(begun.at(-1)).toBeNull();
  });
});
