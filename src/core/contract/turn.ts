/** A reply once it has been read: what the model wants done, and what is unusual. Plain data. */
import type { Json } from '../base/json.ts';
import type { FormattedSection, ToolCall, ToolCallPart } from '../base/message.ts';
import type { NativeCall, Reply } from './model.ts';
import type { ReplyProblem } from '../base/problem.ts';
import type { Candidate } from './judgement.ts';

/** The value of a structured section; its schema is checked elsewhere. */
export interface SectionValue {
  readonly name: string;
  readonly value: Json;
}

/** A structured section without a value, or with an unfit one; the turn does not depend on it. */
export interface SectionError {
  readonly name: string;
  readonly problems: readonly ReplyProblem[];
}

/** The calls or program beside an answer; they run if the answer is not accepted. */
export type Attached =
  | { readonly kind: 'calls'; readonly calls: readonly ToolCall[] }
  | { readonly kind: 'program'; readonly source: string }
  | {
      readonly kind: 'problems';
      readonly problems: readonly ReplyProblem[];
      readonly feedback: readonly FormattedSection[];
    };

/** What every turn has. */
export interface TurnBase {
  /** Section name → number of blocks; empty in modes without sections. */
  readonly blocks: { readonly [name: string]: number };
  /** Structured sections in order of appearance. */
  readonly sections: readonly SectionValue[];
  readonly sectionErrors: readonly SectionError[];
  /** An answer next to calls or a program was dropped. */
  readonly discardedAnswer?: true;
  /** Native calls as the transcript keeps them, in order; empty in modes without them. */
  readonly callParts: readonly ToolCallPart[];
  /** Unusual things about a reply that can still be used. */
  readonly warnings?: readonly { readonly code: string; readonly message: string }[];
}

/** Calls to run, as one batch. */
export interface CallsTurn extends TurnBase {
  readonly kind: 'calls';
  /** At least one. */
  readonly calls: readonly ToolCall[];
}

/** A program to run. */
export interface ProgramTurn extends TurnBase {
  readonly kind: 'program';
  readonly source: string;
  /** The text around it in the reply. */
  readonly reasoning?: string;
}

/** Answers to judge, in order. */
export interface AnswerTurn extends TurnBase {
  readonly kind: 'answer';
  /** At least one. */
  readonly candidates: readonly Candidate[];
  readonly attached: Attached | null;
  /** Set if the whole reply is the candidate, because it has no section. */
  readonly unparsed?: ReplyProblem;
  /** True: the run ends when no candidate is accepted. */
  readonly endsUnlessAccepted?: true;
}

/** Nothing in the reply is run or judged. */
export interface MalformedTurn extends TurnBase {
  readonly kind: 'malformed';
  readonly family: 'format' | 'toolchain' | 'termination';
  /** At least one. */
  readonly problems: readonly ReplyProblem[];
  /** Feedback to the model. Empty if `callAnswers` say it all. */
  readonly feedback: readonly FormattedSection[];
  /** The answer to each of `callParts`. */
  readonly callAnswers: readonly string[];
  /** The agent allows no retry: the run ends. */
  readonly ends: boolean;
  /** The error code of the end; default `unparsable_reply`. */
  readonly endsAs?: 'empty_response' | 'no_code_found' | 'multiple_code_blocks';
}

/** One turn of an agent. */
export type Turn = CallsTurn | ProgramTurn | AnswerTurn | MalformedTurn;

/** The base of a turn in which nothing is unusual. */
export const plainTurn: TurnBase = { blocks: {}, sections: [], sectionErrors: [], callParts: [] };

/** A turn in which nothing is run or judged; the model may try again. */
export function malformedTurn(
  base: TurnBase,
  family: MalformedTurn['family'],
  problems: readonly ReplyProblem[],
  told: Partial<Pick<MalformedTurn, 'feedback' | 'callAnswers'>>,
): MalformedTurn {
  const kind = 'malformed';
  return { ...base, kind, family, problems, feedback: [], callAnswers: [], ends: false, ...told };
}

/** The text of a reply. Pieces separated only by reasoning are joined. */
export function replyText(reply: Reply): string {
  return reply.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
}

/** The calls of our tools in a reply, in order. */
export function callsOf(reply: Reply): readonly NativeCall[] {
  return reply.parts.filter((part) => part.type === 'call');
}

/** Whether the provider stopped at its token limit. */
export function wasCut(reply: Reply): boolean {
  return reply.finishReason === 'length';
}

/** The problem of a reply that asks for nothing. */
export const emptyTurn: ReplyProblem = {
  code: 'empty_turn',
  message: 'the reply holds neither an action nor an answer',
};

/** The code of the problem of a reply that its provider could not use. */
export const UNUSABLE_REPLY = 'unusable_reply';
