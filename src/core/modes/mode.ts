/**
 * What a mode must answer: how its requests look, how its replies are read, what follows from a
 * program, and how a turn is written down. All modes share one loop; code outside this folder asks
 * these rules and never compares the name of a mode.
 */
import type { MediaPart, Message, FormattedSection } from '../base/message.ts';
import type { ModelRequest, OutputStrategy, Reply } from '../contract/model.ts';
import type { Json } from '../base/json.ts';
import type { Limit } from '../contract/limit.ts';
import type { TranscriptHead } from '../contract/transcript.ts';
import type { CallResult } from './observation.ts';
import type { AgentSpec } from '../contract/spec.ts';
import type { AnswerTurn, SectionError, Turn } from '../contract/turn.ts';
import type { Candidate, Judgement } from '../contract/judgement.ts';
import type { ProgramReport } from '../contract/report.ts';
import type { Rejection } from '../program-text/feedback.ts';

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
  /** How the output is requested, in mode `json`. Default `prompt`. */
  readonly structuredOutput?: OutputStrategy;
}

/** What a mode may know of the replies before the one that it reads. */
export interface EarlierReplies {
  /** Whether the reply before this one had no section at all. */
  readonly hadNoSection: boolean;
}

/** The results of a turn that did not end the run. */
export interface TurnOutcome {
  /** Section errors of the turn, and values that did not fit their schema. */
  readonly sectionErrors: readonly SectionError[];
  /** About the reply or the answer; may be empty. */
  readonly feedback: readonly FormattedSection[];
  /** In request order; one for each call of the turn. */
  readonly results: readonly CallResult[];
  /** The feedback on the program of the turn; absent: no program ran. */
  readonly program?: string;
  /** Default: the first of any number of turns. */
  readonly position?: TurnPosition;
}

/** Which turn of how many it is. */
export interface TurnPosition {
  /** From 1. */
  readonly attempt: number;
  /** Null: unlimited. */
  readonly of: number | null;
  /** Whether no further iteration may begin. Default: one may. */
  readonly isLast?: boolean;
}

/** How a run without a usable answer ends. */
export interface Exhaustion {
  readonly code: string;
  readonly cause: string;
  readonly details?: Json;
  /** See `Ending`. */
  readonly isVerbatim?: true;
}

/** What follows from how a program ended. */
export type ProgramDecision =
  /** The model reads the feedback on its program and goes on. */
  | { readonly kind: 'continue'; readonly note: TurnNote }
  /** Its value may be the answer. With `isFinal`, the run ends when it is not accepted. */
  | { readonly kind: 'answer'; readonly candidate: Candidate; readonly isFinal: boolean }
  | { readonly kind: 'failed'; readonly end: Exhaustion };

/** What a mode may remember of a turn without an answer. */
export interface TurnNote {
  /** What was wrong, a line for each problem; empty: nothing. */
  readonly problems: readonly string[];
  /** A plain value that may become the answer later. */
  readonly value?: Json | undefined;
}

/** What a mode remembers between turns, in the data of the run. */
export interface ModeMemory {
  /** The data after a turn without an answer; null: nothing to keep. */
  next(spec: AgentSpec, data: Json, note: TurnNote): Json;
  /** Values that may become the answer now that no turn is left, best first. */
  fallbacks(spec: AgentSpec, data: Json): readonly Json[];
  /** What was wrong in the last turn, for the Step of a run that ends at a limit. */
  problems(data: Json): readonly string[];
}

/** What a user sends to a live run. */
export interface InputContent {
  readonly text: string;
  readonly media?: readonly MediaPart[];
}

/** The rules of a mode. They are pure, and nothing that a model wrote makes them throw. */
export interface ModeRules {
  /** The request of one model call. `messages` are those of the scratchpad, in order. */
  buildRequest(
    head: TranscriptHead,
    messages: readonly Message[],
    options: RequestOptions,
  ): ModelRequest;
  /** Messages of the scratchpad as a model reads them: their sections are text. */
  writeMessages(spec: AgentSpec, messages: readonly Message[]): readonly Message[];
  /**
   * What the model wants done. `iteration` gives the ids of calls. `earlier`: default, nothing
   * unusual came before.
   */
  readTurn(spec: AgentSpec, reply: Reply, iteration: number, earlier?: EarlierReplies): Turn;
  /**
   * Whether a reply that was cut off is an answer with which the model can go on. Absent: none is.
   */
  goesOn?(spec: AgentSpec, reply: Reply): boolean;
  /** The messages of the entry of a turn that did not end the run; may be empty. */
  turnMessages(spec: AgentSpec, turn: Turn, reply: Reply, outcome: TurnOutcome): readonly Message[];
  /** The messages of the entry of a turn whose answer was accepted. */
  answerMessages(reply: Reply): readonly Message[];
  /** The messages of an input; empty when there is nothing in it. */
  inputMessages(input: InputContent): readonly Message[];
  /** The feedback when no answer of a turn was accepted; empty when one was. */
  answerFeedback(
    spec: AgentSpec,
    turn: AnswerTurn,
    judgement: Judgement,
    reply: Reply,
    position: TurnPosition,
  ): readonly FormattedSection[];
  /** The example in the prompt that an answer may only copy. Absent or undefined: there is none. */
  exampleOf?(spec: AgentSpec): Json | undefined;
  /** How the run ends when its last turn gave no answer. Absent: at its limit of iterations. */
  whenExhausted?(judgement: Judgement, reply: Reply): Exhaustion;
  /** What the model wrote beside its calls or program, for the person who decides about a call. */
  reasoning(spec: AgentSpec, turn: Turn, reply: Reply): string;
  /** What follows from a program that ended. */
  onProgram(spec: AgentSpec, report: ProgramReport, position: TurnPosition): ProgramDecision;
  /** The feedback on a program, and on its value when that was no answer. */
  programFeedback(
    head: TranscriptHead,
    report: ProgramReport,
    position: TurnPosition,
    rejection?: Rejection,
  ): string;
  /** Absent: the mode remembers nothing, and the data of the run is a custom loop's own. */
  readonly memory?: ModeMemory;
  /** The limits of an agent that sets none, in the order in which they are checked. */
  readonly defaultLimits: readonly Limit[];
  /** Whether the model must give a JSON value that fits a schema. */
  readonly requestsJson: boolean;
  /** Whether the model reads the earlier conversation. */
  readonly readsHistory: boolean;
  /** True: all calls of a reply run as the model wrote them, so reads may run beside it. */
  readonly readsBeside?: true;
  /**
   * Whether the model reads the data of the run by name in its programs: then a template names data
   * in place of showing it, and the definitions of earlier programs are listed.
   */
  readonly readsDataByName: boolean;
}
