/**
 * The tree of an ECMAScript pattern: the nodes of the language's engine, and what that engine does
 * not have.
 */
import type { Ranges } from '../../lisp/regex/char-set.ts';
import type { Assertion } from '../../lisp/regex/syntax.ts';

/** One piece of a pattern. */
export type PatternNode =
  | { readonly kind: 'empty' }
  | { readonly kind: 'set'; readonly ranges: Ranges }
  | { readonly kind: 'assert'; readonly assertion: Assertion }
  | { readonly kind: 'sequence'; readonly items: readonly PatternNode[] }
  | { readonly kind: 'choice'; readonly items: readonly PatternNode[] }
  | { readonly kind: 'group'; readonly index: number; readonly item: PatternNode }
  | {
      readonly kind: 'repeat';
      readonly item: PatternNode;
      readonly min: number;
      /** -1: no limit. */
      readonly max: number;
      readonly lazy: boolean;
      /** The capturing groups inside, by number: the first, and the one after the last. */
      readonly groups: readonly [from: number, to: number];
    }
  | {
      readonly kind: 'look';
      readonly behind: boolean;
      readonly negative: boolean;
      readonly item: PatternNode;
    }
  | { readonly kind: 'back'; readonly groups: readonly number[] };

/** A pattern that was read. */
export interface PatternTree {
  readonly root: PatternNode;
  /** Capturing groups. */
  readonly groupCount: number;
  /** Whether it looks around or refers back, which the linear engine cannot do. */
  readonly isIrregular: boolean;
  readonly refersBack: boolean;
}

/** A pattern that is not supported; the message completes "Expected …". */
export class PatternError extends Error {
  override readonly name = 'PatternError';
}
