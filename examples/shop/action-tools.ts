/**
 * The tools that change something, all `once`. What the gateway and the bank refuse is data, not
 * an error: the model is to go on with the next step of the policy.
 */
import { z } from 'zod';
import type { ToolDefinition } from '../../src/define/definition/definitions.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { ToolError } from '../../src/core/base/tool-error.ts';
import { scenarioService, type Action } from '../scenario.ts';
import type { ShopState } from './data.ts';
import { findTransaction, type ShopToolOptions } from './lookup-tools.ts';
import type { ShopChange } from './store.ts';

/** The payment whose card the bank refuses; the others are unknown to it. */
const REFUSED_PAYMENT = 'PAY-2001';

/** The four tools that write. */
export function shopActionTools(options: ShopToolOptions): readonly ToolDefinition[] {
  const { act } = scenarioService(options);
  return [
    defineTool({
      name: 'gateway_cancel_tx',
      description: 'Cancel a transaction at the payment gateway.',
      parameters: z.object({ tx_id: z.string() }),
      search: {
        domain: 'Payments',
        categories: ['change', 'gateway'],
        keywords: ['cancel', 'void', 'duplicate'],
        queries: ['cancel a duplicate transaction'],
      },
      effect: 'once',
      execute: ({ tx_id }, context) =>
        act('gateway_cancel_tx', context, (state) => {
          findTransaction(state, tx_id);
          return refusal(`cancel ${tx_id}`, 'already settled');
        }),
    }),
    defineTool({
      name: 'process_refund',
      description: 'Refund a payment to the card that paid.',
      parameters: z.object({ payment_id: z.string() }),
      search: {
        domain: 'Payments',
        categories: ['change', 'refund'],
        keywords: ['refund', 'money', 'card'],
        queries: ['pay money back'],
      },
      effect: 'once',
      execute: ({ payment_id }, context) =>
        act('process_refund', context, () => {
          if (payment_id !== REFUSED_PAYMENT) {
            throw new ToolError(`there is no payment ${payment_id} to refund`);
          }
          return refusal(`refund ${payment_id}`, 'bank refused, card 4242 is inactive');
        }),
    }),
    defineTool({
      name: 'create_case',
      description: 'Open a case at the support.',
      parameters: z.object({ order_id: z.string(), details: z.string() }),
      search: {
        domain: 'Support',
        categories: ['case'],
        keywords: ['case', 'ticket', 'escalation'],
        queries: ['open a support case'],
      },
      effect: 'once',
      execute: (args, context) => act('create_case', context, (state) => openCase(state, args)),
    }),
    defineTool({
      name: 'create_credit_request',
      description: 'Ask for store credit in a case.',
      parameters: z.object({ case_id: z.string(), amount: z.number() }),
      search: {
        domain: 'Support',
        categories: ['credit'],
        keywords: ['credit', 'store', 'compensation'],
        queries: ['give store credit'],
      },
      effect: 'once',
      execute: (args, context) =>
        act('create_credit_request', context, (state) => requestCredit(state, args)),
    }),
  ];
}

function refusal(attempt: string, reason: string): Action<ShopChange> {
  return { change: { type: 'refused', attempt }, result: { success: false, reason } };
}

function openCase(
  state: ShopState,
  { order_id, details }: { readonly order_id: string; readonly details: string },
): Action<ShopChange> {
  const orders = Object.values(state.pages).flatMap((page) => page.orders);
  if (!orders.some((order) => order.order_id === order_id)) {
    throw new ToolError(`there is no order ${order_id}`);
  }
  const caseId = `CASE-${3001 + state.cases.length}`;
  const result = { case_id: caseId, status: 'open' as const };
  return { change: { type: 'case', case: { ...result, order_id, details } }, result };
}

function requestCredit(
  state: ShopState,
  { case_id, amount }: { readonly case_id: string; readonly amount: number },
): Action<ShopChange> {
  if (amount <= 0) throw new ToolError('the amount of a credit must be greater than 0');
  if (!state.cases.some((open) => open.case_id === case_id)) {
    throw new ToolError(`there is no case ${case_id}`);
  }
  const creditId = `CR-${4001 + state.credits.length}`;
  const credit = { credit_id: creditId, case_id, amount, status: 'approved' as const };
  return { change: { type: 'credit', credit }, result: credit };
}
