/** A reply, read: what the model wants done, and all that was noticed on the way. Plain data. */
import type { Json } from '../base/json.ts';
import type { FormattedSection, ToolCall, ToolCallPart } from '../base/message.ts';
import type { Reply } from './model.ts';
import type { Problem } from '../base/problem.ts';
import type { Candidate } from './judgement.ts';

/** A value of a structured section; whether it fits its schema is checked elsewhere. */
export interface SectionValue {
  readonly name: string;
  readonly value: Json;
}

/** A structured section that has no value, or one that does not fit; it decides nothing. */
export interface SectionError {
  readonly name: string;
  readonly problems: readonly Problem[];
}

/** What stands beside an answer that is judged first; it is run when the answer is not accepted. */
export type Attached =
  | { readonly kind: 'calls'; readonly calls: readonly ToolCall[] }
  | { readonly kind: 'program'; readonly source: string }
  | {
      readonly kind: 'problems';
      readonly problems: readonly Problem[];
      readonly feedback: readonly FormattedSection[];
    };

/** What every turn has. */
export interface TurnBase {
  /** Section name → number of blocks; empty in modes without sections. */
  readonly blocks: { readonly [name: string]: number };
  /** Structured sections in order of appearance. */
  readonly sections: readonly SectionValue[];
  readonly sectionErrors: readonly SectionError[];
  /** An answer stood beside calls or a program and was dropped. */
  readonly discardedAnswer?: true;
  /** Native calls as the transcript keeps them, in order; empty in modes without. */
  readonly callParts: readonly ToolCallPart[];
  /** What is odd about the reply, though it can be used. */
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
  /** What stands around it in the reply. */
  readonly reasoning?: string;
}

/** Answers to judge, in order. */
export interface AnswerTurn extends TurnBase {
  readonly kind: 'answer';
  /** At least one. */
  readonly candidates: readonly Candidate[];
  readonly attached: Attached | null;
  /** Set when the whole reply is the candidate, because no section was found in it. */
  readonly unparsed?: Problem;
}

/** Nothing of the reply is run or judged. */
export interface MalformedTurn extends TurnBase {
  readonly kind: 'malformed';
  readonly family: 'format' | 'toolchain' | 'termination';
  /** At least one. */
  readonly problems: readonly Problem[];
  /** What the model is told. Empty when `callAnswers` say it all. */
  readonly feedback: readonly FormattedSection[];
  /** One for each of `callParts`: what is answered to it. */
  readonly callAnswers: readonly string[];
  /** The agent wants no retry: the run ends as `unparsable_reply`. */
  readonly ends: boolean;
  /** As what it ends; default `unparsable_reply`. */
  readonly endsAs?: 'empty_response' | 'no_code_found' | 'multiple_code_blocks';
}

/** One turn of an agent. */
export type Turn = CallsTurn | ProgramTurn | AnswerTurn | MalformedTurn;

/** A turn with nothing noticed on the way. */
export const plainTurn: TurnBase = { blocks: {}, sections: [], sectionErrors: [], callParts: [] };

/** The text of a reply; pieces between which the model only thought are put together. */
export function replyText(reply: Reply): string {
  return reply.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
}

/** Whether the provider stopped at its token limit. */
export function wasCut(reply: Reply): boolean {
  return reply.finishReason === 'length';
}

/** The problem of a reply in which there is nothing to do. */
export const emptyTurn: Problem = {
  code: 'empty_turn',
  message: 'the reply holds neither an action nor an answer',
};
