/** Both scenarios as tests run them: every variant, its script, and what must have come of it. */
import { join } from 'node:path';
import { airlineAgent } from '../../examples/airline/agents.ts';
import { AIRLINE_REQUEST, airlineSeed } from '../../examples/airline/data.ts';
import {
  AIRLINE_SCRIPT_A,
  AIRLINE_SCRIPT_ACT,
  AIRLINE_SCRIPT_LISP,
  AIRLINE_SCRIPT_B,
  AIRLINE_SCRIPT_SEARCH,
  AIRLINE_SUMMARIES,
} from '../../examples/airline/scripts.ts';
import { airlineStore } from '../../examples/airline/store.ts';
import {
  scriptedModel,
  scriptReply,
  type ScriptTurn,
  type ScriptVariant,
} from '../../examples/script.ts';
import { shopAgent } from '../../examples/shop/agents.ts';
import { SHOP_REQUEST, shopSeed } from '../../examples/shop/data.ts';
import {
  SHOP_SCRIPT,
  SHOP_SCRIPT_LISP,
  SHOP_SCRIPT_SEARCH,
  SHOP_SUMMARIES,
} from '../../examples/shop/scripts.ts';
import { shopStore } from '../../examples/shop/store.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import type { AgentEvent } from '../../src/core/contract/events.ts';
import type { Step } from '../../src/core/contract/step.ts';
import type { ModelFunction } from '../../src/core/contract/model.ts';
import { isUsageError } from '../../src/core/base/usage-error.ts';
import type { EffectLog } from '../../examples/effect-log.ts';
import type { MemoryRun } from '../../src/testing/memory-run.ts';
import { eventually } from './eventually.ts';

/** A scenario in one of its variants. */
export interface ScenarioCase {
  /** `airline-yaml`; the agent's name too. */
  readonly name: string;
  readonly variant: ScriptVariant;
  readonly task: string;
  readonly script: readonly ScriptTurn[];
  readonly calls: number;
  /** Iterations after which the scratchpad was compacted. */
  readonly compactedAfter: readonly number[];
  /** What has to stand in every request behind the last compaction. */
  readonly facts: readonly string[];
  readonly answerHolds: string;
  /** What the customer answers when the agent asks; absent: it never does. */
  readonly customerSays?: string;
  /** The state of its world at the end. */
  readonly end: object;
  readonly agent: (options?: ScenarioOptions) => AgentDefinition;
  /** The world of agents with this folder. */
  readonly world: (folder: string) => ScenarioWorld;
}

/** What an agent of a scenario may be made of. */
export interface ScenarioOptions {
  /** Keeps the state in a file of its own in this folder. Default: in memory. */
  readonly folder?: string;
  readonly latencyMs?: number;
  /** Changes the model that plays the script. */
  readonly around?: (model: ModelFunction) => ModelFunction;
  /** Takes the place of the scripted model. */
  readonly model?: Parameters<typeof airlineAgent>[0]['model'];
}

/** The state of a scenario, and the log of its changes. */
export interface ScenarioWorld {
  state(): object;
  readonly log: EffectLog<unknown>;
}

/** The variants of a scenario that differ in the agent. */
const SCENARIO_VARIANTS: readonly ScriptVariant[] = [
  'yaml',
  'json',
  'program',
  'chat',
  'search',
  'window',
  'summary',
  'lisp',
];

/** Those in which the agent asks the customer. */
const QUESTION_VARIANTS: readonly ScriptVariant[] = [
  'yaml',
  'json',
  'program',
  'chat',
  'window',
  'summary',
];

/** Six entries before the last reply are one more than the window keeps. */
const COMPACTED_AFTER_QUESTION: Partial<Record<ScriptVariant, readonly number[]>> = {
  window: [6],
  summary: [5],
};

/** Both scenarios in all variants, and the airline's scripts that ask: by the answer, and in between. */
export const SCENARIOS: readonly ScenarioCase[] = [
  ...SCENARIO_VARIANTS.flatMap((variant) => [airlineCase(variant), shopCase(variant)]),
  { ...airlineCase('yaml', 'airline-asking', AIRLINE_SCRIPT_A), calls: 7, end: airlineSeed() },
  ...QUESTION_VARIANTS.map(airlineQuestionCase),
];

