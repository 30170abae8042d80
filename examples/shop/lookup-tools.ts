/** The tools that only read, so they may run any number of times. */
import { z } from 'zod';
import type { ToolDefinition } from '../../src/define/definition/definitions.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { ToolError } from '../../src/core/base/tool-error.ts';
import { scenarioService, type ScenarioToolOptions } from '../scenario.ts';
import type { ShopState } from './data.ts';
import type { ShopChange } from './store.ts';

/** Options of the shop's tools. */
export type ShopToolOptions = ScenarioToolOptions<ShopState, ShopChange>;

/** The five tools that read. */
export function shopLookupTools(options: ShopToolOptions): readonly ToolDefinition[] {
  const { lookUp } = scenarioService(options);
  return [
    defineTool({
      name: 'get_customer_info',
      description: 'Look up a customer by e-mail.',
      parameters: z.object({ email: z.string() }),
      search: {
        domain: 'Customer',
        categories: ['lookup'],
        keywords: ['customer', 'email', 'profile'],
        queries: ['find a customer by email'],
      },
      effect: 'read',
      execute: ({ email }, { signal }) => lookUp(signal, (state) => findCustomer(state, email)),
    }),
    defineTool({
      name: 'get_orders',
      description: 'List the orders of a customer, newest first, a page at a time.',
      parameters: z.object({ customer_id: z.string(), cursor: z.string().optional() }),
      search: {
        domain: 'Orders',
        categories: ['lookup', 'order'],
        keywords: ['order', 'purchase', 'history'],
        queries: ['what did a customer buy', 'list orders'],
      },
      effect: 'read',
      execute: (args, { signal }) => lookUp(signal, (state) => findPage(state, args)),
    }),
    defineTool({
      name: 'get_order_payments',
      description: 'List the payments of an order.',
      parameters: z.object({ order_id: z.string() }),
      search: {
        domain: 'Payments',
        categories: ['lookup', 'payment'],
        keywords: ['payment', 'charge', 'transaction'],
        queries: ['how was an order paid', 'charged twice'],
      },
      effect: 'read',
      execute: ({ order_id }, { signal }) =>
        lookUp(signal, ({ payments }) => payments[order_id] ?? { payments: [] }),
    }),
    defineTool({
      name: 'gateway_get_tx_detail',
      description: 'Look up a transaction at the payment gateway.',
      parameters: z.object({ tx_id: z.string() }),
      search: {
        domain: 'Payments',
        categories: ['lookup', 'gateway'],
        keywords: ['transaction', 'gateway', 'settled'],
        queries: ['check a transaction at the gateway'],
      },
      effect: 'read',
      execute: ({ tx_id }, { signal }) => lookUp(signal, (state) => findTransaction(state, tx_id)),
    }),
    defineTool({
      name: 'search_guidance_policy',
      description: 'Find policies that contain a word.',
      parameters: z.object({ keyword: z.string() }),
      search: {
        domain: 'Policy',
        categories: ['lookup', 'policy'],
        keywords: ['policy', 'rules', 'steps'],
        queries: ['what to do about a double charge'],
      },
      effect: 'read',
      execute: ({ keyword }, { signal }) =>
        lookUp(signal, (state) => searchPolicies(state, keyword)),
    }),
  ];
}

/** The transaction with this id; a ToolError when there is none. */
export function findTransaction(state: ShopState, id: string): ShopState['transactions'][number] {
  const transaction = state.transactions.find(({ tx_id }) => tx_id === id);
  if (transaction === undefined) throw new ToolError(`there is no transaction ${id}`);
  return transaction;
}

function findCustomer({ customer }: ShopState, email: string): ShopState['customer'] {
  if (customer.email !== email.toLowerCase()) throw new ToolError(`there is no customer ${email}`);
  return customer;
}

function findPage(
  state: ShopState,
  wanted: { readonly customer_id: string; readonly cursor?: string | undefined },
): ShopState['pages'][string] {
  const { customer_id: id, cursor = '' } = wanted;
  if (state.customer.customer_id !== id) throw new ToolError(`there is no customer ${id}`);
  const page = Object.hasOwn(state.pages, cursor) ? state.pages[cursor] : undefined;
  if (page === undefined) throw new ToolError(`the cursor "${cursor}" is invalid`);
  return page;
}

function searchPolicies(
  state: ShopState,
  keyword: string,
): readonly ShopState['policies'][number][] {
  const word = keyword.trim().toLowerCase();
  const found = state.policies.filter(({ title, text }) =>
    `${title}\n${text}`.toLowerCase().includes(word),
  );
  if (word === '' || found.length === 0) {
    throw new ToolError(`no policy contains "${keyword}"; search for a single word`);
  }
  return found;
}
