/**
 * Two models over ten recorded moments: ten runs of the airline made a costly mistake, and an eval goes
 * on from the moment before it with the same model and with another one. Nothing is booked again.
 *
 *     npx tsx examples/14-evals.ts
 */
import { evalResult, evalTable } from '../src/index.ts';
import { local } from '../src/worker.ts';
import { airlineAgent } from './airline/agents.ts';
import { AIRLINE_REQUEST } from './airline/data.ts';
import { carefulModel, MISTAKE, mistakenModel, PROPOSAL } from './airline/mistake.ts';
import { airlineStore } from './airline/store.ts';

const RUNS = 10;

const quick = { id: 'quick', model: mistakenModel() };

/** Each run has a world of its own, so that each makes its mistake. */
const agents = Array.from({ length: RUNS }, (_, index) =>
  airlineAgent({
    name: `airline-${index + 1}`,
    store: airlineStore(),
    model: quick,
  }),
);

const everloop = await local({ agents, models: [{ id: 'careful', model: carefulModel() }] });
try {
  const runs = await Promise.all(
    agents.map(async ({ name }) => {
      const run = await everloop.start(name, { task: AIRLINE_REQUEST });
      await run.result();
      return run;
    }),
  );
  const moments = runs.map(({ id }, index) => ({
    name: `case ${index + 1}`,
    run: id,
    at: { iteration: MISTAKE },
    expected: PROPOSAL,
  }));
  const variants = [{ name: 'quick' }, { name: 'careful', model: 'careful' }];
  const run = await everloop.evaluate({ moments, variants });
  const { rows } = evalResult(await run.result());
  for (const { variant, passed, tries, tokens, turns, difference } of evalTable(rows)) {
    console.log(`${variant}: ${passed} of ${tries} passed, ${tokens} tokens, ${turns} turns`);
    if (difference !== undefined) {
      const { mean, low, high } = difference.tokens;
      console.log(`tokens beside the first: ${mean} [${low}, ${high}]`);
    }
  }
} finally {
  await everloop.close();
}
