/** The agents of docs/programs.md; test/docs/programs.test.ts runs them. */
import { z } from 'zod';
import { defineAgent, defineTool, ToolError } from '../../src/index.ts';
import type { AgentDefinition, AgentModel, ToolDefinition } from '../../src/index.ts';
import { exampleModel } from '../example-model.ts';

const ORDERS: Readonly<Record<string, readonly { id: string; cents: number }[]>> = {
  C1: [
    { id: 'O1', cents: 4_500 },
    { id: 'O2', cents: 12_000 },
  ],
  C2: [{ id: 'O3', cents: 800 }],
};

function ordersTool(): ToolDefinition {
  // #region tools
  const orders = defineTool({
    name: 'orders',
    description: 'Lists the orders of a customer.',
    parameters: z.object({ customer_id: z.string() }),
    output: z.array(z.object({ id: z.string(), cents: z.number().int() })),
    effect: 'read',
    local: true,
    execute: ({ customer_id }) => {
      const found = ORDERS[customer_id];
      if (found === undefined) throw new ToolError(`no customer ${customer_id}`);
      return found;
    },
  });
  // #endregion
  return orders;
}

const orders = ordersTool();

const refund = defineTool({
  name: 'refund',
  description: 'Pays an order back.',
  parameters: z.object({ order_id: z.string() }),
  effect: 'once',
  execute: ({ order_id }) => ({ refunded: order_id }),
});

/** Works with programs only. */
export function accountantWith(model: AgentModel): AgentDefinition {
  // #region lisp
  const accountant = defineAgent({
    name: 'accountant',
    mode: 'lisp',
    model,
    tools: [orders],
    prompt: 'How much did the customers {{customers}} spend on orders from {{minimum}} cents up?',
    signature: '(customers [:string], minimum :int) -> {cents :int, orders :int}',
  });
  // #endregion
  return accountant;
}

/** An agent with more options, for the programs on the page. */
export function clerkWith(model: AgentModel): AgentDefinition {
  // #region options
  const clerk = defineAgent({
    name: 'clerk',
    mode: 'lisp',
    model,
    tools: [orders, refund],
    askUser: true,
    maxTurns: 8,
    retryTurns: 2,
    completion: 'explicit',
    thinking: true,
    journal: true,
    plan: ['find the orders', 'pay back'],
    program: { fuel: 200_000, toolCalls: 50 },
    sizes: { feedbackChars: 1_000 },
  });
  // #endregion
  return clerk;
}

/** Uses programs and calls, whichever fits. */
export function helperWith(model: AgentModel): AgentDefinition {
  // #region blocks
  const helper = defineAgent({
    name: 'helper',
    mode: 'react',
    model,
    tools: [orders, refund],
    programs: true,
  });
  // #endregion
  return helper;
}

/** Programs as native calls. */
export function callerWith(model: AgentModel): AgentDefinition {
  // #region native
  const caller = defineAgent({
    name: 'caller',
    mode: 'lisp',
    model,
    tools: [orders],
    transport: 'tool_call',
  });
  // #endregion
  return caller;
}

const SUM = `\`\`\`clojure
(def large
  (->> (mapcat #(tool/orders {:customer-id %}) data/customers)
       (filter #(>= (:cents %) data/minimum))))
(println (count large) "orders")
\`\`\``;

/** With a scripted model, for `everloop run`. */
export const agents: readonly AgentDefinition[] = [
  accountantWith(
    exampleModel([
      { content: SUM },
      {
        content: '```clojure\n(return {:cents (sum-by :cents large) :orders (count large)})\n```',
      },
    ]),
  ),
];
