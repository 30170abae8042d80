import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { airlineAgent } from '../../examples/airline/agents.ts';
import { AIRLINE_REQUEST, airlineSeed } from '../../examples/airline/data.ts';
import { AIRLINE_SCRIPT_A, AIRLINE_SCRIPT_B } from '../../examples/airline/scripts.ts';
import { airlineStore, type AirlineStore } from '../../examples/airline/store.ts';
import { repeatedKeys } from '../../examples/effect-log.ts';
import { scriptedModel, type ScriptVariant } from '../../examples/script.ts';
import { createRegistry } from '../../src/registry/registry.ts';
import { runTool } from '../../src/tools/run-tool.ts';
import type { JsonObject } from '../../src/core/base/json.ts';
import { createFakeClock } from '../../src/testing/fake-clock.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';

const directory = mkdtempSync(join(tmpdir(), 'everloop-airline-'));
afterAll(() => rmSync(directory, { recursive: true }));

const seed = airlineSeed();

/** A customer's assistant whose calls have ids of their own. */
function tools(store: AirlineStore): (tool: string, args: JsonObject) => Promise<unknown> {
  const agent = airlineAgent({ store, model: async () => '' });
  const registered = createRegistry({ agents: [agent] }).agents.get('airline');
  if (registered === undefined) throw new Error('Expected the agent to be registered.');
  let calls = 0;
  return async (tool, args) => {
    calls += 1;
    const order = { agent: 'airline', runId: 'run', agentPath: 'airline' };
    const run = await runTool(
      registered,
      { ...order, callId: `1.${calls}`, tool, args },
      { attempt: 1, run: 'run-1', signal: new AbortController().signal },
    );
    if (run.kind !== 'result') throw new Error(`Expected a result, got ${run.kind}.`);
    return run.result.outcome === 'ok' ? run.result.output : run.result.error;
  };
}

const [john, sarah] = seed.customers;
const [aa100, aa101, aa102, aa200] = seed.flights;
const [changes, cancellation, , tiers] = seed.policies;

describe('the tools of the airline that read', () => {
  const call = tools(airlineStore());

  test.each([
    { tool: 'get_customer_info', args: { customer_id: 'C002' }, output: sarah },
    { tool: 'get_customer_info', args: { email: 'John.Smith@email.com' }, output: john },
    {
      tool: 'get_customer_info',
      args: {},
      output: 'Error: give a customer_id or an email',
    },
    {
      tool: 'get_customer_info',
      args: { email: 'x@y.z' },
      output: 'Error: there is no customer x@y.z',
    },
    { tool: 'get_booking_info', args: { booking_id: 'BK002' }, output: seed.bookings[1] },
    {
      tool: 'get_booking_info',
      args: { booking_id: 'BK9' },
      output: 'Error: there is no booking BK9',
    },
    { tool: 'get_flight_info', args: { flight_number: 'AA200' }, output: aa200 },
    {
      tool: 'get_flight_info',
      args: { flight_number: 'AA9' },
      output: 'Error: there is no flight AA9',
    },
    {
      tool: 'get_flight_seats_info',
      args: { flight_number: 'AA101' },
      output: [
        seat('1A', 'first', 'window', true, false),
        seat('1B', 'first', 'aisle', true, true),
        seat('5A', 'business', 'window', true, true),
        seat('5C', 'business', 'aisle', true, true),
        seat('20A', 'economy', 'window', false, true),
      ],
    },
    {
      tool: 'get_flight_seats_info',
      args: { flight_number: 'AA102', class: 'economy', available_only: true },
      output: [
        seat('14B', 'economy', 'middle', true, true),
        seat('14C', 'economy', 'aisle', true, true),
        seat('15A', 'economy', 'window', true, true),
        seat('22A', 'economy', 'window', false, true),
        seat('22B', 'economy', 'middle', false, true),
        seat('22C', 'economy', 'aisle', false, true),
        seat('30C', 'economy', 'aisle', false, true),
      ],
    },
    {
      tool: 'get_flight_seats_info',
      args: { flight_number: 'AA200' },
      output: 'Error: there is no seat data for AA200',
    },
    { tool: 'search_airline_policy', args: { keyword: 'CHANGE' }, output: [changes, tiers] },
    { tool: 'search_airline_policy', args: { keyword: 'refund' }, output: [cancellation] },
    {
      tool: 'search_airline_policy',
      args: { keyword: 'change fee' },
      output: 'Error: no policy contains "change fee"; search for a single word',
    },
    {
      tool: 'search_flight_schedule',
      args: { origin: 'jfk', destination: 'LAX', date: '2026-03-11' },
      output: [aa100, aa101, aa102],
    },
    {
      tool: 'search_flight_schedule',
      args: { origin: 'LAX', destination: 'JFK', date: '2026-03-11' },
      output: 'Error: there is no flight from LAX to JFK on 2026-03-11',
    },
  ])('$tool of $args', async ({ tool, args, output }) => {
    expect(await call(tool, args)).toEqual(output);
  });

  test('search_flight_schedule checks the date', async () => {
    const args = { origin: 'JFK', destination: 'LAX', date: 'tomorrow' };

    expect(await call('search_flight_schedule', args)).toMatch(
      /^Error: the arguments do not fit search_flight_schedule\.\n- date: expected a date, got string "tomorrow"\n/,
    );
  });
});

