/**
 * `recovery`: how long a run stands still if its only worker is killed with SIGKILL in a model call
 * and another one is started at once.
 *
 * One run is killed again and again. Each worker answers the call that its predecessor left behind,
 * waits in the next one, and is killed there, at moments spread over the first two heartbeats. The
 * time is measured from the kill to the first event that the replacement publishes, on the clock of
 * the killing process. It includes the start of the replacement (Node, compiling the sources, the
 * bundle from the cache), the heartbeat time-out, the retry, and reading the transcript by query,
 * because the cache of the new worker is empty. The heartbeat time-out is that of the embedded
 * server.
 *
 * Baseline: a bare workflow on a worker with the SDK's defaults and a heartbeat time-out of 10 s,
 * three times. Not measured: a killed server, a worker that comes late, a loaded machine.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createEverloop } from '../src/client/everloop-client.ts';
import { bareInput } from './support/bare-worker.ts';
import { withStage, type Stage } from './support/bench-stage.ts';
import { figure, median, type Bench } from './support/figure.ts';
import { recoveryQueue, type RecoveryNote, type RecoveryOrder } from './support/recovery-order.ts';

const KILLS = 10;
const BASELINE_KILLS = 3;
const SDK_HEARTBEAT_MS = 10_000;

/** Times of the kills after the call began: before the first heartbeat, and after it. */
const FIRST_KILL_MS = 300;
const LAST_KILL_MS = 3_800;

/** The benchmark `recovery`. */
export const recoveryBench: Bench = {
  name: 'recovery',
  about: 'time from the kill of a worker in a model call to the next event of its run',
  run: () =>
    withStage(async (stage) => {
      const times = await killAgain(stage, 'agent', KILLS);
      const bare = await killAgain(stage, 'bare', BASELINE_KILLS);
      return [
        figure('median_ms', median(times), 'ms', '<= 6000', median(bare)),
        figure('max_ms', Math.max(...times), 'ms', '', Math.max(...bare)),
      ];
    }),
};

async function killAgain(
  stage: Stage,
  side: RecoveryOrder['side'],
  kills: number,
): Promise<readonly number[]> {
  const order = { address: stage.address, side };
  const times: number[] = [];
  let child = startChild(order);
  try {
    await startRun(stage, side);
    for (let kill = 0; kill < kills; kill++) {
      await heard(child, 'stuck');
      await sleep(FIRST_KILL_MS + ((LAST_KILL_MS - FIRST_KILL_MS) * kill) / (kills - 1));
      const killedAt = performance.now();
      child.kill('SIGKILL');
      child = startChild(order);
      await heard(child, 'progress');
      times.push(performance.now() - killedAt);
    }
  } finally {
    child.kill('SIGKILL');
  }
  return times;
}

async function startRun({ client }: Stage, side: RecoveryOrder['side']): Promise<void> {
  if (side === 'agent') {
    const everloop = createEverloop({ client, taskQueue: recoveryQueue(side) });
    await everloop.start('stuck', { task: '1000', limits: 'unlimited' });
    return;
  }
  const args = [bareInput(1_000, SDK_HEARTBEAT_MS)];
  await client.workflow.start('bare', {
    workflowId: 'stuck',
    taskQueue: recoveryQueue(side),
    args,
  });
}

function startChild(order: RecoveryOrder): ChildProcess {
  const path = fileURLToPath(new URL('support/recovery-child.ts', import.meta.url));
  return spawn(process.execPath, ['--import', 'tsx', path, JSON.stringify(order)], {
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}

/** Settles at the next `note` of the process; rejects when it ends by itself. */
async function heard(child: ChildProcess, note: RecoveryNote): Promise<void> {
  const giveUp = new AbortController();
  const { signal } = giveUp;
  const ended = once(child, 'exit', { signal }).then(() => {
    throw new Error(`Expected the worker to tell \`${note}\`, got its end.`);
  });
  try {
    for (;;) {
      const [told] = await Promise.race([once(child, 'message', { signal }), ended]);
      if (told === note) return;
    }
  } finally {
    giveUp.abort();
    ended.catch(() => undefined);
  }
}
