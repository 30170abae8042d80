/**
 * Random kills: runs of 200 turns on workers that crash in a loop, at moments that nobody chose. Each
 * worker process lives for a random time after it began to serve, and is started again at once.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { openStage } from '../support/stage.ts';
import { startFixture } from '../support/child-process.ts';
import { randomNumbers } from '../support/kill-moments.ts';
import { KILL_SEED } from '../support/extent.ts';
import type { MatrixWorker } from '../support/fixtures/serve-matrix.ts';
import { repeatsIn, type Repeats } from './effects.ts';
import { everloopOf, workOf } from './job.ts';
import { startKillableServer } from './killable-server.ts';
import { LONG_SCENARIO } from './scenarios.ts';
import { sumsDiffer, sumsOf } from './sums.ts';

/** How much is killed. */
export interface RandomOrder {
  readonly runs: number;
  readonly kills: number;
  /** The workers crash for so long at least, in ms. */
  readonly forMs: number;
}

/** What `npm run matrix -- random` does. */
export const RANDOM_ORDER: RandomOrder = { runs: 6, kills: 300, forMs: 180_000 };

/** What came of it. */
export interface RandomOutcome extends Repeats, RandomOrder {
  readonly lost: readonly string[];
  readonly unequal: readonly string[];
  /** How long the workers crashed, in ms. */
  readonly crashedMs: number;
}

const WORKERS = 3;
/** A worker lives this long at most. */
const LIFE_MS = 2_000;
const ENDS_WITHIN_MS = 1_200_000;

/** Starts the runs, lets the workers crash, and waits for all ends on one that does not. */
export async function playRandom(order: RandomOrder): Promise<RandomOutcome> {
  const server = await startKillableServer(false);
  const stage = await openStage(server);
  const scenario = LONG_SCENARIO;
  const killed = await workOf(stage, { scenario, point: 'before', moments: [] });
  const calm = await workOf(stage, { scenario, point: 'before', moments: [] });
  try {
    const play = (work: MatrixWorker, run: number) =>
      scenario.play(everloopOf(stage, work), `${work.prefix}.${run}`);
    const runs = Array.from({ length: order.runs }, (_, run) => play(killed, run + 1));
    const ended = Promise.allSettled(runs);
    const { kills, crashedMs } = await crash(killed, order);
    const last = await startFixture('serve-matrix', [JSON.stringify(killed)]);
    const other = await startFixture('serve-matrix', [JSON.stringify(calm)]);
    const undisturbed = await sumsOf(await play(calm, 1));
    const lost: string[] = [];
    const unequal: string[] = [];
    const ends = await Promise.race([ended, sleep(ENDS_WITHIN_MS, null, { ref: false })]);
    for (const end of ends ?? []) {
      if (end.status === 'rejected') {
        lost.push(String(end.reason));
        continue;
      }
      const steps = await Promise.all(end.value.map((run) => run.result()));
      const bad = steps.filter(({ status }) => status !== 'success');
      lost.push(
        ...bad.map(({ status, reason, message }) => `${status} ${reason} ${message ?? ''}`),
      );
      if (bad.length === 0) unequal.push(...sumsDiffer(await sumsOf(end.value), undisturbed));
    }
    if (ends === null) lost.push(`not all ended within ${ENDS_WITHIN_MS} ms`);
    await last.kill('SIGKILL');
    await other.kill('SIGKILL');
    return { ...order, kills, crashedMs, lost, unequal, ...repeatsIn(killed.effectsDir) };
  } finally {
    await stage.close();
    await server.stop();
  }
}

async function crash(
  work: MatrixWorker,
  { kills: wanted, forMs }: RandomOrder,
): Promise<{ readonly kills: number; readonly crashedMs: number }> {
  const random = randomNumbers(KILL_SEED);
  const began = performance.now();
  const since = (): number => performance.now() - began;
  let kills = 0;
  await Promise.all(
    Array.from({ length: WORKERS }, async () => {
      while (kills < wanted || since() < forMs) {
        const child = await startFixture('serve-matrix', [JSON.stringify(work)]);
        await sleep(random() * LIFE_MS);
        await child.kill('SIGKILL');
        kills += 1;
      }
    }),
  );
  return { kills, crashedMs: Math.round(since()) };
}
