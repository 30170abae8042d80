/**
 * Queries come while local activities run, and split their workflow tasks; heartbeats join tasks again.
 * Every execution replays all the same, and a worker that replays a run tells the same events.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import { MATRIX_SCENARIOS } from '../matrix/scenarios.ts';
import { eventually } from '../support/eventually.ts';
import { extent, extentOf } from '../support/extent.ts';
import { holdLocals } from '../support/held-locals.ts';
import { historiesOf, replayAll } from '../support/replay.ts';
import { openHandoverStage, type Served, type Stage } from '../support/stage.ts';

/** Each execution ends soon, so that hand-overs fall on every boundary. */
const EVENTS_OF_EXECUTION = 14;

/** Longer than the SDK keeps a workflow task without a heartbeat. */
const OVER_A_HEARTBEAT_MS = 9_000;

let stage: Stage;
let release = (): void => undefined;
beforeAll(async () => {
  stage = await openHandoverStage(EVENTS_OF_EXECUTION);
});
afterEach(() => release());
afterAll(() => stage?.close());

/** Local activities are held until queries wait for their run. */
function askDuringLocals(heldMs: () => number): void {
  release = holdLocals(async (workflowId) => {
    const handle = stage.client.workflow.getHandle(workflowId);
    for (const name of ['status', 'pending']) void handle.query(name).catch(() => undefined);
    await sleep(heldMs());
  });
}

/** Replays all executions of a task queue with cold workers; returns how many there are. */
async function replayQueue(taskQueue: string): Promise<number> {
  const ids = new Set<string>();
  for await (const { workflowId } of stage.client.workflow.list({
    query: `TaskQueue = '${taskQueue}'`,
  }))
    ids.add(workflowId);
  let executions = 0;
  for (const workflowId of ids) {
    const histories = await historiesOf(stage.client, workflowId);
    executions += histories.length;
    await replayAll(
      histories.map((history) => ({ history, workflowId })),
      {},
    );
  }
  return executions;
}

/** Asks for the state of the run until it has ended. */
function poll(run: RunHandle, everyMs: number): () => Promise<void> {
  let isOver = false;
  const polls = [1, 2].map(async () => {
    while (!isOver) {
      await run.status().catch(() => undefined);
      await sleep(everyMs);
    }
  });
  return async () => {
    isOver = true;
    await Promise.all(polls);
  };
}

it.each(extentOf(MATRIX_SCENARIOS, 2))(
  '$name: every execution replays though each local activity was asked at [row 6]',
  { timeout: 240_000 },
  async ({ agents, name, play }) => {
    askDuringLocals(() => 30);
    const { everloop, taskQueue } = await stage.serve(agents(stage.folder));

    const runs = await play(everloop, `split-${name}`);

    for (const run of runs) expect(await run.result()).toMatchObject({ status: 'success' });
    expect(await replayQueue(taskQueue)).toBeGreaterThanOrEqual(runs.length);
  },
);

const NUMBER = {
  type: 'object',
  properties: { n: { type: 'number' } },
  required: ['n'],
} as const;

/** A read on the worker of the workflow, which takes a different time for each number. */
const lookup = defineTool({
  name: 'lookup',
  description: 'Reads here.',
  effect: 'read',
  local: true,
  parameters: NUMBER,
  execute: async (args) => {
    const { n } = args as { readonly n: number };
    await sleep(10 + (n % 3) * 15);
    return n * 10;
  },
});
const fetchOne = defineTool({
  name: 'fetch_one',
  description: 'Reads anywhere.',
  effect: 'read',
  local: false,
  parameters: NUMBER,
  execute: async (args) => {
    const { n } = args as { readonly n: number };
    await sleep((n % 4) * 5);
    return n + 1;
  },
});

it('gives each branch of a program its own results [row 6]', { timeout: 240_000 }, async () => {
  askDuringLocals(() => 30);
  const branches = `(pmap (fn [n] (tool/fetch_one {:n (tool/lookup {:n (tool/fetch_one {:n n})})})) [1 2 3 4 5])`;
  const programs = [1, 2, 3].map((round) => `(def found${round} ${branches})`);
  const last = '(return {:all [found1 found2 found3]})';
  const agent = defineAgent({
    name: 'branches',
    mode: 'lisp',
    tools: [lookup, fetchOne],
    limits: 'unlimited',
    model: async ({ iteration }) =>
      `\`\`\`lisp\n${[...programs, last][iteration - 1] ?? last}\n\`\`\``,
  });
  const { everloop, taskQueue } = await stage.serve([agent]);
  const runs = await Promise.all(
    Array.from({ length: extent(6, 3) }, (_, n) =>
      everloop.start('branches', { task: 'Go.', id: `branches-${n}` }),
    ),
  );
  const stops = runs.map((run) => poll(run, 15));

  const steps = await Promise.all(runs.map((run) => run.result()));

  for (const stop of stops) await stop();
  const found = [21, 31, 41, 51, 61];
  for (const step of steps) {
    expect(step).toMatchObject({ status: 'success', value: { all: [found, found, found] } });
  }
  await replayQueue(taskQueue);
});

