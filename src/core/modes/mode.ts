/**
 * What a mode must answer: how its requests look, how its replies are read, and how a turn is
 * written down. The loop is the same for all modes and never asks which one it runs.
 */
import type { MediaPart, Message, FormattedSection } from '../base/message.ts';
import type { ModelRequest, OutputStrategy, Reply } from '../contract/model.ts';
import type { Json, JsonObject } from '../base/json.ts';
import type { TranscriptHead } from '../contract/transcript.ts';
import type { CallResult } from './observation.ts';
import type { AgentSpec } from '../contract/spec.ts';
import type { AnswerTurn, SectionError, Turn } from '../contract/turn.ts';
import type { Judgement } from '../contract/judgement.ts';

/** What only this request has; all else comes from the transcript. */
export interface RequestOptions {
  readonly runId: string;
  readonly iteration: number;
  /** From 1. */
  readonly attempt: number;
  /** The model must answer without calls. */
  readonly lastTurn: boolean;
  /** Texts that functions on the worker made; used where the specification says `function`. */
  readonly instructions?: string;
  readonly rules?: string;
  /** The messages of the agent's own prompt function; they replace the system message. */
  readonly prompt?: readonly Message[];
  /** How the output is asked for, in mode `json`. Default `prompt`. */
  readonly structuredOutput?: OutputStrategy;
  /** Whether every field of the output is required by the provider. */
  readonly strict?: boolean;
  /** Those of the model's entry. Default: none. */
  readonly settings?: JsonObject;
}

/** What came of a turn that did not end the run. */
export interface TurnOutcome {
  /** Those of the turn, and values that did not fit their schema. */
  readonly sectionErrors: readonly SectionError[];
  /** About the reply or the answer; may be empty. */
  readonly feedback: readonly FormattedSection[];
  /** In request order; one for each call of the turn. */
  readonly results: readonly CallResult[];
  /** What the model is told of its program, of a turn with one. */
  readonly program?: string;
}

/** Which try of how many it was. */
export interface AttemptCount {
  /** From 1. */
  readonly attempt: number;
  /** Null: without bound. */
  readonly of: number | null;
}

/** How a run ends whose turns are used up. */
export interface Exhaustion {
  readonly code: 'json_parse_error' | 'validation_error';
  readonly cause: string;
  readonly details: Json;
}

/** What a user sends to a live run. */
export interface InputContent {
  readonly text: string;
  readonly media?: readonly MediaPart[];
}

/** A mode. All of it is pure; nothing throws on what a model wrote. */
export interface ModeRules {
  /** The request of one model call. `messages` are those of the scratchpad, in order. */
  buildRequest(
    head: TranscriptHead,
    messages: readonly Message[],
    options: RequestOptions,
  ): ModelRequest;
  /** Messages of the scratchpad as a model reads them: their sections are text. */
  writeMessages(spec: AgentSpec, messages: readonly Message[]): readonly Message[];
  /** What the model wants done. `iteration` gives the ids of calls. */
  readTurn(spec: AgentSpec, reply: Reply, iteration: number): Turn;
  /** The messages of the entry of a turn that did not end the run; may be empty. */
  turnMessages(spec: AgentSpec, turn: Turn, reply: Reply, outcome: TurnOutcome): readonly Message[];
  /** The messages of the entry of a turn whose answer was accepted. */
  answerMessages(reply: Reply): readonly Message[];
  /** The messages of an input; empty when there is nothing in it. */
  inputMessages(input: InputContent): readonly Message[];
  /** What the model is told when no answer of a turn was accepted; empty when one was. */
  answerFeedback(
    spec: AgentSpec,
    turn: AnswerTurn,
    judgement: Judgement,
    reply: Reply,
    count: AttemptCount,
  ): readonly FormattedSection[];
  /** How the run ends when its last turn gave no answer. Absent: at its limit of iterations. */
  exhausted?(judgement: Judgement, reply: Reply): Exhaustion;
}
