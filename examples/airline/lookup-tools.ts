/** The tools that only read, so they may run any number of times. */
import { z } from 'zod';
import type { ToolDefinition } from '../../src/define/definition/definitions.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { ToolError } from '../../src/core/base/tool-error.ts';
import { scenarioService, type ScenarioToolOptions } from '../scenario.ts';
import type { AirlineState, CabinClass } from './data.ts';
import type { AirlineChange } from './store.ts';

/** Options of the airline's tools. */
export type AirlineToolOptions = ScenarioToolOptions<AirlineState, AirlineChange>;

const cabinClass = z.enum(['economy', 'business', 'first']);

/** The six tools that read. */
export function airlineLookupTools(options: AirlineToolOptions): readonly ToolDefinition[] {
  const { lookUp } = scenarioService(options);
  return [
    defineTool({
      name: 'get_customer_info',
      description: 'Look up a customer by id or e-mail.',
      parameters: z.object({
        customer_id: z.string().optional(),
        email: z.string().optional(),
      }),
      search: {
        domain: 'Customer',
        categories: ['lookup', 'profile'],
        keywords: ['customer', 'passenger', 'email', 'tier'],
        queries: ['find a customer by email', 'show a profile'],
      },
      effect: 'read',
      execute: (args, { signal }) => lookUp(signal, (state) => findCustomer(state, args)),
    }),
    defineTool({
      name: 'get_booking_info',
      description: 'Look up a booking by id.',
      parameters: z.object({ booking_id: z.string() }),
      search: {
        domain: 'Booking',
        categories: ['lookup', 'booking'],
        keywords: ['booking', 'reservation', 'itinerary'],
        queries: ['show a reservation', 'booking details'],
      },
      effect: 'read',
      execute: ({ booking_id }, { signal }) =>
        lookUp(signal, (state) => findBooking(state, booking_id)),
    }),
    defineTool({
      name: 'get_flight_info',
      description: 'Look up a flight by number.',
      parameters: z.object({ flight_number: z.string() }),
      search: {
        domain: 'Flight',
        categories: ['lookup', 'flight'],
        keywords: ['flight', 'departure', 'arrival', 'fare'],
        queries: ['when does a flight leave', 'price of a flight'],
      },
      effect: 'read',
      execute: ({ flight_number }, { signal }) =>
        lookUp(signal, (state) => findFlight(state, flight_number)),
    }),
    defineTool({
      name: 'get_flight_seats_info',
      description: 'List the seats of a flight.',
      parameters: z.object({
        flight_number: z.string(),
        class: cabinClass.optional(),
        available_only: z.boolean().optional(),
      }),
      search: {
        domain: 'Flight',
        categories: ['lookup', 'seat'],
        keywords: ['seat', 'window', 'aisle', 'legroom'],
        queries: ['which seats are free', 'find a window seat'],
      },
      effect: 'read',
      execute: (args, { signal }) => lookUp(signal, (state) => listSeats(state, args)),
    }),
    defineTool({
      name: 'search_airline_policy',
      description: 'Find policies that contain a word.',
      parameters: z.object({ keyword: z.string() }),
      search: {
        domain: 'Policy',
        categories: ['lookup', 'policy'],
        keywords: ['policy', 'rules', 'fee', 'terms'],
        queries: ['what does a change cost', 'baggage rules'],
      },
      effect: 'read',
      execute: ({ keyword }, { signal }) =>
        lookUp(signal, (state) => searchPolicies(state, keyword)),
    }),
    defineTool({
      name: 'search_flight_schedule',
      description: 'Find flights of a day.',
      parameters: z.object({
        origin: z.string(),
        destination: z.string(),
        date: z.iso.date(),
      }),
      search: {
        domain: 'Flight',
        categories: ['search', 'schedule'],
        keywords: ['schedule', 'route', 'date'],
        queries: ['flights between two airports', 'a later flight'],
      },
      effect: 'read',
      execute: (args, { signal }) => lookUp(signal, (state) => searchSchedule(state, args)),
    }),
  ];
}

/** The booking with this id; a ToolError when there is none. */
export function findBooking(state: AirlineState, id: string): AirlineState['bookings'][number] {
  const booking = state.bookings.find(({ booking_id }) => booking_id === id);
  if (booking === undefined) throw new ToolError(`there is no booking ${id}`);
  return booking;
}

/** The flight with this number; a ToolError when there is none. */
export function findFlight(state: AirlineState, number: string): AirlineState['flights'][number] {
  const flight = state.flights.find(({ flight_number }) => flight_number === number);
  if (flight === undefined) throw new ToolError(`there is no flight ${number}`);
  return flight;
}

/** The customer by id, otherwise by e-mail; a ToolError if neither is given or none is found. */
export function findCustomer(
  state: AirlineState,
  wanted: { readonly customer_id?: string | undefined; readonly email?: string | undefined },
): AirlineState['customers'][number] {
  const { customer_id: id, email } = wanted;
  if (id === undefined && email === undefined) {
    throw new ToolError('give a customer_id or an email');
  }
  const customer = state.customers.find((row) =>
    id === undefined ? row.email.toLowerCase() === email?.toLowerCase() : row.customer_id === id,
  );
  if (customer === undefined) throw new ToolError(`there is no customer ${id ?? email}`);
  return customer;
}

function listSeats(
  state: AirlineState,
  wanted: {
    readonly flight_number: string;
    readonly class?: CabinClass | undefined;
    readonly available_only?: boolean | undefined;
  },
): readonly AirlineState['seats'][string][number][] {
  const { flight_number: number } = findFlight(state, wanted.flight_number);
  const seats = state.seats[number];
  if (seats === undefined) throw new ToolError(`there is no seat data for ${number}`);
  return seats.filter(
    (seat) =>
      (wanted.class === undefined || seat.class === wanted.class) &&
      (wanted.available_only !== true || seat.available),
  );
}

function searchPolicies(
  state: AirlineState,
  keyword: string,
): readonly AirlineState['policies'][number][] {
  const word = keyword.trim().toLowerCase();
  const found = state.policies.filter(({ title, text }) =>
    `${title}\n${text}`.toLowerCase().includes(word),
  );
  if (word === '' || found.length === 0) {
    throw new ToolError(`no policy contains "${keyword}"; search for a single word`);
  }
  return found;
}

function searchSchedule(
  state: AirlineState,
  wanted: { readonly origin: string; readonly destination: string; readonly date: string },
): readonly AirlineState['flights'][number][] {
  const { origin, destination, date } = wanted;
  const found = state.flights.filter(
    (flight) =>
      flight.origin === origin.toUpperCase() &&
      flight.destination === destination.toUpperCase() &&
      flight.date === date &&
      flight.free_seats > 0,
  );
  if (found.length === 0) {
    throw new ToolError(`there is no flight from ${origin} to ${destination} on ${date}`);
  }
  return found;
}
