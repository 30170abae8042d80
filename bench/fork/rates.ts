/**
 * How well three worker processes together keep the rate of a model entry.
 *
 * - `rate_over`: requests of the busiest minute, over the rate.
 * - `rate_use`: how much of the rate is used while there is work.
 * - `token_over`: tokens of the busiest minute, over a rate of tokens: estimates are wrong at first, and
 *   corrected by what replies took.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fixtureProcesses } from '../../test/support/child-process.ts';
import type { PacedWorker } from '../../test/support/fixtures/serve-paced.ts';
import { createEverloop } from '../../src/client/everloop-client.ts';
import type { Rate } from '../../src/core/base/rate.ts';
import { withStage, type Stage } from '../support/bench-stage.ts';
import { figure, type Figure } from '../support/figure.ts';

/** How many runs, of a request each, and for how long a window requests are counted. */
export interface RatesSize {
  readonly runs: number;
  readonly windowMs: number;
}

/** That of the figures: work for a minute and a quarter; and a small one that only shows that it runs. */
export const RATES_SIZES: Readonly<Record<'whole' | 'small', RatesSize>> = {
  whole: { runs: 300, windowMs: 60_000 },
  small: { runs: 24, windowMs: 4_000 },
};

const REQUESTS_PER_MINUTE = 240;

/** What the provider of the fixture takes for a request. */
const TOKENS = 120;
const MINUTE_MS = 60_000;

/** The figures, on a server of their own. */
export function measureRates(size: RatesSize = RATES_SIZES.whole): Promise<readonly Figure[]> {
  return withStage(async (stage) => {
    const requests = await sentUnder(stage, size, { requestsPerMinute: REQUESTS_PER_MINUTE });
    const tokensPerMinute = REQUESTS_PER_MINUTE * TOKENS;
    const tokens = await sentUnder(stage, size, { tokensPerMinute });
    const rated = (REQUESTS_PER_MINUTE * size.windowMs) / MINUTE_MS;
    const spanMs = (requests.at(-1) ?? 0) - (requests[0] ?? 0);
    const use = ((requests.length - 1) / spanMs) * (MINUTE_MS / REQUESTS_PER_MINUTE);
    return [
      figure('rate_over', busiest(requests, size) / rated, '', '<= 1.05'),
      figure('rate_use', use, '', '>= 0.9'),
      figure('token_over', busiest(tokens, size) / rated, '', '<= 1.2'),
    ];
  });
}

/** When requests were sent, in order, by three processes under `rate`. */
async function sentUnder(
  { address, client, folder }: Stage,
  { runs }: RatesSize,
  rate: Rate,
): Promise<readonly number[]> {
  const [name = ''] = Object.keys(rate);
  const told: PacedWorker = {
    address,
    namespace: 'default',
    archiveDir: join(folder, 'archive'),
    taskQueue: name,
    file: join(folder, name),
    model: name,
    rate,
  };
  writeFileSync(told.file, '');
  const workers = fixtureProcesses<PacedWorker>('serve-paced');
  try {
    await Promise.all([workers.start(told), workers.start(told), workers.start(told)]);
    const everloop = createEverloop({ client, taskQueue: told.taskQueue });
    const starts = Array.from({ length: runs }, () => everloop.start('paced', { task: 'Go' }));
    for (const run of await Promise.all(starts)) await run.result();
    return readFileSync(told.file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => Number(line.split(' ')[0]))
      .toSorted((left, right) => left - right);
  } finally {
    await workers.stop();
  }
}

/** How many of `times` are in the busiest window. */
function busiest(times: readonly number[], { windowMs }: RatesSize): number {
  const counts = times.map(
    (from) => times.filter((at) => at >= from && at < from + windowMs).length,
  );
  return Math.max(0, ...counts);
}
