/**
 * `rate_over` and `rate_use`: how many requests three worker processes send in the busiest minute,
 * over the rate of their entry, and how much of it they use while there is work.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fixtureProcesses } from '../../test/support/child-process.ts';
import type { PacedWorker } from '../../test/support/fixtures/serve-paced.ts';
import { createEverloop } from '../../src/client/everloop-client.ts';
import { withStage } from '../support/bench-stage.ts';
import { figure, type Figure } from '../support/figure.ts';

const REQUESTS_PER_MINUTE = 240;
/** Work for a minute and a half. */
const RUNS = 360;
const MINUTE_MS = 60_000;

/** The two figures, on a server of their own. */
export function measureRates(): Promise<readonly Figure[]> {
  return withStage(async ({ address, client, folder }) => {
    const workers = fixtureProcesses<PacedWorker>('serve-paced');
    const told: PacedWorker = {
      address,
      namespace: 'default',
      archiveDir: join(folder, 'archive'),
      taskQueue: 'rates',
      file: join(folder, 'requests'),
      model: 'm',
      rate: { requestsPerMinute: REQUESTS_PER_MINUTE },
    };
    try {
      await Promise.all([workers.start(told), workers.start(told), workers.start(told)]);
      const everloop = createEverloop({ client, taskQueue: told.taskQueue });
      const starts = Array.from({ length: RUNS }, () => everloop.start('paced', { task: 'Go' }));
      for (const run of await Promise.all(starts)) await run.result();
      const times = readFileSync(told.file, 'utf8')
        .trim()
        .split('\n')
        .map((line) => Number(line.split(' ')[0]))
        .toSorted((a, b) => a - b);
      const most = Math.max(...times.map((from) => countIn(times, from)));
      const spanMs = (times.at(-1) ?? 0) - (times[0] ?? 0);
      const use = ((times.length - 1) / spanMs) * (MINUTE_MS / REQUESTS_PER_MINUTE);
      return [
        figure('rate_over', most / REQUESTS_PER_MINUTE, '', '<= 1.05'),
        figure('rate_use', use, '', '>= 0.9'),
      ];
    } finally {
      await workers.stop();
    }
  });
}

/** How many of `times` are in the minute that begins at `from`. */
function countIn(times: readonly number[], from: number): number {
  return times.filter((at) => at >= from && at < from + MINUTE_MS).length;
}
