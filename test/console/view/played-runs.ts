/** Runs whose events the tests of views fold: played in memory, so that they are the same each time. */
import { z } from 'zod';
import { defineAgent } from '../../../src/define/agent/define-agent.ts';
import { defineTool } from '../../../src/define/tool/define-tool.ts';
import { counter, slidingWindow } from '../../../src/define/agent/define-compaction.ts';
import type { ToolDefinition } from '../../../src/define/definition/definitions.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import { startInMemory } from '../../../src/testing/run-in-memory.ts';
import type { MemoryRun } from '../../../src/testing/memory-run.ts';
import { scriptedModel } from '../../../src/testing/scripted-model.ts';
import { act, answer, GARBAGE, START, startRun } from '../../support/runs.ts';
import { asker, worker } from '../../support/tree-agents.ts';

const ORDERS = [
  { id: 'A-1001', days_late: 6, amount: 120 },
  { id: 'A-1002', days_late: 1, amount: 40 },
  { id: 'A-1003', days_late: 4, amount: 75 },
  { id: 'A-1004', days_late: 9, amount: 310 },
];

const PROGRAM = `I look at the orders of May and refund those that came late.

\`\`\`clojure
(def orders (tool/orders {:month "may"}))
(def late (filter (fn [o] (> (:days_late o) 3)) orders))
(println "late:" (count late) "of" (count orders))
(def total (reduce + (map :amount late)))
(def paid (pmap (fn [o] (tool/refund {:order (:id o) :amount (:amount o)})) late))
(def tell (ask (str "Refunded " total " EUR. Tell the customers?") {:options ["yes" "no"]}))
(return (str "refunded " (count paid) " orders, told customers: " tell))
\`\`\``;

/** `clerk` refunds orders by a program; each refund waits for a person. */
export function clerk(): MemoryRun {
  const orders = defineTool({
    name: 'orders',
    description: 'Lists the orders of a month.',
    parameters: z.object({ month: z.string() }),
    effect: 'read',
    execute: () => ORDERS,
  }) as ToolDefinition;
  const refund = defineTool({
    name: 'refund',
    description: 'Refunds an order.',
    parameters: z.object({ order: z.string(), amount: z.number() }),
    effect: 'once',
    approval: 'always',
    execute: ({ order }) => ({ refunded: order }),
  }) as ToolDefinition;
  const agent = defineAgent({
    name: 'clerk',
    mode: 'lisp',
    model: { id: 'm', model: scriptedModel([PROGRAM]).model, price: { input: 1, output: 5 } },
    tools: [orders, refund],
    askUser: true,
    limits: { totalTokens: 50_000, costUsd: 0.5, modelCalls: 8 },
  });
  const task = 'Refund the late orders of May.';
  return startInMemory({ agent, task, clock: createFakeClock(START) });
}

/** The clerk until its end: two refunds approved, one denied, the question answered. */
export async function playedClerk(): Promise<MemoryRun> {
  const run = clerk();
  const settled = new Set<string>();
  for (;;) {
    const found = await run.resultOrPending();
    if (found.kind === 'step') break;
    for (const item of found.pending.filter(({ id }) => !settled.has(id))) {
      settled.add(item.id);
      if (item.kind === 'approval') {
        run.decide(item.id, item.args['amount'] === 310 ? { deny: 'too much' } : { approve: true });
      } else {
        run.answer(item.id, 'yes');
      }
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  await run.result;
  return run;
}

/** A tree of three levels. */
export async function playedTree(): Promise<MemoryRun> {
  const root = asker(asker(worker(2, 'leaf'), 2, 'middle'), 2, 'top');
  const run = startInMemory({
    agent: root,
    task: 'Look everywhere.',
    clock: createFakeClock(START),
  });
  await run.result;
  return run;
}

/** A run that compacts, reads bad replies, gets an input and hands over three times. */
export async function playedLong(): Promise<MemoryRun> {
  const replies = [
    ...Array.from({ length: 6 }, (_, index) => act(`topic ${index}`, `detail ${index}`)),
    GARBAGE,
    act('again'),
    answer('It is done.'),
  ];
  const { run } = startRun(replies, {
    agent: {
      compaction: {
        triggers: [counter('agent:iterations', 3)],
        strategies: [slidingWindow(2)],
      },
    },
    handoverDue: (iteration, place) => place === 'boundary' && [2, 4, 6].includes(iteration),
    onEvent: (event, self) => {
      if (event.type === 'agent:iteration:before' && event.iteration === 3) self.send('Hurry up.');
    },
  });
  await run.result;
  return run;
}
