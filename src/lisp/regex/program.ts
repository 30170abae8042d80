/**
 * A compiled pattern: plain data that both matchers read.
 *
 * `code` has four numbers for each instruction: the opcode, two operands and the *memo number*. An
 * instruction that can be reached from more than one other has a memo number from 0. The
 * backtracking matcher executes it at most once for each place of the text, so its work stays
 * linear.
 *
 * | opcode            | operands              | meaning                                           |
 * | ----------------- | --------------------- | ------------------------------------------------- |
 * | `OP.MATCH`        |                       | the pattern has matched                           |
 * | `OP.UNIT`         | unit                  | the next UTF-16 unit is this one                  |
 * | `OP.SET`          | set                   | the next character is in the set                  |
 * | `OP.SPLIT`        | target, other         | go on at the target; if that fails, at the other  |
 * | `OP.JUMP`         | target                | go on there                                       |
 * | `OP.SAVE`         | slot                  | keep this place as a start or end of a group      |
 * | `OP.ASSERT`       | assertion             | go on if it holds here                            |
 * | `OP.RUN`          | set, first            | as many of the set as possible, then fewer        |
 * | `OP.LAZY_RUN`     | set, first            | as few of the set as possible, then more          |
 * | `OP.ATOMIC_RUN`   | set                   | as many as possible; fewer would never match      |
 *
 * `first` is the number of the set of characters that can follow a run, or -1 when it is not known.
 * All other instructions go on at the next one.
 */

import type { CharSet } from './char-set.ts';

/** Numbers per instruction in `code`. */
export const STRIDE = 4;
/** The opcodes; the table at the top of this file says what each does. */
export const OP = {
  MATCH: 0,
  UNIT: 1,
  SET: 2,
  SPLIT: 3,
  JUMP: 4,
  SAVE: 5,
  ASSERT: 6,
  RUN: 7,
  LAZY_RUN: 8,
  ATOMIC_RUN: 9,
} as const;

/** A compiled pattern. Plain JSON that depends on `source` only, so a snapshot keeps the source. */
export interface Regex {
  readonly source: string;
  /** Capturing groups, without the whole match. */
  readonly groupCount: number;
  /** By group number, from 0 for the whole match: the name, or `null`. */
  readonly groupNames: readonly (string | null)[];
  /** The text of a pattern that is plain text, else `null`. */
  readonly literal: string | null;
  /** Whether the program only takes single characters and at most one run at its end. */
  readonly straight: boolean;
  /** The text that every match begins with; empty when none is known. */
  readonly prefix: string;
  /** The characters that a match can begin with; `null` when it can be empty or begin with any. */
  readonly first: CharSet | null;
  /** Whether a match can only begin at the start of the text. */
  readonly anchored: boolean;
  readonly code: readonly number[];
  readonly sets: readonly CharSet[];
  /** How many memo numbers `code` uses. */
  readonly memoCount: number;
}

/** The result of a search. */
export interface RegexMatch {
  /**
   * The whole match, then the groups; `null` for a group that took no part. The list is `null` when
   * nothing matches.
   */
  readonly groups: readonly (RegexSpan | null)[] | null;
  /** The work: about one for each instruction tried at a place of the text. Deterministic. */
  readonly steps: number;
  /** The search ended because it would need more than the allowed steps. */
  readonly exhausted?: true;
}

/** A part of the text, in UTF-16 units, the end exclusive. */
export interface RegexSpan {
  readonly start: number;
  readonly end: number;
}

/** The input of a matcher. */
export interface RegexSearch {
  readonly regex: Regex;
  readonly text: string;
  readonly from: number;
  /** Whether only a match from `from` to the end of the text counts. */
  readonly full: boolean;
  readonly maxSteps: number;
}

/** The groups of a match. The start and end of group n are in slots 2n and 2n + 1. */
export function groupsOf(slots: readonly number[]): (RegexSpan | null)[] {
  const groups: (RegexSpan | null)[] = [];
  for (let slot = 0; slot < slots.length; slot += 2) {
    const start = slots[slot] ?? -1;
    const end = slots[slot + 1] ?? -1;
    groups.push(start < 0 || end < 0 ? null : { start, end });
  }
  return groups;
}