/** Local and regular reads at once, then a question, and so on. */
function mixed(name: string, turns: number): AgentDefinition {
  return defineAgent({
    name,
    mode: 'chat',
    askUser: true,
    tools: [lookup, fetchOne],
    limits: 'unlimited',
    model: async ({ iteration }) => {
      if (iteration > turns) return 'done';
      if (iteration % 3 === 0)
        return { toolCalls: [{ name: 'ask_user', args: { question: `Question ${iteration}?` } }] };
      return {
        toolCalls: [0, 1, 2, 3].map((at) => ({
          name: at % 2 === 0 ? 'lookup' : 'fetch_one',
          args: { n: iteration * 10 + at },
        })),
      };
    },
  });
}

async function answerAll(run: RunHandle): Promise<void> {
  for (const { id } of await run.pending().catch(() => []))
    await run.answer(id, 'yes').catch(() => undefined);
}

it(
  'replays a task that messages and heartbeats of a held local activity have joined',
  { timeout: 240_000 },
  async () => {
    let isFirst = true;
    release = holdLocals(async (_workflowId, name) => {
      if (name !== 'readClock' || !isFirst) return;
      isFirst = false;
      await sleep(OVER_A_HEARTBEAT_MS);
    });
    const { everloop, taskQueue } = await stage.serve([mixed('held', 4)]);
    const run = await everloop.start('held', { task: 'Go.', id: 'held-1' });
    await eventually('the question', async () => (await run.pending()).length === 1);

    await answerAll(run);
    // The clock is read now, over a heartbeat; a query, an input and a lowered limit come meanwhile.
    for (const part of [1, 2, 3]) {
      void run.status().catch(() => undefined);
      await run.send(`Part ${part}.`, { id: `part-${part}` }).catch(() => undefined);
      await sleep(3_200);
    }

    expect(await run.result()).toMatchObject({ status: 'success' });
    await replayQueue(taskQueue);
  },
);

/** Numbers that follow from a seed. */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

it(
  'replays runs that are polled, steered, answered, paused, canceled and taken by other workers',
  { timeout: 900_000 },
  async () => {
    askDuringLocals(() => 15);
    const random = numbersFrom(20_261_128);
    const agents = [mixed('mixed', extent(9, 4))];
    let served: Served = await stage.serve(agents, { readArchive: false });
    const { everloop, taskQueue } = served;
    const runs = await Promise.all(
      Array.from({ length: extent(200, 8) }, (_, n) =>
        everloop.start('mixed', { task: 'Go.', id: `fuzz-${n}` }),
      ),
    );
    let isOver = false;
    const restarts = (async () => {
      while (!isOver) {
        await sleep(1_500 + random() * 2_000);
        await served.stop();
        served = await stage.serve(agents, { taskQueue, readArchive: false });
      }
    })();
    const act = async (run: RunHandle): Promise<void> => {
      const dice = random();
      if (dice < 0.5) await answerAll(run);
      else if (dice < 0.75) await run.status();
      else if (dice < 0.85) await run.send('Go on.');
      else if (dice < 0.9) await run.pause();
      else if (dice < 0.985) await run.resume();
      else await run.cancel('enough');
    };
    const attended = runs.map(async (run) => {
      let hasEnded = false;
      const ended = run.result().finally(() => {
        hasEnded = true;
      });
      while (!hasEnded) {
        await act(run).catch(() => undefined);
        await run.resume().catch(() => undefined);
        await sleep(20 + random() * 100);
      }
      return ended;
    });

    const steps = await Promise.all(attended);

    isOver = true;
    await restarts;
    for (const { status } of steps) expect(['success', 'canceled']).toContain(status);
    expect(await replayQueue(taskQueue)).toBeGreaterThan(runs.length);
  },
);
