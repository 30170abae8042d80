/**
 * `fairness_ratio`: how long the turns of a tenant take beside a flood of another one, over how long
 * they take beside as many runs of its own as go on at once in the flood. A turn is an iteration with a
 * call of a tool; model and tool answer at once, so it measures the service, the workers and the
 * ledger. The crowd goes on until the measured runs have ended.
 *
 * Not measured: what a run waits for its own turn, since the measured tenant has no bound; providers
 * with a rate.
 */
import { withStage, type Stage } from '../support/bench-stage.ts';
import { figure, median, type Figure } from '../support/figure.ts';
import { instantAgent } from '../support/instant-agent.ts';

/** How much is measured. */
export interface FairnessSize {
  /** Runs that are measured, and iterations of each. */
  readonly measured: number;
  readonly iterations: number;
  /** Runs of the flood, and how many of them go on at once. */
  readonly flood: number;
  readonly atOnce: number;
}

/** That of the figure, and a small one that only shows that it runs. */
export const FAIRNESS_SIZES: Readonly<Record<'whole' | 'small', FairnessSize>> = {
  whole: { measured: 10, iterations: 8, flood: 200, atOnce: 20 },
  small: { measured: 2, iterations: 3, flood: 12, atOnce: 3 },
};

type Everloop = Awaited<ReturnType<Stage['serve']>>['everloop'];
type Run = Awaited<ReturnType<Everloop['start']>>;

/** The figure, on a server of its own. */
export function measureFairness(size: FairnessSize = FAIRNESS_SIZES.whole): Promise<Figure> {
  return withStage(async (stage) => {
    const { everloop } = await stage.serve([instantAgent('instant')]);
    const { atOnce, flood } = size;
    await turnsOf(everloop, 'warm', { ...size, measured: 2 });
    const small = await crowdOf(everloop, 'small', atOnce);
    const own = await turnsOf(everloop, 'small', size);
    await disperse(small);
    await everloop.tenants.set('flood', { concurrency: atOnce });
    const flooding = await crowdOf(everloop, 'flood', flood);
    await untilFlooded(everloop, size);
    const beside = await turnsOf(everloop, 'tiny', size);
    await disperse(flooding);
    return figure('fairness_ratio', median(beside) / median(own), '', '<= 1.5');
  });
}

/** No run of a crowd ends by itself while others are measured. */
const ENDLESS = 5_000;

/** So many starts at once keep the service busy, and none is refused. */
const STARTS_AT_ONCE = 20;

/** Starts `runs` runs of `tenant` that go on until they are canceled. */
async function crowdOf(everloop: Everloop, tenant: string, runs: number): Promise<readonly Run[]> {
  const started: Run[] = [];
  const limits = { iterations: ENDLESS + 1 };
  while (started.length < runs) {
    const count = Math.min(STARTS_AT_ONCE, runs - started.length);
    const more = Array.from({ length: count }, () =>
      everloop.start('instant', { task: String(ENDLESS), tenant, limits }),
    );
    started.push(...(await Promise.all(more)));
  }
  return started;
}

/** Waits until as many runs of the flood as may have their turn, and the others wait. */
async function untilFlooded(everloop: Everloop, { flood, atOnce }: FairnessSize): Promise<void> {
  for (;;) {
    const view = await everloop.tenants.show('flood');
    if (view?.runs === atOnce && view.waits === flood - atOnce) return;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

/** Milliseconds of each turn of the measured runs of `tenant`. */
async function turnsOf(
  everloop: Everloop,
  tenant: string,
  { measured, iterations }: Pick<FairnessSize, 'measured' | 'iterations'>,
): Promise<readonly number[]> {
  const task = String(iterations);
  const runs = await Promise.all(
    Array.from({ length: measured }, () => everloop.start('instant', { task, tenant })),
  );
  const turns: number[] = [];
  for (const run of runs) {
    await run.result();
    for (const event of await run.events()) {
      if (event.type === 'agent:iteration:after') turns.push(event.durationMs);
    }
  }
  return turns;
}

/** Ends a crowd: what is left of it must not slow the next measurement. Those that wait end first. */
async function disperse(crowd: readonly Run[]): Promise<void> {
  const left = [...crowd];
  while (left.length > 0) {
    const some = left.splice(-STARTS_AT_ONCE);
    await Promise.all(some.map((run) => run.cancel().catch(() => undefined)));
    await Promise.all(some.map((run) => run.result().catch(() => undefined)));
  }
}
