/**
 * `idle`: the cost of an agent that waits, and of bringing it back.
 *
 * - `heap_bytes`: 200 agents, each paused in its first model call, so that it has finished one
 *   iteration with a 1 KB result and waits. Both heaps of the worker's process are measured before
 *   and after, each after a full collection: the workflow thread's, where the workflows live, and
 *   the main thread's (`heap_main_bytes`), which has the worker's own record of each workflow and
 *   the cached messages. The figure is the growth for each agent. It excludes memory outside the
 *   heaps of V8, above all the SDK's native core. Baseline: a workflow that waits for a signal.
 * - `first_activation_ms`: creating the workflow in the thread and its first activation, up to the
 *   first command; the median of the same 200. It excludes the service and messages between
 *   threads.
 * - `bundle_bytes`: the code that a worker loads, without its source map. Baseline: the bare
 *   workflow's.
 * - `cold_replay_ratio`: the time to replay 200 iterations from nothing, divided by that of a bare
 *   workflow's history with as many turns. Both sides alternate, in warm workflow threads: ours start
 *   as those of `runWorker` do, the bare ones as the SDK starts them. The sinks are in place; the
 *   median of the ratios. `cold_replay_ms` is one replay.
 */
import type { ReplayWorkerOptions } from '@temporalio/worker';
import { loadWorkflowBundle } from '../src/worker/bundle/bundle.ts';
import { createTranscriptCache } from '../src/worker/serve/transcript-cache.ts';
import { createSinks } from '../src/worker/serve/worker-sinks.ts';
import { guardWorkflowThreads } from '../src/worker/threads/guard-workflow-threads.ts';
import { bareBundle, serveBare, withStockThreads } from './support/bare-worker.ts';
import { withStage, type Stage } from './support/bench-stage.ts';
import { figure, median, type Bench, type Figure } from './support/figure.ts';
import { readLinks, type History } from './support/history-reader.ts';
import type { IdleReport } from './support/idle-child.ts';
import { weighIdle } from './support/weigh-idle.ts';
import { instantAgent } from './support/instant-agent.ts';
import { openReplayer } from './support/replay-race.ts';

const WAITING = 200;
const ITERATIONS = 200;
const PAIRS = 15;

/** Replays of each side before: a worker that has served for some seconds has compiled its loop. */
const WARM_UP = 10;

/** The benchmark `idle`. */
export const idleBench: Bench = {
  name: 'idle',
  about: 'what a waiting agent costs, and what it costs to have it back',
  run: () =>
    withStage(async (stage) => [
      ...(await weigh(stage)),
      ...(await measureBundle()),
      ...(await replay(stage)),
    ]),
};

async function weigh({ address }: Stage): Promise<readonly Figure[]> {
  const agent = await weighIdle({ address, side: 'agent', count: WAITING });
  const bare = await weighIdle({ address, side: 'bare', count: WAITING });
  const activation = (report: IdleReport): number => median(report.firstActivationsMs);
  return [
    figure('heap_bytes', agent.threadBytes, 'B', '<= 65536', bare.threadBytes),
    figure('heap_main_bytes', agent.mainBytes, 'B', '', bare.mainBytes),
    figure('first_activation_ms', activation(agent), 'ms', '<= 3', activation(bare)),
  ];
}

async function measureBundle(): Promise<readonly Figure[]> {
  const { code } = await loadWorkflowBundle({ cacheDir: '.everloop/bundles' });
  const bare = await bareBundle();
  return [
    figure('bundle_bytes', codeBytes(code), 'B', '', codeBytes('code' in bare ? bare.code : '')),
  ];
}

function codeBytes(code: string): number {
  return Buffer.byteLength(code.split('\n//# sourceMappingURL')[0] ?? '');
}

async function replay(stage: Stage): Promise<readonly Figure[]> {
  const options = { workflowBundle: await bareBundle() };
  const turns = await bareHistory(stage);
  const bare = await withStockThreads(() => openReplayer(options, turns));
  guardWorkflowThreads();
  const agent = await openReplayer(await agentOptions(), await agentHistory(stage));
  const agentTimes: number[] = [];
  const bareTimes: number[] = [];
  for (let pair = 0; pair < WARM_UP + PAIRS; pair++) {
    agentTimes.push(await agent.replay());
    bareTimes.push(await bare.replay());
  }
  await agent.close();
  await bare.close();
  const ratios = agentTimes.map((ms, pair) => ms / (bareTimes[pair] ?? Number.NaN));
  return [
    figure('cold_replay_ratio', median(ratios.slice(WARM_UP)), 'x', '<= 1.25', 1),
    figure(
      'cold_replay_ms',
      median(agentTimes.slice(WARM_UP)),
      'ms',
      '',
      median(bareTimes.slice(WARM_UP)),
    ),
  ];
}

async function agentOptions(): Promise<ReplayWorkerOptions> {
  const cache = createTranscriptCache({ maxBytes: 10_000_000 });
  return {
    workflowBundle: await loadWorkflowBundle({ cacheDir: '.everloop/bundles' }),
    sinks: createSinks({ cache, listeners: [], onListenerError: () => undefined }),
  };
}

async function agentHistory(stage: Stage): Promise<History> {
  const { everloop, stop } = await stage.serve([instantAgent('replayed')]);
  const run = await everloop.start('replayed', { task: String(ITERATIONS), limits: 'unlimited' });
  await run.result();
  await stop();
  return onlyLink(stage, run.id);
}

/** Histories of equally many turns. The agent's has seven more events: its definition and its answer. */
async function bareHistory(stage: Stage): Promise<History> {
  const { run, stop } = await serveBare(stage);
  const id = await run(ITERATIONS);
  await stop();
  return onlyLink(stage, id);
}

async function onlyLink(stage: Stage, id: string): Promise<History> {
  const links = await readLinks(stage.client, id);
  const [only] = links;
  if (only === undefined || links.length > 1) {
    throw new Error(`Expected one link to replay, got ${links.length}.`);
  }
  return only.history;
}
