/**
 * `start`: what a worker process costs before its first run.
 *
 * - `cpu_s_ready`, `wall_s_ready`, `rss_mb_ready`: processor time, time and memory of a process of
 *   its own that calls `runWorker` with one agent, until `onReady`. `rss_mb_idle`: ten seconds later.
 *   The worker is that of `dist`, as the package is installed; the server runs in another process.
 *   Each is the median of five starts. Baseline: a worker of Temporal's SDK alone, with the same
 *   workflow bundle.
 * - `…_sources`: the same from the sources, through tsx, after a start that has made the bundle.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { withStage, type Stage } from './support/bench-stage.ts';
import { figure, median, type Bench, type Figure } from './support/figure.ts';
import type { StartOrder, StartReport } from './support/start-child.mjs';

const STARTS = 5;

/** The benchmark `start`. */
export const startBench: Bench = {
  name: 'start',
  about: 'what a worker process costs until it is ready, and idle',
  run: () => withStage(measure),
};

async function measure(stage: Stage): Promise<readonly Figure[]> {
  if (!existsSync(fileURLToPath(new URL('../dist/workflow-bundle.json', import.meta.url)))) {
    throw new Error('Expected the package in `dist`, got none. Run `npm run build`.');
  }
  const reports: Record<StartOrder['side'], StartReport[]> = { dist: [], bare: [], sources: [] };
  await startOnce(stage, 'sources');
  for (let turn = 0; turn < STARTS; turn++) {
    for (const side of ['dist', 'bare', 'sources'] as const) {
      reports[side].push(await startOnce(stage, side));
    }
  }
  const of = (side: StartOrder['side'], key: keyof StartReport): number =>
    median(reports[side].map((report) => report[key]));
  return [
    figure('cpu_s_ready', of('dist', 'cpuS'), 's', '<= 1.2', of('bare', 'cpuS')),
    figure('wall_s_ready', of('dist', 'wallS'), 's', '', of('bare', 'wallS')),
    figure('rss_mb_ready', of('dist', 'readyMb'), 'MB', '', of('bare', 'readyMb')),
    figure('rss_mb_idle', of('dist', 'idleMb'), 'MB', '<= 350', of('bare', 'idleMb')),
    figure('cpu_s_ready_sources', of('sources', 'cpuS'), 's'),
    figure('wall_s_ready_sources', of('sources', 'wallS'), 's'),
    figure('rss_mb_idle_sources', of('sources', 'idleMb'), 'MB'),
  ];
}

function startOnce({ address, folder }: Stage, side: StartOrder['side']): Promise<StartReport> {
  const order: StartOrder = { address, dataDir: folder, side };
  const file = fileURLToPath(new URL('support/start-child.mjs', import.meta.url));
  const flags = side === 'sources' ? ['--import', 'tsx'] : [];
  const child = spawn(process.execPath, [...flags, file, JSON.stringify(order)], {
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  return new Promise((resolve, reject) => {
    child.once('message', (report) => resolve(report as StartReport));
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`Expected a report, got exit code ${code}.`)));
  });
}
