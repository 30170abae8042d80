/**
 * The part of the state about what is in flight: tool calls, model calls, what is reserved for these, and
 * the calls of unknown outcome that are left of it.
 */
import { defined } from '../base/defined.ts';
import type { Numbers } from '../contract/stats.ts';
import type { UnknownCall } from '../contract/step.ts';

/** A tool call that runs. */
interface OpenCall {
  readonly callId: string;
  readonly tool: string;
}

/** The fields of `RunState` about what is in flight. */
export interface FlightState {
  /** Calls that run; absent until there was one. */
  readonly openCalls?: readonly OpenCall[];
  /** The model of each model call that runs; absent until there was one. */
  readonly openModels?: readonly string[];
  /** What model calls that run may spend at most, by key; absent until one was covered. */
  readonly covers?: readonly OpenCover[];
  /** Calls that may have taken effect, the first 100 of the chain; absent until there was one. */
  readonly unknownCalls?: readonly UnknownCall[];
}

/** What is reserved for a model call that runs. */
interface OpenCover {
  /** The number of the event that began the call. */
  readonly seq: number;
  readonly needs: Numbers;
}

/** What an event adds to these fields without publishing it. */
export interface FlightCarried {
  /** The model that was ordered, by `agent:model_call:after`; absent: the one of the event. */
  readonly ordered?: string;
  /** What is reserved for a model call, by `agent:model_call:before`. */
  readonly cover?: Numbers;
  /** The number of the event that began the call that ends, by `agent:model_call:after`. */
  readonly covered?: number;
}

const NOTHING: Partial<FlightState> = {};

/** A tool call begins. */
export function withCall({ openCalls = [] }: FlightState, call: OpenCall): Partial<FlightState> {
  return { openCalls: [...openCalls, call] };
}

/** A model call begins. */
export function withModel({ openModels = [] }: FlightState, model: string): Partial<FlightState> {
  return { openModels: [...openModels, model] };
}

/** An iteration has ended, and all work of it. */
export function nothingInFlight({
  openCalls = [],
  openModels = [],
  covers = [],
}: FlightState): Partial<FlightState> {
  return defined({
    openCalls: openCalls.length === 0 ? undefined : [],
    openModels: openModels.length === 0 ? undefined : [],
    covers: covers.length === 0 ? undefined : [],
  });
}

/** A model call has ended. */
export function withoutModel(
  { openModels = [] }: FlightState,
  model: string,
): Partial<FlightState> {
  const place = openModels.indexOf(model);
  return place === -1 ? NOTHING : { openModels: openModels.toSpliced(place, 1) };
}

/** So many calls of unknown outcome are named: the state stays small. */
const MAX_UNKNOWN_CALLS = 100;

/** A call has ended without a known outcome. */
export function withUnknown(
  { unknownCalls = [] }: FlightState,
  { callId, tool }: UnknownCall,
): Partial<FlightState> {
  if (unknownCalls.length >= MAX_UNKNOWN_CALLS) return NOTHING;
  return { unknownCalls: [...unknownCalls, { callId, tool }] };
}

/** A model call begins, with what is reserved for it. */
export function withCover(
  { covers = [] }: FlightState,
  seq: number,
  { cover }: FlightCarried,
): Partial<FlightState> {
  return cover === undefined ? NOTHING : { covers: [...covers, { seq, needs: cover }] };
}

/** A model call has ended, and with it what was reserved for it. */
export function withoutCover(
  { covers = [] }: FlightState,
  { covered }: FlightCarried,
): Partial<FlightState> {
  return covered === undefined ? NOTHING : { covers: covers.filter(({ seq }) => seq !== covered) };
}

/** A tool call has ended. */
export function withoutCall({ openCalls = [] }: FlightState, callId: string): Partial<FlightState> {
  const left = openCalls.filter((call) => call.callId !== callId);
  return left.length === openCalls.length ? NOTHING : { openCalls: left };
}
