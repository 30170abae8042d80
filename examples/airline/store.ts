/** The state of the airline: the seed with all changes applied, in order. */
import { scenarioStore, type ScenarioStore } from '../scenario.ts';
import { airlineSeed, type AirlineState, type Notification, type Seat } from './data.ts';

/** What a tool may do to the airline. */
export type AirlineChange =
  | {
      readonly type: 'rescheduled';
      readonly booking_id: string;
      readonly flight_number: string;
      /** `TBD` when none was chosen. */
      readonly seat_number: string;
      readonly price: number;
    }
  | { readonly type: 'canceled'; readonly booking_id: string }
  | { readonly type: 'notified'; readonly notification: Notification };

/** Reads the state and takes changes. */
export type AirlineStore = ScenarioStore<AirlineState, AirlineChange>;

/** An airline in memory, fresh; or, with the path of a file, one that outlives its process. */
export function airlineStore(path?: string): AirlineStore {
  return scenarioStore(airlineSeed(), applyChange, path);
}

function applyChange(state: AirlineState, change: AirlineChange): AirlineState {
  switch (change.type) {
    case 'rescheduled':
      return reschedule(state, change);
    case 'canceled':
      return cancel(state, change.booking_id);
    case 'notified':
      return { ...state, notifications: [...state.notifications, change.notification] };
  }
}

function reschedule(
  state: AirlineState,
  change: Extract<AirlineChange, { type: 'rescheduled' }>,
): AirlineState {
  const { booking_id, flight_number, seat_number, price } = change;
  const vacated = vacate(state, booking_id);
  const moved = vacated.bookings.map((booking) =>
    booking.booking_id === booking_id
      ? { ...booking, flight_number, seat_number, price, changes: booking.changes + 1 }
      : booking,
  );
  return takeSeat({ ...vacated, bookings: moved }, flight_number, seat_number, false);
}

function cancel(state: AirlineState, bookingId: string): AirlineState {
  const vacated = vacate(state, bookingId);
  const bookings = vacated.bookings.map((booking) =>
    booking.booking_id === bookingId ? { ...booking, status: 'canceled' as const } : booking,
  );
  return { ...vacated, bookings };
}

function vacate(state: AirlineState, bookingId: string): AirlineState {
  const booking = state.bookings.find(({ booking_id }) => booking_id === bookingId);
  if (booking === undefined) return state;
  return takeSeat(state, booking.flight_number, booking.seat_number, true);
}

/** One seat of the flight is taken or given back, the one with this number if it is listed. */
function takeSeat(
  state: AirlineState,
  flightNumber: string,
  seatNumber: string,
  available: boolean,
): AirlineState {
  const flights = state.flights.map((flight) =>
    flight.flight_number === flightNumber
      ? { ...flight, free_seats: flight.free_seats + (available ? 1 : -1) }
      : flight,
  );
  const plan = state.seats[flightNumber]?.map((seat): Seat =>
    seat.seat_number === seatNumber ? { ...seat, available } : seat,
  );
  const seats = plan === undefined ? state.seats : { ...state.seats, [flightNumber]: plan };
  return { ...state, flights, seats };
}
