/**
 * The world of the airline SkyWings at 2026-03-10T09:00:00Z, a Tuesday: what its tools read, and
 * where each run of the scenario begins. Times are UTC.
 */

/** How a customer is treated. */
export type Tier = 'standard' | 'gold' | 'platinum';

/** Where a seat is. */
export type CabinClass = 'economy' | 'business' | 'first';

/** A customer with the ids of the bookings. */
export interface Customer {
  readonly customer_id: string;
  readonly name: string;
  readonly email: string;
  readonly phone: string;
  readonly tier: Tier;
  readonly booking_ids: readonly string[];
}

/** A flight; fares in US dollars. */
export interface Flight {
  readonly flight_number: string;
  readonly origin: string;
  readonly destination: string;
  /** `2026-03-11` */
  readonly date: string;
  /** `08:00` */
  readonly departure: string;
  readonly arrival: string;
  readonly aircraft: string;
  readonly free_seats: number;
  readonly fares: { readonly [cabin in CabinClass]: number };
}

/** A seat of a flight. */
export interface Seat {
  readonly seat_number: string;
  readonly class: CabinClass;
  readonly position: 'window' | 'aisle' | 'middle';
  readonly extra_legroom: boolean;
  readonly available: boolean;
}

/** A booking; `changes` counts how often it was moved. */
export interface Booking {
  readonly booking_id: string;
  readonly customer_id: string;
  readonly flight_number: string;
  /** `TBD` until one is chosen. */
  readonly seat_number: string;
  readonly class: CabinClass;
  /** US dollars. */
  readonly price: number;
  readonly meal: string;
  readonly booked_on: string;
  readonly status: 'confirmed' | 'canceled';
  readonly changes: number;
}

/** A rule of the airline. */
export interface Policy {
  readonly title: string;
  readonly text: string;
}

/** A message that was sent to a customer. */
export interface Notification {
  readonly customer_id: string;
  readonly method: 'email' | 'sms';
  readonly sent_to: string;
  readonly subject?: string;
  readonly message: string;
}

/** Everything the tools read and write. */
export interface AirlineState {
  readonly customers: readonly Customer[];
  readonly flights: readonly Flight[];
  /** Seats by flight number; AA200 has no seat data. */
  readonly seats: { readonly [flightNumber: string]: readonly Seat[] };
  readonly bookings: readonly Booking[];
  readonly policies: readonly Policy[];
  readonly notifications: readonly Notification[];
}

/** The moment of the scenario. */
export const AIRLINE_NOW = '2026-03-10T09:00:00Z';

/** What the customer asks for. */
export const AIRLINE_REQUEST: string =
  'I am John Smith, john.smith@email.com. I am on AA100 from JFK to LAX tomorrow, but my meeting ' +
  'will run late. Please move me to a later flight that day, evening if possible.';

const customers: readonly Customer[] = [
  {
    customer_id: 'C001',
    name: 'John Smith',
    email: 'john.smith@email.com',
    phone: '+1-555-0123',
    tier: 'gold',
    booking_ids: ['BK001', 'BK002'],
  },
  {
    customer_id: 'C002',
    name: 'Sarah Johnson',
    email: 'sarah.j@email.com',
    phone: '+1-555-0456',
    tier: 'platinum',
    booking_ids: ['BK003'],
  },
];

const route = { origin: 'JFK', destination: 'LAX' };

const flights: readonly Flight[] = [
  {
    flight_number: 'AA100',
    ...route,
    date: '2026-03-11',
    departure: '08:00',
    arrival: '11:30',
    aircraft: 'Boeing 777',
    free_seats: 45,
    fares: { economy: 299, business: 899, first: 1599 },
  },
  {
    flight_number: 'AA101',
    ...route,
    date: '2026-03-11',
    departure: '14:00',
    arrival: '17:30',
    aircraft: 'Airbus A320',
    free_seats: 23,
    fares: { economy: 329, business: 949, first: 1699 },
  },
  {
    flight_number: 'AA102',
    ...route,
    date: '2026-03-11',
    departure: '20:00',
    arrival: '23:30',
    aircraft: 'Boeing 787',
    free_seats: 67,
    fares: { economy: 279, business: 849, first: 1499 },
  },
  {
    flight_number: 'AA200',
    ...route,
    date: '2026-03-12',
    departure: '09:00',
    arrival: '12:30',
    aircraft: 'Boeing 777',
    free_seats: 89,
    fares: { economy: 269, business: 799, first: 1399 },
  },
];

