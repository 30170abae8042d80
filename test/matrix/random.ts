/**
 * Random kills: runs of 200 turns, and conversations of ten, on workers that crash in a loop, at moments
 * that nobody chose. Each worker process lives for a random time after it began to serve, and is started
 * again at once. All the while each run is asked for its status, which splits its workflow tasks. In the
 * end each is replayed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { openStage, type Stage } from '../support/stage.ts';
import { startFixture } from '../support/child-process.ts';
import { randomNumbers } from '../support/kill-moments.ts';
import { KILL_SEED } from '../support/extent.ts';
import type { MatrixWorker } from '../support/fixtures/serve-matrix.ts';
import { repeatsIn, type Repeats } from './effects.ts';
import { everloopOf, workOf } from './job.ts';
import { startKillableServer } from './killable-server.ts';
import { LONG_SCENARIO } from './scenarios.ts';
import { sumsDiffer, sumsOf } from './sums.ts';
import { TALKS_SCENARIO } from './talks.ts';

/** What is played, and how much is killed. */
export interface RandomOrder {
  readonly scenario: string;
  readonly runs: number;
  readonly kills: number;
  /** The workers crash for so long at least, in ms. */
  readonly forMs: number;
}

/** What `npm run matrix -- random` does. */
export const RANDOM_ORDERS: readonly RandomOrder[] = [
  { scenario: LONG_SCENARIO.name, runs: 6, kills: 300, forMs: 180_000 },
  { scenario: TALKS_SCENARIO.name, runs: 20, kills: 100, forMs: 60_000 },
];

/** What came of it. */
export interface RandomOutcome extends Repeats, RandomOrder {
  readonly lost: readonly string[];
  readonly unequal: readonly string[];
  /** How long the workers crashed, in ms. */
  readonly crashedMs: number;
  /** How often the runs were asked for their status. */
  readonly polls: number;
}

const WORKERS = 3;
/** A worker lives this long at most. */
const LIFE_MS = 2_000;
/** How often each run is asked for its status. */
const POLL_MS = 50;
/** Questions of one run that may be open at once: without a worker each waits, and more would ask for nothing but replays. */
const OPEN_POLLS = 2;
const ENDS_WITHIN_MS = 1_200_000;

/** Starts the runs, lets the workers crash, and waits for all ends on one that does not. */
export async function playRandom(order: RandomOrder): Promise<RandomOutcome> {
  const server = await startKillableServer(false);
  const stage = await openStage(server);
  const scenario = [LONG_SCENARIO, TALKS_SCENARIO].find(({ name }) => name === order.scenario);
  if (scenario === undefined) throw new Error(`Expected a scenario, got ${order.scenario}.`);
  const { workflowOf = (id: string) => id } = scenario;
  const killed = await workOf(stage, { scenario, point: 'before', moments: [] });
  const calm = await workOf(stage, { scenario, point: 'before', moments: [] });
  try {
    const idOf = (work: MatrixWorker, run: number): string => `${work.prefix}.${run}`;
    const play = (work: MatrixWorker, run: number) =>
      scenario.play(everloopOf(stage, work), idOf(work, run));
    const runs = Array.from({ length: order.runs }, (_, run) => play(killed, run + 1));
    const polling = pollStatus(
      stage,
      runs.map((_, run) => workflowOf(idOf(killed, run + 1))),
    );
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
      for (const run of end.value) {
        await stage
          .replay(run)
          .catch((error: unknown) => lost.push(`does not replay: ${String(error)}`));
      }
    }
    const polls = polling.stop();
    if (ends === null) lost.push(`not all ended within ${ENDS_WITHIN_MS} ms`);
    await last.kill('SIGKILL');
    await other.kill('SIGKILL');
    return { ...order, kills, crashedMs, polls, lost, unequal, ...repeatsIn(killed.effectsDir) };
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

/** Asks each of the runs `ids` for its status every {@link POLL_MS}; `stop` says how often it did. */
function pollStatus({ client }: Stage, ids: readonly string[]): { readonly stop: () => number } {
  let polls = 0;
  const timers = ids.map((id) => {
    let open = 0;
    const ask = async (): Promise<void> => {
      if (open >= OPEN_POLLS) return;
      open += 1;
      polls += 1;
      await client.workflow
        .getHandle(id)
        .query('status')
        .catch(() => undefined);
      open -= 1;
    };
    return setInterval(() => void ask(), POLL_MS);
  });
  return {
    stop: () => {
      for (const timer of timers) clearInterval(timer);
      return polls;
    },
  };
}
