/** The world of the shop TechGear at 2026-03-10T09:00:00Z: a customer who was charged twice. */

/** A customer of the shop. */
export interface ShopCustomer {
  readonly customer_id: string;
  readonly name: string;
  readonly email: string;
  readonly phone: string;
}

/** An order; amounts in US dollars. */
export interface Order {
  readonly order_id: string;
  readonly item: string;
  readonly amount: number;
  readonly status: 'processing' | 'shipped' | 'delivered';
  readonly ordered_on: string;
}

/** A page of orders; `next_cursor` is null on the last. */
export interface OrderPage {
  readonly orders: readonly Order[];
  readonly next_cursor: string | null;
  readonly has_more: boolean;
}

/** A payment as the shop's own records have it: they can lag behind the gateway. */
export interface Payment {
  readonly payment_id: string;
  readonly amount: number;
  readonly status: 'failed' | 'successful';
  readonly gateway_tx_id: string;
}

/** A transaction as the payment gateway has it. */
export interface GatewayTransaction {
  readonly tx_id: string;
  readonly amount: number;
  readonly status: 'SETTLED';
  readonly card: string;
}

/** A rule of the shop. */
export interface ShopPolicy {
  readonly title: string;
  readonly text: string;
}

/** A case at the support. */
export interface SupportCase {
  readonly case_id: string;
  readonly order_id: string;
  readonly details: string;
  readonly status: 'open';
}

/** Store credit that was asked for in a case. */
export interface CreditRequest {
  readonly credit_id: string;
  readonly case_id: string;
  readonly amount: number;
  readonly status: 'approved';
}

/** Everything the tools read and write. */
export interface ShopState {
  readonly customer: ShopCustomer;
  /** Pages by cursor; the first has the cursor `''`. */
  readonly pages: { readonly [cursor: string]: OrderPage };
  readonly payments: {
    readonly [orderId: string]: { readonly payments: readonly Payment[]; readonly note: string };
  };
  readonly transactions: readonly GatewayTransaction[];
  readonly policies: readonly ShopPolicy[];
  readonly cases: readonly SupportCase[];
  readonly credits: readonly CreditRequest[];
  /** Attempts that the gateway or the bank refused, in order: what was tried. */
  readonly refusals: readonly string[];
}

/** What the customer asks for. */
export const SHOP_REQUEST: string =
  'I am Alex Rivera, alex.rivera@email.com. I was charged twice, 79.99 each, for a Mighty Mouse ' +
  'that I bought about a week ago. Please sort it out.';

const customer: ShopCustomer = {
  customer_id: 'C001',
  name: 'Alex Rivera',
  email: 'alex.rivera@email.com',
  phone: '+1-555-0321',
};

const pages: ShopState['pages'] = {
  '': page('cur_p2', [
    {
      order_id: 'ORD-1001',
      item: 'USB-C Hub',
      amount: 45.99,
      status: 'processing',
      ordered_on: '2026-03-10',
    },
    {
      order_id: 'ORD-1002',
      item: 'Laptop Stand',
      amount: 89.99,
      status: 'shipped',
      ordered_on: '2026-03-09',
    },
    {
      order_id: 'ORD-1003',
      item: 'Keyboard',
      amount: 149.99,
      status: 'delivered',
      ordered_on: '2026-03-08',
    },
  ]),
  cur_p2: page('cur_p3', [
    {
      order_id: 'ORD-1004',
      item: 'Monitor Light Bar',
      amount: 39.99,
      status: 'delivered',
      ordered_on: '2026-03-07',
    },
    {
      order_id: 'ORD-1005',
      item: 'Desk Mat XL',
      amount: 29.99,
      status: 'delivered',
      ordered_on: '2026-03-05',
    },
    // The decoy: the right amount, the wrong thing.
    {
      order_id: 'ORD-1006',
      item: 'Webcam HD Pro',
      amount: 79.99,
      status: 'delivered',
      ordered_on: '2026-03-03',
    },
  ]),
  cur_p3: page(null, [
    {
      order_id: 'ORD-1007',
      item: 'Mighty Mouse Pro Wireless',
      amount: 79.99,
      status: 'delivered',
      ordered_on: '2026-02-28',
    },
    {
      order_id: 'ORD-1008',
      item: 'Ergonomic Mouse Pad',
      amount: 19.99,
      status: 'delivered',
      ordered_on: '2026-02-24',
    },
    {
      order_id: 'ORD-1009',
      item: 'Cable Kit',
      amount: 12.99,
      status: 'delivered',
      ordered_on: '2026-02-17',
    },
  ]),
};

const payments: ShopState['payments'] = {
  'ORD-1007': {
    payments: [
      { payment_id: 'PAY-2001', amount: 79.99, status: 'failed', gateway_tx_id: 'GW-TX-5001' },
      { payment_id: 'PAY-2002', amount: 79.99, status: 'successful', gateway_tx_id: 'GW-TX-5002' },
    ],
    note: 'Records can lag. Check each at the gateway.',
  },
};

const transactions: readonly GatewayTransaction[] = [
  { tx_id: 'GW-TX-5001', amount: 79.99, status: 'SETTLED', card: '4242' },
  { tx_id: 'GW-TX-5002', amount: 79.99, status: 'SETTLED', card: '4242' },
];

const policies: readonly ShopPolicy[] = [
  {
    title: 'Double charge',
    text:
      '1. Check each transaction at the gateway. 2. Cancel the duplicate. 3. If it is settled, ' +
      'refund it. 4. If a refund is not possible, open a case, then ask for store credit.',
  },
  {
    title: 'Refund',
    text:
      'A refund takes 5 to 7 days and goes to the same card, within 30 days of the order. After ' +
      'that there is store credit.',
  },
  {
    title: 'Store credit',
    text: 'Store credit is usable at once, does not expire and is not transferable.',
  },
];

/** The world as every run of the scenario finds it. */
export function shopSeed(): ShopState {
  return {
    customer,
    pages,
    payments,
    transactions,
    policies,
    cases: [],
    credits: [],
    refusals: [],
  };
}

function page(nextCursor: string | null, orders: readonly Order[]): OrderPage {
  return { orders, next_cursor: nextCursor, has_more: nextCursor !== null };
}
