/** What a good model does with the customer who was charged twice, turn by turn. */
import type { JsonObject } from '../../src/core/base/json.ts';
import type { ScriptTurn } from '../script.ts';

/** 11 iterations, 12 calls, none of which fails: a refusal is data. */
export const SHOP_SCRIPT: readonly ScriptTurn[] = [
  turn('I look up the customer.', ['get_customer_info', { email: 'alex.rivera@email.com' }]),
  turn('I look for the order.', ['get_orders', { customer_id: 'C001' }]),
  turn('No mouse so far.', ['get_orders', { customer_id: 'C001', cursor: 'cur_p2' }]),
  turn('The webcam costs 79.99 too, but it is no mouse.', [
    'get_orders',
    { customer_id: 'C001', cursor: 'cur_p3' },
  ]),
  turn(
    'ORD-1007 is the mouse. I look at its payments and at the policy.',
    ['get_order_payments', { order_id: 'ORD-1007' }],
    ['search_guidance_policy', { keyword: 'double' }],
  ),
  turn(
    'PAY-2001 failed in our records, GW-TX-5001. Step 1: I check both at the gateway.',
    ['gateway_get_tx_detail', { tx_id: 'GW-TX-5001' }],
    ['gateway_get_tx_detail', { tx_id: 'GW-TX-5002' }],
  ),
  turn('Both are settled. Step 2: I cancel the duplicate GW-TX-5001.', [
    'gateway_cancel_tx',
    { tx_id: 'GW-TX-5001' },
  ]),
  turn('It cannot be canceled. Step 3: I refund PAY-2001.', [
    'process_refund',
    { payment_id: 'PAY-2001' },
  ]),
  turn('The bank refused. Step 4: I open a case.', [
    'create_case',
    {
      order_id: 'ORD-1007',
      details: 'Charged twice, 79.99 each: GW-TX-5001, GW-TX-5002. Cancel and refund refused.',
    },
  ]),
  turn('I ask for store credit in the case.', [
    'create_credit_request',
    { case_id: 'CASE-3001', amount: 79.99 },
  ]),
  {
    thinking: 'All steps are done.',
    answer:
      'You were charged twice for ORD-1007, the Mighty Mouse Pro Wireless: both transactions are ' +
      'settled. The duplicate could not be canceled, and your bank refused the refund because ' +
      'card 4242 is inactive. I opened case CASE-3001, and you have a store credit of 79.99, ' +
      'CR-4001, usable at once.',
  },
];

function turn(thinking: string, ...calls: readonly [string, JsonObject][]): ScriptTurn {
  return { thinking, calls: calls.map(([tool, args]) => ({ tool, args })) };
}

/** The `search` variant: two searches, then the script. 12 iterations, 14 calls. */
export const SHOP_SCRIPT_SEARCH: readonly ScriptTurn[] = [
  {
    thinking: 'I need to look up the customer, the orders and the payments.',
    calls: [
      { tool: 'tool_registry_search', args: { query: 'customer orders' } },
      { tool: 'tool_registry_search', args: { query: 'payments of an order' } },
    ],
  },
  ...SHOP_SCRIPT,
];

/**
 * The `lisp` variant: the same calls with the same arguments, and the answer. 4 iterations, 12
 * calls. A loop walks the pages, and each step of the policy is a condition.
 */
export const SHOP_SCRIPT_LISP: readonly ScriptTurn[] = [
  {
    thinking: 'I look up the customer and all orders, and show what could be the mouse.',
    program: `(def customer (tool/get_customer_info {:email "alex.rivera@email.com"}))
(def orders
  (loop [args {:customer_id (:customer_id customer)} found []]
    (let [page (tool/get_orders args)
          all (into found (:orders page))]
      (if (:has_more page)
        (recur (assoc args :cursor (:next_cursor page)) all)
        all))))
(println (filter #(includes? (:item %) "Mouse") orders))`,
  },
  {
    thinking:
      'ORD-1007 is the mouse. Its payments, the policy, and each transaction at the gateway.',
    program: `(def order "ORD-1007")
(def found
  (pcalls #(tool/get_order_payments {:order_id order})
          #(tool/search_guidance_policy {:keyword "double"})))
(def payments (:payments (first found)))
(def doubted (first (filter #(= "failed" (:status %)) payments)))
(def transactions
  (pmap #(tool/gateway_get_tx_detail {:tx_id (:gateway_tx_id %)}) payments))
(println "payments" payments)
(println "policy" (map :text (second found)))
(println "gateway" transactions)`,
  },
  {
    thinking:
      'Both are settled. I follow the steps of the policy, each only when the one before failed.',
    program: `(def canceled (task "cancel" (tool/gateway_cancel_tx {:tx_id (:gateway_tx_id doubted)})))
(def refunded
  (when-not (:success canceled)
    (task "refund" (tool/process_refund {:payment_id (:payment_id doubted)}))))
(def opened
  (when-not (or (:success canceled) (:success refunded))
    (task "case"
      (tool/create_case
        {:order_id order
         :details (str "Charged twice, 79.99 each: " (join ", " (map :tx_id transactions))
                       ". Cancel and refund refused.")}))))
(def credit
  (when opened
    (task "credit" (tool/create_credit_request {:case_id (:case_id opened) :amount 79.99}))))
(println canceled refunded opened credit)`,
  },
  {
    thinking: 'All steps are done.',
    program: `(return
  (str "You were charged twice for " order ", the Mighty Mouse Pro Wireless: both transactions are "
       "settled. The duplicate could not be canceled (" (:reason canceled) "), nor refunded ("
       (:reason refunded) "). I opened case " (:case_id opened) ", and you have a store credit of "
       (:amount credit) ", " (:credit_id credit) ", usable at once."))`,
  },
];

/** The summaries after iterations 5 and 10; the second builds on the first. */
export const SHOP_SUMMARIES: { readonly [iteration: number]: string } = {
  5:
    '# Task\nAlex Rivera, C001, was charged twice, 79.99 each, for a Mighty Mouse.\n' +
    '# Findings and decisions\nThe order is ORD-1007 on the third page; ORD-1006 costs as much but ' +
    'is a webcam.\n' +
    '# Still to do\nCheck its payments at the gateway and follow the policy for double charges.',
  10:
    '# Task\nAlex Rivera, C001, was charged twice, 79.99 each, for a Mighty Mouse, ORD-1007.\n' +
    '# Done so far\nBoth transactions are settled. Canceling GW-TX-5001 and refunding PAY-2001 were ' +
    'refused: card 4242 is inactive. CASE-3001 is open.\n' +
    '# Still to do\nTell the customer of the store credit.',
};