describe('reschedule_booking', () => {
  test('moves the booking and its seat; a gold member changes once for nothing', async () => {
    const store = airlineStore();
    const call = tools(store);

    const result = await call('reschedule_booking', {
      booking_id: 'BK001',
      new_flight_number: 'AA102',
      new_seat_number: '14C',
    });

    expect(result).toEqual({
      booking_id: 'BK001',
      flight_number: 'AA102',
      seat_number: '14C',
      change_fee: 0,
      fare_difference: 0,
      travel_credit: 20,
      total: 0,
    });
    const state = store.state();
    expect(state.bookings[0]).toEqual({
      ...seed.bookings[0],
      flight_number: 'AA102',
      seat_number: '14C',
      price: 279,
      changes: 1,
    });
    expect(state.flights.map(({ free_seats }) => free_seats)).toEqual([46, 23, 66, 89]);
    expect(freeSeats(state, 'AA100')).toContain('12A');
    expect(freeSeats(state, 'AA102')).not.toContain('14C');
  });

  test('costs the second time: a day before more than earlier', async () => {
    const call = tools(airlineStore());
    await call('reschedule_booking', { booking_id: 'BK001', new_flight_number: 'AA102' });

    const late = await call('reschedule_booking', {
      booking_id: 'BK001',
      new_flight_number: 'AA101',
    });

    // AA102 leaves in 35 hours, so the fee is that of an early change; AA101 costs 50 more.
    expect(late).toEqual({
      booking_id: 'BK001',
      flight_number: 'AA101',
      seat_number: 'TBD',
      change_fee: 50,
      fare_difference: 50,
      travel_credit: 0,
      total: 100,
    });
    await call('reschedule_booking', { booking_id: 'BK001', new_flight_number: 'AA100' });
    expect(
      await call('reschedule_booking', { booking_id: 'BK001', new_flight_number: 'AA102' }),
    ).toMatchObject({ change_fee: 150, travel_credit: 20, total: 150 });
  });

  test.each([
    {
      name: 'an unknown booking',
      args: { booking_id: 'BK9', new_flight_number: 'AA102' },
      error: 'Error: there is no booking BK9',
    },
    {
      name: 'an unknown flight',
      args: { booking_id: 'BK001', new_flight_number: 'AA9' },
      error: 'Error: there is no flight AA9',
    },
    {
      name: 'a taken seat',
      args: { booking_id: 'BK001', new_flight_number: 'AA102', new_seat_number: '14A' },
      error: 'Error: seat 14A of AA102 is taken',
    },
    {
      name: 'a seat of another class',
      args: { booking_id: 'BK001', new_flight_number: 'AA102', new_seat_number: '1A' },
      error: 'Error: AA102 has no seat 1A in economy',
    },
  ])('refuses $name and changes nothing', async ({ args, error }) => {
    const store = airlineStore();

    expect(await tools(store)('reschedule_booking', args)).toBe(error);
    expect(store.state()).toEqual(seed);
  });
});

describe('cancel_booking', () => {
  test('leaves a credit less 100, once', async () => {
    const store = airlineStore();
    const call = tools(store);

    expect(await call('cancel_booking', { booking_id: 'BK001', reason: 'ill' })).toEqual({
      booking_id: 'BK001',
      status: 'canceled',
      travel_credit: 199,
    });
    expect(await call('cancel_booking', { booking_id: 'BK001' })).toBe(
      'Error: BK001 is already canceled',
    );
    expect(
      await call('reschedule_booking', { booking_id: 'BK001', new_flight_number: 'AA102' }),
    ).toBe('Error: BK001 is canceled');
    expect(store.state().bookings[0]?.status).toBe('canceled');
    expect(store.state().flights[0]?.free_seats).toBe(46);
  });

  test('knows the bookings', async () => {
    expect(await tools(airlineStore())('cancel_booking', { booking_id: 'BK9' })).toBe(
      'Error: there is no booking BK9',
    );
  });
});

