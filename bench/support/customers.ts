/**
 * A task that compares programs with native calls: three tools over twelve customers, whose data is
 * joined, filtered and summed. Both models reply as a good model would, and nothing else is
 * scripted: the numbers that they use come from the tools.
 */
import { defineTool } from '../../src/define/tool/define-tool.ts';
import type { ToolDefinition } from '../../src/define/definition/definitions.ts';
import type { Json, JsonObject } from '../../src/core/base/json.ts';
import type { ModelFunction, ModelReply, ModelRequest } from '../../src/core/contract/model.ts';

/** The task. */
export const CUSTOMER_TASK =
  'For each customer in the region "EU": the sum of all paid orders less the sum of all refunds, in cents. Give the number of customers whose balance is over 40,000 and the sum of their balances.';

const CUSTOMERS = Array.from({ length: 12 }, (_, index) => ({
  id: `c${index + 1}`,
  name: `Customer ${index + 1}`,
  region: 'EU',
  email: `customer${index + 1}@example.com`,
}));

function ordersOf(customer: number): Json[] {
  return Array.from({ length: 10 }, (_, index) => ({
    order_id: `o${customer}-${index + 1}`,
    ordered_at: `2026-04-${String(index + 10)}T09:30:00Z`,
    status: (customer + index) % 3 === 0 ? 'canceled' : 'paid',
    total_cents: 1_000 * (index + 1) + 137 * customer,
    carrier: 'Parcel Express',
    address: `${index + 1} Harbour Road, Springfield`,
  }));
}

function refundsOf(customer: number): Json[] {
  return Array.from({ length: customer % 4 }, (_, index) => ({
    refund_id: `r${customer}-${index + 1}`,
    order_id: `o${customer}-${index + 2}`,
    amount_cents: 700 + 11 * customer * (index + 1),
    reason: 'damaged on arrival',
  }));
}

function numberOf(id: unknown): number {
  return CUSTOMERS.findIndex((customer) => customer.id === id) + 1;
}

const customerId = {
  type: 'object',
  properties: { customer_id: { type: 'string' } },
  required: ['customer_id'],
};

function listOf(properties: JsonObject): JsonObject {
  return { type: 'array', items: { type: 'object', properties } };
}

/** The three tools. */
export function customerTools(): readonly ToolDefinition[] {
  const text = { type: 'string' };
  const integer = { type: 'integer' };
  return [
    defineTool({
      name: 'list_customers',
      description: 'All customers of a region.',
      parameters: {
        type: 'object',
        properties: { region: { type: 'string' } },
        required: ['region'],
      },
      output: listOf({ id: text, name: text, region: text, email: text }),
      effect: 'read',
      execute: () => CUSTOMERS,
    }),
    defineTool({
      name: 'get_orders',
      description: 'The orders of a customer.',
      parameters: customerId,
      output: listOf({
        order_id: text,
        ordered_at: text,
        status: text,
        total_cents: integer,
        carrier: text,
        address: text,
      }),
      effect: 'read',
      execute: (args) => ordersOf(numberOf((args as { customer_id: string }).customer_id)),
    }),
    defineTool({
      name: 'get_refunds',
      description: 'The refunds of a customer.',
      parameters: customerId,
      output: listOf({ refund_id: text, order_id: text, amount_cents: integer, reason: text }),
      effect: 'read',
      execute: (args) => refundsOf(numberOf((args as { customer_id: string }).customer_id)),
    }),
  ];
}

/** The right answer, computed here from the same data. */
export function customerAnswer(): { readonly count: number; readonly total: number } {
  const balances = CUSTOMERS.map(({ id }) => balanceOf(numberOf(id)));
  const large = balances.filter((balance) => balance > 40_000);
  return { count: large.length, total: large.reduce((sum, balance) => sum + balance, 0) };
}

function balanceOf(customer: number): number {
  const sum = (items: readonly Json[], key: string): number =>
    items.reduce<number>(
      (total, item) => total + Number((item as { [key: string]: Json })[key]),
      0,
    );
  const paid = ordersOf(customer).filter((it) => (it as { status: string }).status === 'paid');
  return sum(paid, 'total_cents') - sum(refundsOf(customer), 'amount_cents');
}

/** The time that both scripts wait before each reply, as a fast provider would. */
const MODEL_MS = 1_000;

/** A model that waits and reports tokens: four bytes that it reads or writes are one token. */
export function timedModel(reply: (request: ModelRequest) => ModelReply): ModelFunction {
  return async (request) => {
    await new Promise((resolve) => setTimeout(resolve, MODEL_MS));
    const written = reply(request);
    const { messages, tools = [] } = request;
    const inputTokens =
      tokensOf(messages.map(({ role, parts }) => ({ role, parts }))) + tokensOf(tools);
    const outputTokens = tokensOf([written.content ?? '', written.toolCalls ?? []]);
    return { ...written, usage: { inputTokens, outputTokens } };
  };
}

function tokensOf(value: unknown): number {
  return Math.ceil(Buffer.byteLength(JSON.stringify(value)) / 4);
}

/** Native calls: the list, then all orders and refunds at once, then the answer. */
export const nativeModel: ModelFunction = timedModel(({ iteration }) => {
  switch (iteration) {
    case 1:
      return { toolCalls: [{ id: 'a', name: 'list_customers', args: { region: 'EU' } }] };
    case 2:
      return {
        toolCalls: CUSTOMERS.flatMap(({ id }) => [
          { id: `o-${id}`, name: 'get_orders', args: { customer_id: id } },
          { id: `r-${id}`, name: 'get_refunds', args: { customer_id: id } },
        ]),
      };
    default:
      return { content: JSON.stringify(customerAnswer()) };
  }
});

const PROGRAM = `(def customers (tool/list_customers {:region "EU"}))
(defn balance [{:keys [id]}]
  (let [orders (tool/get_orders {:customer_id id})
        refunds (tool/get_refunds {:customer_id id})]
    (- (reduce + (map :total_cents (filter #(= "paid" (:status %)) orders)))
       (reduce + (map :amount_cents refunds)))))
(def large (filter #(> % 40000) (pmap balance customers)))
(return {:count (count large) :total (reduce + large)})`;

/** One program that does all of it. */
export const programModel: ModelFunction = timedModel(() => ({
  content: `\`\`\`clojure\n${PROGRAM}\n\`\`\``,
}));
