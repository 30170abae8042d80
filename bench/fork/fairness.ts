/**
 * `fairness_ratio`: how long the turns of a tenant take beside a flood of another one, over how long
 * they take beside as many live runs of its own.
 */
import { withStage, type Stage } from '../support/bench-stage.ts';
import { figure, median, type Figure } from '../support/figure.ts';
import { instantAgent } from '../support/instant-agent.ts';

/** Runs that are measured. */
const MEASURED = 10;
/** Runs of the flood, and how many of them go on at once. */
const FLOOD = 200;
const AT_ONCE = 20;
const ITERATIONS = 5;

type Everloop = Awaited<ReturnType<Stage['serve']>>['everloop'];

/** The figure, on a server of its own. */
export function measureFairness(): Promise<Figure> {
  return withStage(async (stage) => {
    const { everloop } = await stage.serve([instantAgent('instant')]);
    await turnsBeside(everloop, 'warm', { other: 'warm', runs: 2 });
    const own = await turnsBeside(everloop, 'small', { other: 'small', runs: AT_ONCE });
    await everloop.tenants.set('flood', { concurrency: AT_ONCE });
    const beside = await turnsBeside(everloop, 'tiny', { other: 'flood', runs: FLOOD });
    return figure('fairness_ratio', median(beside) / median(own), '', '<= 1.5');
  });
}

/** Milliseconds of each turn of the measured runs of `tenant`, while `runs` of `other` go on. */
async function turnsBeside(
  everloop: Everloop,
  tenant: string,
  { other, runs }: { readonly other: string; readonly runs: number },
): Promise<readonly number[]> {
  const task = String(ITERATIONS);
  const start = (of: string): ReturnType<Everloop['start']> =>
    everloop.start('instant', { task, tenant: of });
  const crowd = await Promise.all(Array.from({ length: runs }, () => start(other)));
  const measured = await Promise.all(Array.from({ length: MEASURED }, () => start(tenant)));
  const turns: number[] = [];
  for (const run of measured) {
    await run.result();
    for (const event of await run.events()) {
      if (event.type === 'agent:iteration:after') turns.push(event.durationMs);
    }
  }
  // What is left of the crowd must not slow the next measurement.
  await Promise.all(crowd.map((run) => run.cancel().catch(() => undefined)));
  await Promise.all(crowd.map((run) => run.result()));
  return turns;
}
