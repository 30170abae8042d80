/** What must be true at the end of the demo, and the table that shows it. */
import type { AgentEvent, Step } from '../../src/index.ts';
import { airlineStore } from '../airline/store.ts';
import { repeatedKeys } from '../effect-log.ts';
import { SCRIPT, type Provider } from './provider.ts';

/** What the demo has seen. */
export interface Outcome {
  readonly provider: Provider;
  readonly storeFile: string;
  readonly step: Step;
  /** All events of the first run, read back over its whole chain. */
  readonly events: readonly AgentEvent[];
  readonly historyEvents: number;
  readonly historyBytes: number;
  /** Iteration of the model call in which the worker was killed. */
  readonly hitIteration: number;
  readonly killToProgressMs: number;
  readonly canceledStep: Step;
  readonly cancelToEndMs: number;
}

/** One line of the final table. */
export interface Fact {
  readonly name: string;
  readonly value: string;
  /** The required value; absent if the fact is only shown. */
  readonly expected?: string;
  readonly holds: boolean;
}

/** Some 6 s on an idle machine; a new process begins slowly on one that is not. */
const MAX_RECOVERY_MS = 60_000;

/** The run's worker hears of a cancel at once. */
const MAX_CANCEL_MS = 15_000;

/** The facts of the demo. Fewer are required of a real model, which may take another way. */
export function factsOf(outcome: Outcome): readonly Fact[] {
  const { step, events, canceledStep } = outcome;
  const { usage } = step;
  const isScripted = outcome.provider.kind === 'mock';
  const calls = SCRIPT.flatMap((turn) => turn.calls ?? []).length;
  const scripted = (name: string, value: number, expected: number): Fact =>
    isScripted ? equal(name, value, expected) : shown(name, String(value));
  return [
    equal('status', step.status, 'success'),
    scripted('iterations', step.iterations, SCRIPT.length),
    scripted('model calls', usage.modelCalls, SCRIPT.length),
    scripted('tool calls', usage.toolCalls, calls),
    scripted('tokens', usage.totalTokens, SCRIPT.length * 110),
    shown('cost', `$${(usage.costMicroUsd / 1_000_000).toFixed(6)}`),
    shown('history', `${outcome.historyEvents} events, ${outcome.historyBytes} bytes`),
    equal('workers lost in the call that was hit', lossesAt(events, outcome.hitIteration), 1),
    below('kill to progress', outcome.killToProgressMs, MAX_RECOVERY_MS),
    equal('gaps in the event numbers', gapsIn(events), 0),
    ...bookingFacts(outcome, isScripted),
    equal('second run', canceledStep.status, 'canceled'),
    below('cancel to end', outcome.cancelToEndMs, MAX_CANCEL_MS),
  ];
}

/** What the tools did to the airline, killed worker or not. */
function bookingFacts({ storeFile }: Outcome, isScripted: boolean): readonly Fact[] {
  const store = airlineStore(storeFile);
  const { bookings, notifications } = store.state();
  const booking = bookings.find(({ booking_id }) => booking_id === 'BK001');
  const place = `${booking?.flight_number ?? ''} ${booking?.seat_number ?? ''}`;
  const repeated = equal('effects that happened twice', repeatedKeys(store.log).length, 0);
  if (!isScripted) return [shown('booking BK001', place), repeated];
  return [
    equal('booking BK001', place, 'AA102 14C'),
    equal('e-mails sent', notifications.length, 1),
    repeated,
  ];
}

function lossesAt(events: readonly AgentEvent[], iteration: number): number {
  const hit = events.find(
    (event) => event.type === 'agent:model_call:after' && event.iteration === iteration,
  );
  return hit?.type === 'agent:model_call:after' ? (hit.losses ?? 0) : 0;
}

function gapsIn(events: readonly AgentEvent[]): number {
  return events.filter((event, index) => event.seq !== index + 1).length;
}

function shown(name: string, value: string): Fact {
  return { name, value, holds: true };
}

function equal(name: string, value: string | number, expected: string | number): Fact {
  return { name, value: String(value), expected: String(expected), holds: value === expected };
}

function below(name: string, valueMs: number, maxMs: number): Fact {
  const text = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
  return { name, value: text(valueMs), expected: `< ${text(maxMs)}`, holds: valueMs < maxMs };
}

/** The facts as a table of three columns. */
export function factTable(facts: readonly Fact[]): string {
  const width = Math.max(...facts.map(({ name }) => name.length));
  const valueWidth = Math.max(...facts.map(({ value }) => value.length));
  return facts
    .map(({ name, value, expected, holds }) => {
      const verdict = expected === undefined ? '' : holds ? 'ok' : `FAILED, expected ${expected}`;
      return `  ${name.padEnd(width)}  ${value.padEnd(valueWidth)}  ${verdict}`.trimEnd();
    })
    .join('\n');
}