const bookings: readonly Booking[] = [
  {
    booking_id: 'BK001',
    customer_id: 'C001',
    flight_number: 'AA100',
    seat_number: '12A',
    class: 'economy',
    price: 299,
    meal: 'vegetarian',
    booked_on: '2026-03-05',
    status: 'confirmed',
    changes: 0,
  },
  {
    booking_id: 'BK002',
    customer_id: 'C001',
    flight_number: 'AA200',
    seat_number: '3C',
    class: 'business',
    price: 799,
    meal: 'regular',
    booked_on: '2026-03-07',
    status: 'confirmed',
    changes: 0,
  },
  {
    booking_id: 'BK003',
    customer_id: 'C002',
    flight_number: 'AA101',
    seat_number: '1A',
    class: 'first',
    price: 1699,
    meal: 'kosher',
    booked_on: '2026-03-03',
    status: 'confirmed',
    changes: 0,
  },
];

/** `w` window, `a` aisle, `+` legroom, behind `:` for a free seat and `-` for a taken one. */
const seats: AirlineState['seats'] = {
  AA100: [
    ...cabin('first', '1A-w 1B:a 2A:w'),
    ...cabin('business', '3A:w 3C-a'),
    ...cabin('economy', '10A:w 10B 10C-a 12A-w 15A:w+ 15C:a+'),
  ],
  AA101: [
    ...cabin('first', '1A-w 1B:a'),
    ...cabin('business', '5A:w 5C:a'),
    ...cabin('economy', '20A:w'),
  ],
  AA102: [
    ...cabin('first', '1A:w 1C-a'),
    ...cabin('business', '4A:w 4C:a 5A-w'),
    ...cabin('economy', '14A-w+ 14B:+ 14C:a+ 15A:w+ 22A:w 22B 22C:a 30A-w 30C:a'),
  ],
};

const policies: readonly Policy[] = [
  {
    title: 'Flight changes',
    text:
      'Less than 24 hours before departure a change costs 150 in economy, 75 in business and ' +
      'nothing in first class. Earlier it costs 50 in economy and nothing in the other classes. ' +
      'Gold and platinum members have one free change per booking. A dearer fare is paid, a ' +
      'cheaper one becomes travel credit.',
  },
  {
    title: 'Cancellation',
    text:
      'Refundable tickets are refunded less 25. Other tickets become travel credit less 100. ' +
      'Within 24 hours of booking everything is refunded. A flight that the airline canceled is ' +
      'refunded in full.',
  },
  {
    title: 'Baggage',
    text:
      'Economy includes 1 bag of 50 lb, a second costs 35. Business includes 2, first class 3 of ' +
      '70 lb. Each bag beyond costs 75.',
  },
  {
    title: 'Tiers',
    text:
      'Gold members use the lounge and have one free change per booking. Platinum members have ' +
      'upgrades as well.',
  },
];

/** The world as every run of the scenario finds it. */
export function airlineSeed(): AirlineState {
  return { customers, flights, seats, bookings, policies, notifications: [] };
}

function cabin(cabinClass: CabinClass, plan: string): readonly Seat[] {
  return plan.split(' ').map((text) => {
    const [, seatNumber = '', mark = ':', features = ''] =
      /^(\d+[A-Z])([:-]?)([wa]?\+?)$/.exec(text) ?? [];
    return {
      seat_number: seatNumber,
      class: cabinClass,
      position: features.startsWith('w') ? 'window' : features.startsWith('a') ? 'aisle' : 'middle',
      // The front cabins have legroom in every row.
      extra_legroom: cabinClass !== 'economy' || features.endsWith('+'),
      available: mark !== '-',
    };
  });
}