/** The airline's script that asks the customer in its fourth turn, and acts on the answer. */
function airlineQuestionCase(variant: ScriptVariant): ScenarioCase {
  return {
    ...airlineCase(variant, `airline-question-${variant}`, AIRLINE_SCRIPT_B, true),
    // What a program asks is a question and no call.
    calls: variant === 'program' ? 9 : 10,
    compactedAfter: COMPACTED_AFTER_QUESTION[variant] ?? [],
    customerSays: 'yes',
  };
}

/** As {@link playCustomer}, for a run in memory; gives its Step. */
export async function playedInMemory(
  run: MemoryRun,
  { customerSays = '' }: ScenarioCase,
): Promise<Step> {
  for (;;) {
    const seen = await run.resultOrPending();
    if (seen.kind === 'step') return seen.step;
    for (const { id } of seen.pending) run.answer(id, customerSays);
  }
}

/** Answers what the agent asks, as the customer of the scenario does; settles with the run. */
export async function playCustomer(run: RunHandle, { customerSays }: ScenarioCase): Promise<void> {
  if (customerSays === undefined) return;
  for await (const update of run.follow()) {
    if (update.kind !== 'pending') continue;
    const { id } = update.item;
    // The worker may be killed meanwhile: an answer under one id is one answer.
    await eventually(
      `an answer to ${id} of ${run.id}`,
      () =>
        run.answer(id, customerSays, { updateId: `${run.id}-${id}` }).catch((error: unknown) => {
          if (isUsageError(error) && error.code === 'no_worker') return undefined;
          throw error;
        }),
      120_000,
    );
  }
}

function airlineCase(
  variant: ScriptVariant,
  name = `airline-${variant}`,
  script = scriptOf(variant, AIRLINE_SCRIPT_ACT, AIRLINE_SCRIPT_SEARCH, AIRLINE_SCRIPT_LISP),
  askUser = false,
): ScenarioCase {
  const fileIn = (folder: string): string => join(folder, `${name}.effects.jsonl`);
  return {
    name,
    variant,
    task: AIRLINE_REQUEST,
    script,
    calls: variant === 'search' ? 11 : 9,
    // Six iterations never have more than the five entries that the window keeps.
    compactedAfter: variant === 'summary' ? [5] : [],
    facts: ['BK001', 'AA102'],
    answerHolds: 'AA102',
    end: airlineEnd(),
    agent: ({ folder, latencyMs = 0, model, around = same } = {}) =>
      airlineAgent({
        name,
        variant,
        latencyMs,
        askUser,
        store: airlineStore(folder === undefined ? undefined : fileIn(folder)),
        model:
          model ??
          entryOf(name, around(scriptedModel(script, variant, { summaries: AIRLINE_SUMMARIES }))),
      }),
    world: (folder) => airlineStore(fileIn(folder)),
  };
}

function shopCase(variant: ScriptVariant): ScenarioCase {
  const script = scriptOf(variant, SHOP_SCRIPT, SHOP_SCRIPT_SEARCH, SHOP_SCRIPT_LISP);
  const name = `shop-${variant}`;
  const fileIn = (folder: string): string => join(folder, `${name}.effects.jsonl`);
  return {
    name,
    variant,
    task: SHOP_REQUEST,
    script,
    calls: variant === 'search' ? 14 : 12,
    compactedAfter: compactedAfter(variant),
    facts: ['ORD-1007', 'GW-TX-5001', 'PAY-2001'],
    answerHolds: 'CR-4001',
    end: shopEnd(),
    agent: ({ folder, latencyMs = 0, model, around = same } = {}) =>
      shopAgent({
        name,
        variant,
        latencyMs,
        store: shopStore(folder === undefined ? undefined : fileIn(folder)),
        model:
          model ??
          entryOf(name, around(scriptedModel(script, variant, { summaries: SHOP_SUMMARIES }))),
      }),
    world: (folder) => shopStore(fileIn(folder)),
  };
}

