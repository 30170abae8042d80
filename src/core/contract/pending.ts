/**
 * What a run waits for: questions, approvals, outside work. One mechanism: an item in the state,
 * listed by `pending`, ended by one answer, its deadline, or the end of the run.
 *
 * I1  Items are plain JSON in the run's state, so they outlive every process and every hand-over.
 * I2  An item ends once. Later answers are refused and change nothing.
 * I3  An answer is checked before it is accepted, so the loop only sees answers that fit.
 */
import type { Json, JsonObject } from '../base/json.ts';
import type { CallInput, CallResume } from './call-input.ts';
import type { ToolResult } from './outcome.ts';

/** Ended items that are kept, newest last, to tell a late answer from a wrong id. */
const MAX_SETTLED_ITEMS = 200;

/** What every item has. */
export interface ItemBase {
  /** `q1`, `q2`, … for a question; otherwise the id of the call. */
  readonly id: string;
  /** The call that waits. A call waits for one thing at a time. */
  readonly callId: string;
  /** Milliseconds since 1970. */
  readonly since: number;
  /** When it ends without an answer; absent: it waits forever. */
  readonly deadline?: number;
  /** From `since` to `deadline`. */
  readonly timeoutMs?: number;
}

/** A question to a person. */
export interface QuestionItem extends ItemBase {
  readonly kind: 'question';
  readonly question: string;
  /** Labels to choose from, an answer is one or its number from 1; absent: any text is one. */
  readonly options?: readonly string[];
  /** With options: whether any other text is accepted too. */
  readonly free: boolean;
  /** Further data for the person. */
  readonly details?: Json;
  /** The answer at the deadline if none was given. */
  readonly default?: Json;
  /** Set if a tool or its server asks. */
  readonly input?: OpenInput;
}

/** The questions of a tool or its server in a call, of which people answer one after another. */
export interface OpenInput {
  /** How often it has asked in this call, from 1. */
  readonly round: number;
  /** The request that is asked now. */
  readonly key: string;
  readonly asked: CallInput;
  readonly responses: CallResume['responses'];
  /** The arguments with which a person replaced the model's. */
  readonly edited?: JsonObject;
  /** What the call has reported so far, kept for its end. */
  readonly begun: ToolResult;
  /** The tool has asked before it begins. */
  readonly asks?: true;
}

/** A call that a person approves, denies or edits before it runs. */
export interface ApprovalItem extends ItemBase {
  readonly kind: 'approval';
  readonly tool: string;
  readonly args: JsonObject;
  /** The MCP server whose tool it is. */
  readonly server?: string;
  /** What the model wrote beside the call; cut to 2 KB. */
  readonly reasoning?: string;
}

/** Outside work that a tool has begun. */
export interface ExternalItem extends ItemBase {
  readonly kind: 'external';
  readonly tool: string;
  readonly args: JsonObject;
  readonly details?: Json;
  /** The result so far, kept for the end of the call and not shown. */
  readonly begun: ToolResult;
  /** Whether a person changed the arguments. */
  readonly edited?: true;
}

/** Something that waits. */
export type WaitingItem = QuestionItem | ApprovalItem | ExternalItem;

/** An item that has ended. */
export interface SettledItem {
  readonly id: string;
  readonly kind: WaitingItem['kind'];
}

/** For which later calls of the run an approval holds too: all of the tool, or those with equal arguments. */
export type ApprovalScope = 'tool' | 'arguments';

/** What a person decides about a call. */
export type Decision =
  | {
      readonly approve: true;
      /** Later calls begin without being asked for. Default: none do. */
      readonly remember?: ApprovalScope;
    }
  | { readonly deny: string }
  | { readonly args: JsonObject };

/** An approval that holds for later calls of the run. */
export interface StandingApproval extends StatedActor {
  /** The id of the call for which it was given. */
  readonly id: string;
  readonly tool: string;
  /** Only calls with exactly these arguments; absent: all of the tool. */
  readonly args?: JsonObject;
  /** Milliseconds since 1970. */
  readonly since: number;
}

/** Who sends a message. */
export interface StatedActor {
  /**
   * Who does this, 1 to 200 characters, kept in the event. A statement of the sender, which nobody
   * checks; default: nobody is named.
   */
  readonly by?: string;
}

/** How an answer or a decision is sent. */
export interface AnswerOptions extends StatedActor {
  /** Repeating an id has no effect and is no error; default: a new id. */
  readonly updateId?: string;
}

/** What ends an item: the value for a question or outside work, or a decision. */
export type AnswerBody =
  | { readonly kind: 'answer'; readonly value: Json }
  | { readonly kind: 'decision'; readonly decision: Decision };

/** An accepted answer; `updateId` makes a repetition harmless. */
export type PersonAnswer = AnswerBody &
  StatedActor & {
    readonly id: string;
    readonly updateId: string;
    /** Set if it came before its item did: when, in milliseconds since 1970. */
    readonly early?: number;
  };

/**
 * Why an answer is refused. `item_unknown`: nothing of that id has ever waited here · `item_settled`: it
 * was ended before · `invalid_input`: the answer does not fit.
 */
export type AnswerProblem = 'item_unknown' | 'item_settled' | 'invalid_input';

/** A valid answer, or why it is refused, in one sentence. */
export type AnswerCheck =
  | {
      readonly kind: 'fits';
      readonly body: AnswerBody;
      /** The call has not said yet that it waits for this. */
      readonly isEarly?: true;
    }
  | { readonly kind: 'refused'; readonly code: AnswerProblem; readonly message: string };

/** What an answer is checked against: what waits, and what has ended. */
export interface WaitingItems {
  /** Bytes of JSON in an answer: as many as a tool may return. Default: without a blob store. */
  readonly maxBytes?: number;
  readonly pending?: readonly WaitingItem[];
  readonly settled?: readonly SettledItem[];
  /** The approvals that hold for later calls. */
  readonly standing?: readonly StandingApproval[];
  /** Ids of calls in progress, whose outside work may end before they say that there is any. */
  readonly begun?: readonly string[];
}

/** `1 John Smith, 2 John Doe`: options as a person may refer to them. */
export function numberedOptions(options: readonly string[]): string {
  return options.map((label, index) => `${index + 1} ${label}`).join(', ');
}

/** `items` with `item`. It replaces the item of the same call, since a call waits for one thing. */
export function withItem(items: readonly WaitingItem[], item: WaitingItem): readonly WaitingItem[] {
  return [...items.filter(({ callId }) => callId !== item.callId), item];
}

/** The newest of `settled` and `item`. */
export function withSettled(
  settled: readonly SettledItem[],
  { id, kind }: WaitingItem,
): readonly SettledItem[] {
  return [...settled, { id, kind }].slice(-MAX_SETTLED_ITEMS);
}

/** `question q3`, `approval 2.1`, `external 2.1` */
export function nameOf({ kind, id }: SettledItem): string {
  return `${kind} ${id}`;
}
