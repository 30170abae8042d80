/**
 * Outages in the middle of work: the database crashes and recovers, then the whole cluster. What was
 * accepted happens once, all runs end, and the list says so.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { isUsageError } from '../../src/core/base/usage-error.ts';
import { grpcCodeOf } from '../../src/client/connection/service-errors.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { patiently } from '../matrix/patiently.ts';
import { effectTools, repeatsIn } from '../matrix/effects.ts';
import { eventually } from '../support/eventually.ts';
import { peopleAgents } from '../support/people-agents.ts';
import { openStage, type Served, type Stage } from '../support/stage.ts';
import { threeLevels } from '../support/tree-agents.ts';
import { killNode, startDatabase, startNode, stopDatabase } from './cluster.ts';

const cluster = inject('cluster');

/** Iterations of a run that works for half a minute, and takes messages meanwhile. */
const ROUNDS = 30;
const TOOL_MS = 700;

let stage: Stage;
let served: Served;
let effects: string;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
  effects = await mkdtemp(join(stage.folder, 'effects-'));
  const tools = effectTools(effects, { toolMs: TOOL_MS });
  const busy = defineAgent({
    name: 'busy',
    mode: 'chat',
    tools,
    limits: { iterations: 10 * ROUNDS },
    model: {
      id: 'busy/model',
      price: { input: 0, output: 0 },
      model: async ({ iteration }) =>
        iteration <= ROUNDS
          ? {
              usage: { inputTokens: 1, outputTokens: 1 },
              toolCalls: [{ name: iteration % 2 === 0 ? 'put' : 'pay', args: { n: iteration } }],
            }
          : { usage: { inputTokens: 1, outputTokens: 1 }, content: 'done' },
    },
  });
  served = await stage.serve([busy, ...peopleAgents(), threeLevels(2, 8, TOOL_MS)]);
});
afterAll(() => stage?.close());

/** Sends a message each 300 ms while there is an outage and after it; gives the ids of the accepted. */
function keepSending(run: RunHandle): { readonly stop: () => Promise<ReadonlySet<string>> } {
  const accepted = new Set<string>();
  let isOver = false;
  const sending = (async () => {
    for (let count = 0; !isOver; count++) {
      const id = `message-${count}`;
      await run.send(`Message ${count}`, { id }).then(
        () => accepted.add(id),
        (error: unknown) => {
          const isOutage = isUsageError(error) || grpcCodeOf(error) !== undefined;
          if (!isOutage) throw error;
        },
      );
      await sleep(300);
    }
  })();
  return {
    stop: async () => {
      isOver = true;
      await sending;
      return accepted;
    },
  };
}

/** What the list says of runs whose ids begin with `prefix`. */
async function listed(prefix: string): Promise<readonly string[]> {
  const runs = await served.everloop.list({ idPrefix: prefix, roots: true });
  return runs.map(({ state }) => state);
}

async function survives(outage: () => Promise<void>): Promise<void> {
  const { everloop } = served;
  const prefix = `outage-${randomUUID()}`;
  const start = (agent: string): Promise<RunHandle> =>
    everloop.start(agent, { task: 'Go', id: `${prefix}-${agent}` });
  const [busy, asks, tree] = [await start('busy'), await start('asker'), await start('top')];
  await eventually('a question', async () => (await asks.pending()).length > 0);
  const sending = keepSending(busy);
  await sleep(2_000);

  await outage();

  // At once, while the service may still come up.
  const [item] = await patiently(() => asks.pending());
  await patiently(() => asks.answer(item?.id ?? '', 'blue', { updateId: `${prefix}-answer` }));
  await sleep(2_000);
  const accepted = await sending.stop();
  const steps = await Promise.all([busy, asks, tree].map((run) => patiently(() => run.result())));

  expect(steps.map(({ status }) => status)).toEqual(['success', 'success', 'success']);
  expect(repeatsIn(effects).twice).toEqual({ idempotent: 0, once: 0 });
  const inputs = (await busy.events()).flatMap((event) =>
    event.type === 'agent:input' ? [event.inputId] : [],
  );
  expect(new Set(inputs).size).toBe(inputs.length);
  expect([...accepted].filter((id) => !inputs.includes(id))).toEqual([]);
  expect(accepted.size).toBeGreaterThan(0);
  await eventually('the ends in the list', async () => {
    const states = await listed(prefix);
    return states.length === 3 && states.every((state) => state === 'completed');
  });
}

describe('runs in the middle of their work survive', () => {
  it('a crash of the database', { timeout: 300_000 }, async () => {
    await survives(async () => {
      await stopDatabase(cluster, 'immediate');
      await sleep(3_000);
      await startDatabase(cluster);
    });
  });

  it('the end of all nodes at once', { timeout: 300_000 }, async () => {
    await survives(async () => {
      await Promise.all(cluster.nodes.map((node) => killNode(cluster, node)));
      await Promise.all(cluster.nodes.map((node) => startNode(cluster, node)));
    });
  });

  it('a crash of the database while a node is gone', { timeout: 300_000 }, async () => {
    const [node] = cluster.nodes;
    if (node === undefined) throw new Error('Expected nodes.');
    await survives(async () => {
      await killNode(cluster, node);
      await stopDatabase(cluster, 'immediate');
      await startDatabase(cluster);
      await startNode(cluster, node);
    });
  });
});
