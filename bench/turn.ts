/**
 * `turn`: what an iteration of an agent costs in wall time over a bare workflow with the same two
 * activities and payloads: alternating in one run, then with forty at once.
 */
import { bundleWorkflowCode, Worker } from '@temporalio/worker';
import { fileURLToPath } from 'node:url';
import { instantAgent, REPLY_BYTES, RESULT_TEXT } from './support/instant-agent.ts';
import { openStage, type Stage } from './support/bench-stage.ts';
import { figure, median, type Bench, type Figure } from './support/figure.ts';

const PAIRS = 5;
const TURNS = 50;
const FLEET = 40;
const FLEET_TURNS = 20;

/** The benchmark of iterations. */
export const turnBench: Bench = {
  name: 'turn',
  about: 'wall time of an iteration over a bare workflow with the same activities',
  run: async () => {
    const stage = await openStage();
    try {
      return await measure(stage);
    } finally {
      await stage.close();
    }
  },
};

async function measure(stage: Stage): Promise<readonly Figure[]> {
  const agentSide = await stage.serve([instantAgent('instant')], { taskQueue: 'agents' });
  const bareSide = await serveBare(stage);
  const agent = async (turns: number): Promise<number> => {
    const startedAt = performance.now();
    const run = await agentSide.everloop.start('instant', {
      task: String(turns),
      limits: 'unlimited',
    });
    const step = await run.result();
    if (step.iterations !== turns + 1)
      throw new Error(`Expected ${turns + 1} iterations, got ${step.iterations}.`);
    return performance.now() - startedAt;
  };
  const bare = async (turns: number): Promise<number> => {
    const startedAt = performance.now();
    await bareSide.run(turns);
    return performance.now() - startedAt;
  };

  await agent(5);
  await bare(5);
  const ratios: number[] = [];
  const agentTimes: number[] = [];
  const bareTimes: number[] = [];
  for (let pair = 0; pair < PAIRS; pair++) {
    const agentMs = await agent(TURNS);
    // The agent's last iteration answers: one model call more than the bare run has.
    const bareMs = await bare(TURNS);
    ratios.push(agentMs / bareMs);
    agentTimes.push(agentMs / TURNS);
    bareTimes.push(bareMs / TURNS);
  }

  const fleets: number[] = [];
  let bareRate = 0;
  for (let pair = 0; pair < 3; pair++) {
    const agentMs = await inFleet(() => agent(FLEET_TURNS));
    const bareMs = await inFleet(() => bare(FLEET_TURNS));
    fleets.push(bareMs / agentMs);
    bareRate = (FLEET * FLEET_TURNS * 1_000) / bareMs;
  }
  await bareSide.stop();
  return [
    figure('wall_ratio', median(ratios), 'x', '<= 1.1', 1),
    figure('turn_ms', median(agentTimes), 'ms', '', median(bareTimes)),
    figure('fleet_ratio', median(fleets), 'x', '>= 0.9', 1),
    figure('fleet_turns_per_s', bareRate * median(fleets), '1/s', '', bareRate),
  ];
}

async function inFleet(one: () => Promise<number>): Promise<number> {
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: FLEET }, one));
  return performance.now() - startedAt;
}

async function serveBare(
  stage: Stage,
): Promise<{
  readonly run: (turns: number) => Promise<unknown>;
  readonly stop: () => Promise<void>;
}> {
  const workflowBundle = await bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('./workflows/bare.ts', import.meta.url)),
  });
  const reply = bareReply();
  const worker = await Worker.create({
    connection: stage.connection,
    namespace: 'default',
    taskQueue: 'bare',
    workflowBundle,
    activities: {
      bareModel: async () => reply,
      bareTool: async () => ({ outcome: 'ok', output: RESULT_TEXT, attempts: 1, started: true }),
    },
    maxConcurrentWorkflowTaskExecutions: 100,
    maxConcurrentActivityTaskExecutions: 200,
    workflowTaskPollerBehavior: { type: 'autoscaling', initial: 5, minimum: 1, maximum: 100 },
    activityTaskPollerBehavior: { type: 'autoscaling', initial: 5, minimum: 1, maximum: 100 },
  });
  const running = worker.run();
  let runs = 0;
  return {
    run: (turns) =>
      stage.client.workflow.execute('bare', {
        workflowId: `bare-${(runs += 1)}`,
        taskQueue: 'bare',
        args: [{ turns, modelOrder: ORDER, toolOrder: TOOL_ORDER }],
      }),
    stop: async () => {
      worker.shutdown();
      await running;
    },
  };
}

const ORDER = {
  agent: 'instant',
  runId: '00000000-0000-0000-0000-000000000000',
  agentPath: 'instant',
  model: 'instant/model',
  purpose: 'reply',
  iteration: 10,
  triesBefore: 0,
  lastTurn: false,
  time: 1_773_133_200_000,
  transcript: { epoch: 1, length: 20, digest: '0123456789abcdef' },
};

const TOOL_ORDER = {
  agent: 'instant',
  runId: '00000000-0000-0000-0000-000000000000',
  agentPath: 'instant',
  callId: '10.1',
  tool: 'read',
  args: { part: 10 },
};

function bareReply(): unknown {
  return {
    kind: 'reply',
    reply: {
      parts: [{ type: 'text', text: 'x'.repeat(REPLY_BYTES) }],
      calls: [],
      finishReason: 'stop',
      usage: {
        inputTokens: 100,
        outputTokens: 10,
        cachedInputTokens: 0,
        cacheWriteTokens: 0,
        reasoningTokens: 0,
        costMicroUsd: 0,
      },
      usageKnown: true,
      model: 'instant/model',
    },
    attempts: 1,
  };
}
