/** What a good model does with the airline's request, turn by turn. */
import type { ScriptTurn } from '../script.ts';

/** The three turns that look everything up: 7 calls. */
const lookUps: readonly ScriptTurn[] = [
  {
    thinking: 'I look up the customer, the flight and what a change costs.',
    calls: [
      { tool: 'get_customer_info', args: { email: 'john.smith@email.com' } },
      { tool: 'get_flight_info', args: { flight_number: 'AA100' } },
      { tool: 'search_airline_policy', args: { keyword: 'change' } },
    ],
  },
  {
    thinking: 'C001 has two bookings. I look at both, and at the other flights of the day.',
    calls: [
      { tool: 'get_booking_info', args: { booking_id: 'BK001' } },
      { tool: 'get_booking_info', args: { booking_id: 'BK002' } },
      {
        tool: 'search_flight_schedule',
        args: { origin: 'JFK', destination: 'LAX', date: '2026-03-11' },
      },
    ],
  },
  {
    thinking: 'AA102 leaves at 20:00. I look for a seat in economy.',
    calls: [
      {
        tool: 'get_flight_seats_info',
        args: { flight_number: 'AA102', class: 'economy', available_only: true },
      },
    ],
  },
];

/** Script A, "ask by answer": proposes AA102 and asks. 4 iterations, 7 calls, nothing changed. */
export const AIRLINE_SCRIPT_A: readonly ScriptTurn[] = [
  ...lookUps,
  {
    thinking: 'The change is free for a gold member, and the new fare is lower. I ask first.',
    answer:
      'AA102 leaves JFK on 2026-03-11 at 20:00. Moving booking BK001 there is your free change ' +
      'as a gold member, and the fare falls from 299 to 279, which leaves you a travel credit of ' +
      '20. Seat 14C, an aisle seat with legroom, is free. Shall I move you to AA102?',
  },
];

/** The acting turns of script B: the change, the message, the answer. 2 calls, both `once`. */
export const AIRLINE_ACTING: readonly ScriptTurn[] = [
  {
    thinking: 'The customer agrees. I move the booking.',
    calls: [
      {
        tool: 'reschedule_booking',
        args: { booking_id: 'BK001', new_flight_number: 'AA102', new_seat_number: '14C' },
      },
    ],
  },
  {
    thinking: 'The booking is moved. I confirm it by e-mail.',
    calls: [
      {
        tool: 'send_notification',
        args: {
          customer_id: 'C001',
          method: 'email',
          subject: 'Your new flight AA102',
          message: 'You are on AA102 on 2026-03-11 at 20:00, seat 14C. Your travel credit is 20.',
        },
      },
    ],
  },
  {
    thinking: 'All is done.',
    answer:
      'You are on AA102 on 2026-03-11 at 20:00, seat 14C. The change was free, and you have a ' +
      'travel credit of 20. A confirmation is on its way to john.smith@email.com.',
  },
];

/** Script B, "ask and act": proposes AA102, waits for the customer, acts. 7 iterations, 10 calls, 1 question. */
export const AIRLINE_SCRIPT_B: readonly ScriptTurn[] = [
  ...lookUps,
  {
    thinking: 'The change is free for a gold member, and the new fare is lower. I ask first.',
    calls: [
      {
        tool: 'ask_user',
        args: {
          question: 'AA102 at 20:00, seat 14C: free of charge, travel credit 20. Shall I move you?',
          options: ['yes', 'no'],
        },
      },
    ],
  },
  ...AIRLINE_ACTING,
];

/** Script B without the question: looks up and acts. 6 iterations, 9 calls, 2 of them `once`. */
export const AIRLINE_SCRIPT_ACT: readonly ScriptTurn[] = [...lookUps, ...AIRLINE_ACTING];

/** The `search` variant: two searches, then the script without the question. 7 iterations, 11 calls. */
export const AIRLINE_SCRIPT_SEARCH: readonly ScriptTurn[] = [
  {
    thinking: 'I need to look up a customer and a booking, and to move it.',
    calls: [
      { tool: 'tool_registry_search', args: { query: 'lookup customer booking' } },
      {
        tool: 'tool_registry_search',
        args: { query: '^(reschedule|send)_', query_type: 'regex' },
      },
    ],
  },
  ...AIRLINE_SCRIPT_ACT,
];

/**
 * The `lisp` variant: the same calls with the same arguments, and the answer. 3 iterations, 9
 * calls. A later program uses the definitions of an earlier one, not its text.
 */
export const AIRLINE_SCRIPT_LISP: readonly ScriptTurn[] = [
  {
    thinking: 'I look everything up first: customer, bookings, policy, the last flight of the day.',
    program: `(def found
  (pcalls #(tool/get_customer_info {:email "john.smith@email.com"})
          #(tool/get_flight_info {:flight_number "AA100"})
          #(tool/search_airline_policy {:keyword "change"})))
(def customer (first found))
(def flight (second found))
(def booking
  (->> (:booking_ids customer)
       (pmap #(tool/get_booking_info {:booking_id %}))
       (filter #(= (:flight_number flight) (:flight_number %)))
       first))
(def later
  (->> (tool/search_flight_schedule {:origin "JFK" :destination "LAX" :date "2026-03-11"})
       (sort-by :departure)
       last))
(def seats
  (tool/get_flight_seats_info
    {:flight_number (:flight_number later) :class (:class booking) :available_only true}))
(println "tier" (:tier customer) "fare" (:price booking) "later" later)
(println "policies" (map :text (last found)))
(println "legroom" (map :seat_number (filter :extra_legroom seats)))`,
  },
  {
    thinking: 'Gold: the change is free. I move the booking to 14C and confirm it by e-mail.',
    program: `(def moved
  (task "move"
    (tool/reschedule_booking {:booking_id (:booking_id booking)
                              :new_flight_number (:flight_number later)
                              :new_seat_number "14C"})))
(task "confirm"
  (tool/send_notification
    {:customer_id (:customer_id customer)
     :method "email"
     :subject (str "Your new flight " (:flight_number moved))
     :message (str "You are on " (:flight_number moved) " on 2026-03-11 at 20:00, seat "
                   (:seat_number moved) ". Your travel credit is " (:travel_credit moved) ".")}))
(println moved)`,
  },
  {
    thinking: 'All is done.',
    program: `(return
  (str "You are on " (:flight_number moved) " on 2026-03-11 at 20:00, seat " (:seat_number moved)
       ". The change was free, and you have a travel credit of " (:travel_credit moved)
       ". A confirmation is on its way to " (:email customer) "."))`,
  },
];

/** The summary after iteration 5 of the script that acts. */
export const AIRLINE_SUMMARIES: { readonly [iteration: number]: string } = {
  5:
    '# Task\nJohn Smith, C001, john.smith@email.com, wants a later flight on 2026-03-11 than AA100.\n' +
    '# Findings and decisions\nHis booking for that day is BK001, economy. Gold: one free change. ' +
    'AA102 leaves at 20:00, seat 14C is free, 279.\n' +
    '# Still to do\nConfirm the change by e-mail, then answer.',
};