function scriptOf(
  variant: ScriptVariant,
  acting: readonly ScriptTurn[],
  searching: readonly ScriptTurn[],
  programs: readonly ScriptTurn[],
): readonly ScriptTurn[] {
  if (variant === 'lisp') return programs;
  return variant === 'search' ? searching : acting;
}

function compactedAfter(variant: ScriptVariant): readonly number[] {
  if (variant === 'summary') return [5, 10];
  return variant === 'window' ? [6, 7, 8, 9, 10] : [];
}

function same(model: ModelFunction): ModelFunction {
  return model;
}

/** Costs 120 micro-dollars a reply: 100 tokens in for one each, 10 out for two. */
function entryOf(name: string, model: ModelFunction): Parameters<typeof airlineAgent>[0]['model'] {
  return { id: `script/${name}`, model, price: { input: 1, output: 2 } };
}

/** BK001 is on AA102, seat 14C, for 279; 12A is free again; the customer knows. */
function airlineEnd(): object {
  const seed = airlineSeed();
  const seat = (flight: string, number: string, available: boolean) =>
    (seed.seats[flight] ?? []).map((one) =>
      one.seat_number === number ? { ...one, available } : one,
    );
  const freeSeats: { readonly [flight: string]: number } = { AA100: 46, AA102: 66 };
  return {
    ...seed,
    flights: seed.flights.map((flight) => ({
      ...flight,
      free_seats: freeSeats[flight.flight_number] ?? flight.free_seats,
    })),
    seats: { ...seed.seats, AA100: seat('AA100', '12A', true), AA102: seat('AA102', '14C', false) },
    bookings: seed.bookings.map((booking) =>
      booking.booking_id === 'BK001'
        ? { ...booking, flight_number: 'AA102', seat_number: '14C', price: 279, changes: 1 }
        : booking,
    ),
    notifications: [
      {
        customer_id: 'C001',
        method: 'email',
        sent_to: 'john.smith@email.com',
        subject: 'Your new flight AA102',
        message: 'You are on AA102 on 2026-03-11 at 20:00, seat 14C. Your travel credit is 20.',
      },
    ],
  };
}

/** Cancel and refund were tried and refused; a case is open, and a credit over 79.99 in it. */
function shopEnd(): object {
  return {
    ...shopSeed(),
    refusals: ['cancel GW-TX-5001', 'refund PAY-2001'],
    cases: [
      {
        case_id: 'CASE-3001',
        order_id: 'ORD-1007',
        details: 'Charged twice, 79.99 each: GW-TX-5001, GW-TX-5002. Cancel and refund refused.',
        status: 'open',
      },
    ],
    credits: [{ credit_id: 'CR-4001', case_id: 'CASE-3001', amount: 79.99, status: 'approved' }],
  };
}

/** The usage that a run of `one` has, but for how long it took. */
export function usageOf({ script, calls, compactedAfter: after, variant }: ScenarioCase): object {
  const summaries = variant === 'summary' ? after.length : 0;
  const replies = script.length + summaries;
  return {
    inputTokens: 100 * replies,
    outputTokens: 10 * replies,
    totalTokens: 110 * replies,
    cachedInputTokens: 0,
    reasoningTokens: 0,
    costMicroUsd: 120 * replies,
    modelCalls: replies,
    modelCallRetries: 0,
    toolCalls: calls,
  };
}

/** The iterations after which `events` tell of a compaction. */
export function compactionsIn(events: readonly AgentEvent[]): readonly number[] {
  return events.flatMap(({ type, iteration }) => (type === 'agent:compaction' ? [iteration] : []));
}

/** All that the model of `one` says, in order: texts, and arguments of native calls. */
export function saidBy({ script, variant }: ScenarioCase): {
  readonly text: string;
  readonly args: string;
} {
  const replies = script.map((turn) => scriptReply(turn, variant));
  return {
    text: replies.map(({ content }) => content ?? '').join(''),
    args: replies
      .flatMap(({ toolCalls = [] }) => toolCalls.map(({ args }) => JSON.stringify(args)))
      .join(''),
  };
}
