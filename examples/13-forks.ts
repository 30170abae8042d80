/**
 * A run that made a costly mistake is taken up again before it, with a corrected instruction. The
 * fork may only read: the booking that the first run canceled stays as it is.
 *
 *     npx tsx examples/13-forks.ts
 */
import { diffRuns, unwrap } from '../src/index.ts';
import { local } from '../src/worker.ts';
import { airlineAgent } from './airline/agents.ts';
import { AIRLINE_REQUEST } from './airline/data.ts';
import { CORRECTION, MISTAKE, mistakenModel } from './airline/mistake.ts';
import { airlineStore } from './airline/store.ts';
import { changesOf } from './effect-log.ts';

const store = airlineStore();
const agent = airlineAgent({ store, model: { id: 'script/airline', model: mistakenModel() } });

const everloop = await local({ agents: [agent] });
try {
  const run = await everloop.start('airline', { task: AIRLINE_REQUEST });
  console.log(unwrap(await run.result()));

  const then = await run.at({ iteration: MISTAKE });
  const repeated = then.callsAfter.map(({ tool, effect }) => `${tool} (${effect})`);
  console.log(`Calls from iteration ${then.iteration} on: ${repeated.join(', ')}`);

  const fork = await everloop.fork(
    { run: run.id, at: { iteration: MISTAKE } },
    { edits: [{ append: CORRECTION }], effects: 'replay-only' },
  );
  console.log(unwrap(await fork.result()));

  const { from, sharedEntries, left, right } = await diffRuns(run, fork);
  console.log(`Equal before iteration ${from}: ${sharedEntries} entries.`);
  for (const { calls, iterations, usage } of [left, right]) {
    const called = calls.map(({ tool, outcome }) => `${tool} ${outcome}`);
    console.log(`${iterations} iterations, ${usage.totalTokens} tokens: ${called.join(', ')}`);
  }
  console.log(`Changes: ${changesOf(store.log).length}`);
} finally {
  await everloop.close();
}
