import { describe, expect, test } from 'vitest';
import { repeatedKeys } from '../../examples/effect-log.ts';
import { scriptedModel, type ScriptVariant } from '../../examples/script.ts';
import { shopAgent } from '../../examples/shop/agents.ts';
import { SHOP_REQUEST, shopSeed } from '../../examples/shop/data.ts';
import { SHOP_SCRIPT, SHOP_SCRIPT_SEARCH } from '../../examples/shop/scripts.ts';
import { shopStore, type ShopStore } from '../../examples/shop/store.ts';
import { createRegistry } from '../../src/activities/registry.ts';
import { runTool } from '../../src/activities/run-tool.ts';
import type { JsonObject } from '../../src/core/json.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';

const seed = shopSeed();

function tools(store: ShopStore): (tool: string, args: JsonObject) => Promise<unknown> {
  const agent = shopAgent({ store, model: async () => '' });
  const registered = createRegistry({ agents: [agent] }).agents.get('shop');
  if (registered === undefined) throw new Error('Expected the agent to be registered.');
  let calls = 0;
  return async (tool, args) => {
    calls += 1;
    const run = await runTool(
      registered,
      { agent: 'shop', runId: 'run', agentPath: 'shop', callId: `1.${calls}`, tool, args },
      { attempt: 1, signal: new AbortController().signal },
    );
    if (run.kind !== 'result') throw new Error(`Expected a result, got ${run.kind}.`);
    return run.result.outcome === 'ok' ? run.result.output : run.result.error;
  };
}

describe('the tools of the shop that read', () => {
  const call = tools(shopStore());

  test.each([
    {
      tool: 'get_customer_info',
      args: { email: 'Alex.Rivera@email.com' },
      output: seed.customer,
    },
    {
      tool: 'get_customer_info',
      args: { email: 'x@y.z' },
      output: 'Error: there is no customer x@y.z',
    },
    { tool: 'get_orders', args: { customer_id: 'C001' }, output: seed.pages[''] },
    {
      tool: 'get_orders',
      args: { customer_id: 'C001', cursor: 'cur_p3' },
      output: {
        orders: [
          order('ORD-1007', 'Mighty Mouse Pro Wireless', 79.99, '2026-02-28'),
          order('ORD-1008', 'Ergonomic Mouse Pad', 19.99, '2026-02-24'),
          order('ORD-1009', 'Cable Kit', 12.99, '2026-02-17'),
        ],
        next_cursor: null,
        has_more: false,
      },
    },
    {
      tool: 'get_orders',
      args: { customer_id: 'C001', cursor: 'cur_p9' },
      output: 'Error: the cursor "cur_p9" is invalid',
    },
    {
      tool: 'get_orders',
      args: { customer_id: 'C001', cursor: 'toString' },
      output: 'Error: the cursor "toString" is invalid',
    },
    {
      tool: 'get_orders',
      args: { customer_id: 'C9' },
      output: 'Error: there is no customer C9',
    },
    {
      tool: 'get_order_payments',
      args: { order_id: 'ORD-1007' },
      output: {
        payments: [
          { payment_id: 'PAY-2001', amount: 79.99, status: 'failed', gateway_tx_id: 'GW-TX-5001' },
          {
            payment_id: 'PAY-2002',
            amount: 79.99,
            status: 'successful',
            gateway_tx_id: 'GW-TX-5002',
          },
        ],
        note: 'Records can lag. Check each at the gateway.',
      },
    },
    { tool: 'get_order_payments', args: { order_id: 'ORD-1006' }, output: { payments: [] } },
    {
      tool: 'gateway_get_tx_detail',
      args: { tx_id: 'GW-TX-5001' },
      output: { tx_id: 'GW-TX-5001', amount: 79.99, status: 'SETTLED', card: '4242' },
    },
    {
      tool: 'gateway_get_tx_detail',
      args: { tx_id: 'GW-TX-9' },
      output: 'Error: there is no transaction GW-TX-9',
    },
    { tool: 'search_guidance_policy', args: { keyword: 'DOUBLE' }, output: [seed.policies[0]] },
    {
      tool: 'search_guidance_policy',
      args: { keyword: 'double charge policy' },
      output: 'Error: no policy contains "double charge policy"; search for a single word',
    },
  ])('$tool of $args', async ({ tool, args, output }) => {
    expect(await call(tool, args)).toEqual(output);
  });
});

