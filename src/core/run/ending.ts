/** How a run ends, and how an iteration is left before its end. */
import type { Json } from '../base/json.ts';
import type { Breach } from '../contract/limit.ts';
import type { KeptTurn } from './kept-turn.ts';
import type { Step } from '../contract/step.ts';

/** Why a run is over; `stepOf` makes the Step of it. */
export type Ending =
  | {
      readonly kind: 'success';
      readonly value: Json;
      readonly passedOn?: PassedOn;
      /** Why a conversation has ended: somebody closed it, or nobody spoke. Absent: an answer. */
      readonly reason?: 'closed' | 'idle';
      /** A plain value became the answer, because no turn was left. */
      readonly fallbackUsed?: true;
    }
  | {
      readonly kind: 'canceled';
      readonly reason: string;
      readonly message: string;
      /** Who canceled the run, as the sender states it. */
      readonly by?: string;
    }
  | { readonly kind: 'limit_exceeded'; readonly breach: Breach }
  | {
      readonly kind: 'error';
      readonly code: string;
      readonly cause: string;
      readonly details?: Json;
      /** People read `cause` as it is, without a prefix: a program or a pipeline wrote it. */
      readonly isVerbatim?: true;
    }
  | { readonly kind: 'compaction_failed'; readonly cause: string };

/** The fields of a Step that come from another run, whose value it passes on. */
export type PassedOn = Partial<
  Pick<Step, 'mode' | 'signature' | 'fieldDescriptions' | 'memory' | 'notes'>
>;

/**
 * Why an iteration is left in the middle. `stopped`: the caller finds a cancel or a breach ·
 * `interrupted`: an input must be read first · `handover`: the run waits only for people, and the
 * next link continues this turn · `failed`, `compaction_failed`: the run ends this way.
 */
export type Leave =
  | { readonly kind: 'stopped' }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'handover'; readonly turn: KeptTurn }
  | {
      readonly kind: 'failed';
      readonly code: string;
      readonly cause: string;
      readonly details?: Json;
      readonly isVerbatim?: true;
    }
  | { readonly kind: 'compaction_failed'; readonly cause: string };

/**
 * An error that carries `leave` through code that does not know it, such as a custom loop. One
 * place catches it, `runLoop`.
 */
export function leaving(leave: Leave): Error {
  return Object.assign(new Error(`The iteration was left: ${leave.kind}.`), { leave });
}

/** What {@link leaving} put into `error`, or undefined for any other error. */
export function leaveOf(error: unknown): Leave | undefined {
  return error instanceof Error && 'leave' in error ? (error.leave as Leave) : undefined;
}
