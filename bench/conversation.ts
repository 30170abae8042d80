/**
 * `conversation`: what a turn of a long conversation costs.
 *
 * - `bytes_turn_10`: what one of the first ten turns writes into the service's history, on the average.
 *   A turn is a message of 100 bytes and one reply of as many. `bytes_ratio_100`, `bytes_ratio_1000`:
 *   what later turns write, divided by that. A turn that hands over is left out.
 * - `say_ms`, `say_ratio`: from `say` to the request of the model, the median of 150 turns of a conversation that
 *   goes on. Baseline: a bare workflow that calls an activity when a signal comes, in turns with ours.
 * - `idle_bytes`: growth of both heaps of a worker for each of 2,000 conversations that wait for their
 *   second message. Baseline: a bare workflow that waits for a signal.
 */
import { Worker } from '@temporalio/worker';
import { randomUUID } from 'node:crypto';
import { defineAgent } from '../src/define/agent/define-agent.ts';
import { bareBundle, BARE_TUNING, withStockThreads } from './support/bare-worker.ts';
import { withStage, type Stage } from './support/bench-stage.ts';
import { figure, median, type Bench, type Figure } from './support/figure.ts';
import { iterationsOf, readLinks } from './support/history-reader.ts';
import { weighIdle } from './support/weigh-idle.ts';

const TURNS = 1_000;
const SAID = 150;
const WARM_UP = 20;
const WAITING = 2_000;
const TEXT = 'x'.repeat(100);

/** The benchmark `conversation`. */
export const conversationBench: Bench = {
  name: 'conversation',
  about: 'what a turn of a long conversation costs: bytes, the way to the model, and its wait',
  run: () =>
    withStage(async (stage) => [
      ...(await measureSay(stage)),
      ...(await measureBytes(stage)),
      ...(await measureIdle(stage)),
    ]),
};

async function measureBytes(stage: Stage): Promise<readonly Figure[]> {
  const agent = defineAgent({
    name: 'long-talk',
    mode: 'chat',
    model: async () => ({ content: TEXT, usage: { inputTokens: 100, outputTokens: 10 } }),
  });
  const { everloop, stop } = await stage.serve([agent]);
  const chat = everloop.conversation(agent, { id: `bytes-${randomUUID()}`, limits: 'unlimited' });
  for (let turn = 0; turn < TURNS; turn++) await (await chat.say(TEXT)).result();
  const links = await readLinks(stage.client, chat.run.id);
  await chat.cancel('over');
  await stop();
  const costs = links.flatMap(iterationsOf).map(({ bytes }) => bytes);
  const meanOf = (part: readonly number[]): number =>
    part.reduce((sum, bytes) => sum + bytes, 0) / part.length;
  const first = meanOf(costs.slice(0, 10));
  return [
    figure('bytes_turn_10', first, 'B', ''),
    figure('bytes_ratio_100', meanOf(costs.slice(90, 100)) / first, 'x', '<= 1.05', 1),
    figure('bytes_ratio_1000', meanOf(costs.slice(-100)) / first, 'x', '<= 1.05', 1),
    figure('links', links.length, ''),
  ];
}

async function measureSay(stage: Stage): Promise<readonly Figure[]> {
  let asked: (at: number) => void = () => undefined;
  const agent = defineAgent({
    name: 'quick-talk',
    mode: 'chat',
    model: async () => {
      asked(performance.now());
      return { content: 'yes' };
    },
  });
  const { everloop, stop } = await stage.serve([agent]);
  const taskQueue = `bare-${randomUUID()}`;
  const worker = await withStockThreads(async () =>
    Worker.create({
      connection: stage.connection,
      namespace: 'default',
      taskQueue,
      workflowBundle: await bareBundle(),
      activities: {
        bareModel: async () => {
          asked(performance.now());
          return 'yes';
        },
      },
      ...BARE_TUNING,
    }),
  );
  const running = worker.run();
  const workflowId = `listener-${randomUUID()}`;
  const bare = await stage.client.workflow.start('bareListener', { workflowId, taskQueue });
  const chat = everloop.conversation(agent, { id: `say-${randomUUID()}`, limits: 'unlimited' });
  const timed = async (say: () => Promise<unknown>): Promise<number> => {
    const heard = new Promise<number>((resolve) => {
      asked = resolve;
    });
    const began = performance.now();
    await say();
    return (await heard) - began;
  };
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let turn = 0; turn < SAID + WARM_UP; turn++) {
    const text = `${turn}`;
    const [one, other] = [
      await timed(() => chat.say(text, { id: text })),
      await timed(() => bare.signal('said', text)),
    ];
    // The turn ends before the next message, which would steer it.
    await chat.turn(text).result();
    if (turn < WARM_UP) continue;
    ours.push(one);
    theirs.push(other);
  }
  await bare.terminate();
  await chat.cancel('over');
  await stop();
  worker.shutdown();
  await running;
  const [say, signal] = [median(ours), median(theirs)];
  return [
    figure('say_ms', say, 'ms', '', signal),
    figure('say_ratio', say / signal, 'x', '<= 1.3', 1),
  ];
}

async function measureIdle({ address }: Stage): Promise<readonly Figure[]> {
  const talk = await weighIdle({ address, side: 'conversation', count: WAITING });
  const bare = await weighIdle({ address, side: 'bare', count: WAITING });
  const bytesOf = (report: typeof talk): number => report.threadBytes + report.mainBytes;
  return [figure('idle_bytes', bytesOf(talk), 'B', '<= 61440', bytesOf(bare))];
}
