import { describe, expect, test } from 'vitest';
import { shopAgent } from '../../examples/shop/agents.ts';
import { shopSeed } from '../../examples/shop/data.ts';
import { shopStore, type ShopStore } from '../../examples/shop/store.ts';
import { createRegistry } from '../../src/registry/registry.ts';
import { runTool } from '../../src/tools/run-tool.ts';
import type { JsonObject } from '../../src/core/base/json.ts';

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
      { attempt: 1, run: 'run-1', signal: new AbortController().signal },
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

function order(id: string, item: string, amount: number, orderedOn: string): object {
  return { order_id: id, item, amount, status: 'delivered', ordered_on: orderedOn };
}
