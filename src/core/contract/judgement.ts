/** The answers that were read from a reply, and the verdict on them. */
import type { Json } from '../base/json.ts';
import type { FormattedSection } from '../base/message.ts';
import type { ReplyProblem } from '../base/problem.ts';

/** One answer block: a value to be checked, or text that could not be read. */
export type Candidate =
  | { readonly kind: 'value'; readonly value: Json }
  | { readonly kind: 'unreadable'; readonly problems: readonly ReplyProblem[] };

/** What the guards of an agent say of a text that a model is about to see. */
export type GuardVerdict =
  | { readonly kind: 'passed' }
  /** `guard`: the last of those that wrote another text. */
  | { readonly kind: 'rewritten'; readonly guard: string; readonly text: string }
  | { readonly kind: 'blocked'; readonly guard: string; readonly reason: string };

/**
 * The verdict on the answers of a turn. `continue`: there was no candidate · `unfit`: none could be
 * used · `rejected`: by a validator · `accepted`: the run ends with `value`.
 */
export type Judgement =
  | { readonly kind: 'continue' }
  | {
      readonly kind: 'unfit';
      /** Problems of unreadable blocks; counted and recorded. */
      readonly problems: readonly ReplyProblem[];
      /** Lines for all blocks in order, as the model reads them. */
      readonly lines: readonly string[];
    }
  | {
      readonly kind: 'rejected';
      readonly validator: string;
      /** Empty when the validator gave none. */
      readonly feedback: readonly FormattedSection[];
      /** What the validator saw. */
      readonly value: Json;
    }
  | { readonly kind: 'accepted'; readonly value: Json };
