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

const flights: readonly Flight[] = [
  flight('AA100', '2026-03-11', '08:00', '11:30', 'Boeing 777', 45, [299, 899, 1599]),
  flight('AA101', '2026-03-11', '14:00', '17:30', 'Airbus A320', 23, [329, 949, 1699]),
  flight('AA102', '2026-03-11', '20:00', '23:30', 'Boeing 787', 67, [279, 849, 1499]),
  flight('AA200', '2026-03-12', '09:00', '12:30', 'Boeing 777', 89, [269, 799, 1399]),
];

const bookings: readonly Booking[] = [
  booking('BK001', 'C001', 'AA100', '12A', 'economy', 299, 'vegetarian', '2026-03-05'),
  booking('BK002', 'C001', 'AA200', '3C', 'business', 799, 'regular', '2026-03-07'),
  booking('BK003', 'C002', 'AA101', '1A', 'first', 1699, 'kosher', '2026-03-03'),
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

function flight(
  number: string,
  date: string,
  departure: string,
  arrival: string,
  aircraft: string,
  freeSeats: number,
  [economy, business, first]: readonly [number, number, number],
): Flight {
  return {
    flight_number: number,
    origin: 'JFK',
    destination: 'LAX',
    date,
    departure,
    arrival,
    aircraft,
    free_seats: freeSeats,
    fares: { economy, business, first },
  };
}

function booking(
  id: string,
  customerId: string,
  flightNumber: string,
  seat: string,
  cabinClass: CabinClass,
  price: number,
  meal: string,
  bookedOn: string,
): Booking {
  return {
    booking_id: id,
    customer_id: customerId,
    flight_number: flightNumber,
    seat_number: seat,
    class: cabinClass,
    price,
    meal,
    booked_on: bookedOn,
    status: 'confirmed',
    changes: 0,
  };
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
