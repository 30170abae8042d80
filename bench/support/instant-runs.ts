/** Runs of the instant agent, and how long they take. */
import type { Everloop } from '../../src/client/everloop-client.ts';

/** Plays a run of `turns` iterations of agent `instant`, which its limit ends; returns its id. */
export async function runInstant(everloop: Everloop, turns: number): Promise<string> {
  const run = await everloop.start('instant', {
    task: String(turns),
    limits: { iterations: turns, costUsd: 'unlimited' },
  });
  const { iterations } = await run.result();
  if (iterations !== turns) throw new Error(`Expected ${turns} iterations, got ${iterations}.`);
  return run.id;
}

/** The time of `runs` such runs at once, in ms. */
export async function fleetMs(everloop: Everloop, runs: number, turns: number): Promise<number> {
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: runs }, () => runInstant(everloop, turns)));
  return performance.now() - startedAt;
}
