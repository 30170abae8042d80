/**
 * The tools that change something. Their services cannot recognise a repeated call, so they are
 * `once`: never retried blindly, and `unknown` if they were cut off.
 */
import { z } from 'zod';
import type { ToolDefinition } from '../../src/define/definition/definitions.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { ToolError } from '../../src/core/base/tool-error.ts';
import { scenarioService, type Action } from '../scenario.ts';
import { AIRLINE_NOW, type AirlineState, type Booking, type Flight } from './data.ts';
import { findBooking, findCustomer, findFlight, type AirlineToolOptions } from './lookup-tools.ts';
import type { AirlineChange } from './store.ts';

const HOUR_MS = 3_600_000;

/** What a change costs, by class, less than 24 hours before departure and earlier. */
const CHANGE_FEES = {
  late: { economy: 150, business: 75, first: 0 },
  early: { economy: 50, business: 0, first: 0 },
} as const;

/** What a cancellation deducts from the credit. */
const CANCELLATION_FEE = 100;

/** The three tools that write. */
export function airlineActionTools(options: AirlineToolOptions): readonly ToolDefinition[] {
  const { act } = scenarioService(options);
  return [
    defineTool({
      name: 'reschedule_booking',
      description: 'Move a booking to another flight.',
      parameters: z.object({
        booking_id: z.string(),
        new_flight_number: z.string(),
        new_seat_number: z.string().optional(),
      }),
      search: {
        domain: 'Booking',
        categories: ['change', 'reschedule'],
        keywords: ['reschedule', 'rebook', 'move'],
        queries: ['change my flight', 'move to a later flight'],
      },
      effect: 'once',
      execute: (args, context) =>
        act('reschedule_booking', context, (state) => reschedule(state, args)),
    }),
    defineTool({
      name: 'cancel_booking',
      description: 'Cancel a booking for travel credit.',
      parameters: z.object({ booking_id: z.string(), reason: z.string().optional() }),
      search: {
        domain: 'Booking',
        categories: ['change', 'cancel'],
        keywords: ['cancel', 'refund', 'void'],
        queries: ['cancel my trip', 'give up a reservation'],
      },
      effect: 'once',
      execute: ({ booking_id }, context) =>
        act('cancel_booking', context, (state) => cancel(state, booking_id)),
    }),
    defineTool({
      name: 'send_notification',
      description: 'Send an e-mail or SMS to a customer.',
      parameters: z.object({
        customer_id: z.string(),
        method: z.enum(['email', 'sms']),
        subject: z.string().optional(),
        message: z.string(),
      }),
      search: {
        domain: 'Communication',
        categories: ['notify'],
        keywords: ['email', 'sms', 'message'],
        queries: ['tell about a change', 'send a confirmation'],
      },
      effect: 'once',
      execute: (args, context) => act('send_notification', context, (state) => notify(state, args)),
    }),
  ];
}

function reschedule(
  state: AirlineState,
  wanted: {
    readonly booking_id: string;
    readonly new_flight_number: string;
    readonly new_seat_number?: string | undefined;
  },
): Action<AirlineChange> {
  const booking = findBooking(state, wanted.booking_id);
  if (booking.status === 'canceled') throw new ToolError(`${booking.booking_id} is canceled`);
  const flight = findFlight(state, wanted.new_flight_number);
  const seat = chooseSeat(state, booking, flight, wanted.new_seat_number);
  const price = flight.fares[booking.class];
  const fee = changeFee(state, booking);
  const difference = price - booking.price;
  return {
    change: {
      type: 'rescheduled',
      booking_id: booking.booking_id,
      flight_number: flight.flight_number,
      seat_number: seat,
      price,
    },
    result: {
      booking_id: booking.booking_id,
      flight_number: flight.flight_number,
      seat_number: seat,
      change_fee: fee,
      fare_difference: Math.max(0, difference),
      travel_credit: Math.max(0, -difference),
      total: fee + Math.max(0, difference),
    },
  };
}

function chooseSeat(
  state: AirlineState,
  booking: Booking,
  flight: Flight,
  wanted: string | undefined,
): string {
  const { flight_number: number } = flight;
  if (flight.free_seats === 0) throw new ToolError(`${number} is full`);
  if (wanted === undefined) return 'TBD';
  const seat = state.seats[number]?.find(({ seat_number }) => seat_number === wanted);
  if (seat?.class !== booking.class) {
    throw new ToolError(`${number} has no seat ${wanted} in ${booking.class}`);
  }
  if (!seat.available) throw new ToolError(`seat ${wanted} of ${number} is taken`);
  return wanted;
}

/** The fee by the flight of the booking; members may change each booking once for free. */
function changeFee(state: AirlineState, booking: Booking): number {
  const { tier } = findCustomer(state, { customer_id: booking.customer_id });
  if (tier !== 'standard' && booking.changes === 0) return 0;
  const { date, departure } = findFlight(state, booking.flight_number);
  const leftMs = Date.parse(`${date}T${departure}:00Z`) - Date.parse(AIRLINE_NOW);
  return CHANGE_FEES[leftMs < 24 * HOUR_MS ? 'late' : 'early'][booking.class];
}

function cancel(state: AirlineState, bookingId: string): Action<AirlineChange> {
  const booking = findBooking(state, bookingId);
  if (booking.status === 'canceled') throw new ToolError(`${bookingId} is already canceled`);
  return {
    change: { type: 'canceled', booking_id: bookingId },
    result: {
      booking_id: bookingId,
      status: 'canceled',
      travel_credit: Math.max(0, booking.price - CANCELLATION_FEE),
    },
  };
}

function notify(
  state: AirlineState,
  wanted: {
    readonly customer_id: string;
    readonly method: 'email' | 'sms';
    readonly subject?: string | undefined;
    readonly message: string;
  },
): Action<AirlineChange> {
  const { customer_id, method, subject, message } = wanted;
  const customer = findCustomer(state, { customer_id });
  const sentTo = method === 'email' ? customer.email : customer.phone;
  return {
    change: {
      type: 'notified',
      notification: {
        customer_id,
        method,
        sent_to: sentTo,
        ...(subject === undefined ? {} : { subject }),
        message,
      },
    },
    result: { method, sent_to: sentTo },
  };
}