describe('send_notification', () => {
  test.each([
    { method: 'email', sentTo: 'john.smith@email.com' },
    { method: 'sms', sentTo: '+1-555-0123' },
  ])('sends by $method', async ({ method, sentTo }) => {
    const store = airlineStore();
    const args = { customer_id: 'C001', method, message: 'Hi.' };

    expect(await tools(store)('send_notification', args)).toEqual({ method, sent_to: sentTo });
    expect(store.state().notifications).toEqual([{ ...args, sent_to: sentTo }]);
  });

  test('knows the customers', async () => {
    const args = { customer_id: 'C9', method: 'sms', message: 'Hi.' };

    expect(await tools(airlineStore())('send_notification', args)).toBe(
      'Error: there is no customer C9',
    );
  });
});

describe('a store in a file', () => {
  test('is seen by the next process, and tells each call apart', async () => {
    const path = join(directory, 'effects.jsonl');
    await tools(airlineStore(path))('cancel_booking', { booking_id: 'BK001' });

    const store = airlineStore(path);

    expect(store.state().bookings[0]?.status).toBe('canceled');
    expect(store.log.read()).toEqual([
      { key: 'run/1.1', tool: 'cancel_booking', step: 'begun' },
      {
        key: 'run/1.1',
        tool: 'cancel_booking',
        step: 'done',
        change: { type: 'canceled', booking_id: 'BK001' },
      },
    ]);
    expect(repeatedKeys(store.log)).toEqual([]);
    store.log.append({ key: 'run/1.1', tool: 'cancel_booking', step: 'begun' });
    expect(repeatedKeys(store.log)).toEqual(['run/1.1']);
  });
});

describe.each<ScriptVariant>(['yaml', 'json', 'chat'])('[row 58] the scenario in %s', (variant) => {
  test('script A proposes and asks: 4 iterations, 7 calls, nothing changed', async () => {
    const store = airlineStore();
    const model = scriptedModel(AIRLINE_SCRIPT_A, variant);
    const agent = airlineAgent({ store, model, variant });

    const step = await startInMemory({ agent, task: AIRLINE_REQUEST }).result;

    expect(step).toMatchObject({ status: 'success', iterations: 4 });
    expect(step.value).toContain('AA102');
    expect(step.usage).toMatchObject({
      totalTokens: 440,
      inputTokens: 400,
      outputTokens: 40,
      modelCalls: 4,
      toolCalls: 7,
    });
    expect(step.stats.counters['agent:tool_calls_error_total'] ?? 0).toBe(0);
    expect(store.log.read()).toEqual([]);
  });
});

describe.each<ScriptVariant>(['yaml', 'json', 'chat'])(
  '[row 58] the scenario in %s that asks and acts',
  (variant) => {
    test('waits a day for the customer, then moves the booking [sub 17]', async () => {
      const store = airlineStore();
      const model = scriptedModel(AIRLINE_SCRIPT_B, variant);
      const agent = airlineAgent({ store, model, variant, askUser: true });
      const clock = createFakeClock();
      const run = startInMemory({ agent, task: AIRLINE_REQUEST, clock });

      expect(await run.resultOrPending()).toMatchObject({
        pending: [{ id: 'q1', options: ['yes', 'no'] }],
      });
      expect(store.log.read()).toEqual([]);
      clock.advance(24 * 3_600_000);
      run.answer('q1', 'yes');
      const step = await run.result;

      expect(step).toMatchObject({ status: 'success', iterations: 7 });
      expect(step.usage).toMatchObject({ totalTokens: 770, modelCalls: 7, toolCalls: 10 });
      expect(step.stats.counters).toMatchObject({
        'agent:questions': 1,
        '$self:agent:questions': 1,
        'agent:total_tokens': 770,
        '$self:agent:total_tokens': 770,
      });
      expect(store.state().bookings[0]).toMatchObject({
        booking_id: 'BK001',
        flight_number: 'AA102',
        seat_number: '14C',
        price: 279,
      });
      expect(store.state().notifications).toHaveLength(1);
    });
  },
);

function seat(
  number: string,
  cabin: string,
  position: string,
  legroom: boolean,
  available: boolean,
): object {
  return { seat_number: number, class: cabin, position, extra_legroom: legroom, available };
}

function freeSeats(state: typeof seed, flight: string): readonly string[] {
  return (state.seats[flight] ?? [])
    .filter(({ available }) => available)
    .map(({ seat_number }) => seat_number);
}
