/**
 * The airline's run with a costly mistake, and what a good model does when it is told: the assistant
 * cancels a booking for a fee that it could have moved for free.
 */
import { textOf } from '../../src/core/base/message.ts';
import type { ModelFunction, ModelRequest } from '../../src/core/contract/model.ts';
import { scriptedModel, type ScriptTurn } from '../script.ts';
import { AIRLINE_SCRIPT_A } from './scripts.ts';

/** What the fork is told before the mistake. */
export const CORRECTION =
  'A gold member moves a booking once for free. Do not cancel it: say where you would move it.';

/** The iteration that cancels. */
export const MISTAKE = 4;

const LOOK_UPS = AIRLINE_SCRIPT_A.slice(0, MISTAKE - 1);

/** Looks everything up, then cancels, and says so. */
export const COSTLY_SCRIPT: readonly ScriptTurn[] = [
  ...LOOK_UPS,
  {
    thinking: 'The customer cannot take AA100. I cancel the booking.',
    calls: [{ tool: 'cancel_booking', args: { booking_id: 'BK001' } }],
  },
  {
    thinking: 'The booking is canceled.',
    answer: 'I canceled BK001. After the fee of 100, you have a travel credit of 199.',
  },
];

/** The same look-ups, then a call that moves the booking, and the answer. */
const CORRECTED_SCRIPT: readonly ScriptTurn[] = [
  ...LOOK_UPS,
  {
    thinking: 'I am told to move it. AA102 has seat 14C.',
    calls: [
      {
        tool: 'reschedule_booking',
        args: { booking_id: 'BK001', new_flight_number: 'AA102', new_seat_number: '14C' },
      },
    ],
  },
  {
    thinking: 'This run may only read, so I say what I would do.',
    answer: 'I would move BK001 to AA102, seat 14C, which is free for you as a gold member.',
  },
];

/** A model that makes the mistake unless it reads the correction. */
export function mistakenModel(): ModelFunction {
  const costly = scriptedModel(COSTLY_SCRIPT, 'yaml');
  const corrected = scriptedModel(CORRECTED_SCRIPT, 'yaml');
  return (request, io) => (isTold(request) ? corrected : costly)(request, io);
}

function isTold({ messages }: ModelRequest): boolean {
  return messages.some((message) => textOf(message).includes(CORRECTION));
}

/** What a careful model proposes in place of the mistake. */
export const PROPOSAL =
  'I can move BK001 to AA102, seat 14C, which is free for you as a gold member. Shall I?';

/** A model that asks before it changes anything. */
export function carefulModel(): ModelFunction {
  const thinking = 'The change is free for a gold member. I ask first.';
  return scriptedModel([...LOOK_UPS, { thinking, answer: PROPOSAL }], 'yaml');
}