describe('the tools of the shop that write', () => {
  test('take what the gateway and the bank refuse as data', async () => {
    const store = shopStore();
    const call = tools(store);

    expect(await call('gateway_cancel_tx', { tx_id: 'GW-TX-5001' })).toEqual({
      success: false,
      reason: 'already settled',
    });
    expect(await call('process_refund', { payment_id: 'PAY-2001' })).toEqual({
      success: false,
      reason: 'bank refused, card 4242 is inactive',
    });
    expect(store.state()).toEqual({
      ...seed,
      refusals: ['cancel GW-TX-5001', 'refund PAY-2001'],
    });
  });

  test('open a case, then a credit in it', async () => {
    const store = shopStore();
    const call = tools(store);

    expect(await call('create_case', { order_id: 'ORD-1007', details: 'twice' })).toEqual({
      case_id: 'CASE-3001',
      status: 'open',
    });
    expect(await call('create_credit_request', { case_id: 'CASE-3001', amount: 79.99 })).toEqual({
      credit_id: 'CR-4001',
      case_id: 'CASE-3001',
      amount: 79.99,
      status: 'approved',
    });
  });

  test.each([
    {
      tool: 'gateway_cancel_tx',
      args: { tx_id: 'GW-TX-9' },
      error: 'Error: there is no transaction GW-TX-9',
    },
    {
      tool: 'process_refund',
      args: { payment_id: 'PAY-2002' },
      error: 'Error: there is no payment PAY-2002 to refund',
    },
    {
      tool: 'create_case',
      args: { order_id: 'ORD-9', details: '' },
      error: 'Error: there is no order ORD-9',
    },
    {
      tool: 'create_credit_request',
      args: { case_id: 'CASE-3001', amount: 0 },
      error: 'Error: the amount of a credit must be greater than 0',
    },
    {
      tool: 'create_credit_request',
      args: { case_id: 'CASE-9', amount: 5 },
      error: 'Error: there is no case CASE-9',
    },
  ])('refuse $tool of $args and change nothing', async ({ tool, args, error }) => {
    const store = shopStore();

    expect(await tools(store)(tool, args)).toBe(error);
    expect(store.state()).toEqual(seed);
  });
});

describe.each<ScriptVariant>(['yaml', 'json', 'chat'])('[row 58] the scenario in %s', (variant) => {
  test('follows the policy to the credit: 11 iterations, 12 calls, no failed one', async () => {
    const store = shopStore();
    const agent = shopAgent({ store, model: scriptedModel(SHOP_SCRIPT, variant), variant });

    const step = await startInMemory({ agent, task: SHOP_REQUEST }).result;

    expect(step).toMatchObject({ status: 'success', iterations: 11 });
    expect(step.value).toContain('CR-4001');
    expect(step.usage).toMatchObject({ totalTokens: 1210, modelCalls: 11, toolCalls: 12 });
    expect(step.stats.counters['agent:tool_calls_error_total'] ?? 0).toBe(0);
    const { cases, credits, refusals } = store.state();
    expect(refusals).toEqual(['cancel GW-TX-5001', 'refund PAY-2001']);
    expect(cases.map(({ case_id, order_id }) => [case_id, order_id])).toEqual([
      ['CASE-3001', 'ORD-1007'],
    ]);
    expect(credits.map(({ credit_id, amount }) => [credit_id, amount])).toEqual([
      ['CR-4001', 79.99],
    ]);
    expect(repeatedKeys(store.log)).toEqual([]);
  });
});

describe('[row 58] the scenario in search', () => {
  test('finds the tools, then follows the policy: 12 iterations, 14 calls, the same end', async () => {
    const store = shopStore();
    const model = scriptedModel(SHOP_SCRIPT_SEARCH, 'search');
    const agent = shopAgent({ store, model, variant: 'search' });

    const step = await startInMemory({ agent, task: SHOP_REQUEST }).result;

    expect(step).toMatchObject({ status: 'success', iterations: 12 });
    expect(step.usage).toMatchObject({ totalTokens: 1320, modelCalls: 12, toolCalls: 14 });
    expect(step.stats.counters['agent:tool_calls_error_total'] ?? 0).toBe(0);
    const { credits } = store.state();
    expect(credits.map(({ credit_id, amount }) => [credit_id, amount])).toEqual([
      ['CR-4001', 79.99],
    ]);
    expect(repeatedKeys(store.log)).toEqual([]);
  });
});

function order(id: string, item: string, amount: number, orderedOn: string): object {
  return { order_id: id, item, amount, status: 'delivered', ordered_on: orderedOn };
}
