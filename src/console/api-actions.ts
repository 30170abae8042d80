/**
 * The actions of the console: the body of each POST, and the answer. A repeated `requestId` does
 * nothing again, and gets the same answer.
 */
import type { Json, JsonObject } from '../core/base/json.ts';
import type { ForkOptions } from '../core/base/fork.ts';
import type { LimitsInput } from '../core/contract/input.ts';
import type { MediaPart } from '../core/base/message.ts';
import type { InputKind } from '../core/contract/events.ts';
import type { Limit } from '../core/contract/limit.ts';
import type { Decision } from '../core/contract/pending.ts';

/** What every action has. */
export interface ActionRequest {
  /** Chosen by the page, one for each click: 8 to 100 letters, digits, `-` and `_`. */
  readonly requestId: string;
}

/** POST `/runs` */
export interface StartRequest extends ActionRequest {
  readonly agent: string;
  readonly task: string;
  /** Images and files of the task. */
  readonly media?: readonly MediaPart[];
  readonly context?: JsonObject;
  readonly limits?: LimitsInput;
  readonly model?: string;
  /** Default: the agent and the `requestId`. */
  readonly id?: string;
}

/** POST `/runs/:id/send` */
export interface SendRequest extends ActionRequest {
  readonly text: string;
  /** Default `queue`. */
  readonly kind?: InputKind;
  /** Also to all runs below. */
  readonly tree?: boolean;
}

/** POST `/runs/:id/pause` and `/resume` */
export interface PauseRequest extends ActionRequest {
  readonly tree?: boolean;
}

/** POST `/runs/:id/cancel` */
export interface CancelRunRequest extends ActionRequest {
  readonly reason?: string;
  /** The service ends it at once, without a Step. */
  readonly force?: boolean;
}

/** POST `/runs/:id/adjust` */
export interface AdjustRequest extends ActionRequest {
  readonly limits: LimitsInput;
}

/** POST `/runs/:id/answer` */
export interface AnswerRequest extends ActionRequest {
  /** As `pending` names it. */
  readonly id: string;
  readonly value: Json;
}

/** POST `/runs/:id/decide` */
export interface DecideRequest extends ActionRequest {
  readonly id: string;
  readonly decision: Decision;
}

/** POST `/conversations/:id/say`: the id of the conversation, which a page may choose. */
export interface SayRequest extends ActionRequest {
  readonly agent: string;
  /** Whose conversation it is. */
  readonly tenant?: string;
  readonly text: string;
}

/** POST `/runs/:id/fork` */
export interface ForkRequest extends ActionRequest, ForkOptions {
  /** The iteration before which the new run begins. */
  readonly at: number;
  readonly task?: string;
  readonly context?: JsonObject;
  readonly model?: string;
  readonly limits?: LimitsInput;
  /** Another agent, with `definition: 'current'`. */
  readonly agent?: string;
  /** Default: the source's root, `-fork-` and the `requestId`. */
  readonly id?: string;
}

/** POST `/schedules/:id/pause` and `/resume`; `/trigger` and `/delete` have no field. */
export interface SchedulePauseRequest extends ActionRequest {
  /** At most 1,000 characters. Default: `paused by hand`, `resumed by hand`. */
  readonly note?: string;
}

/** The answer to an action. */
export interface ActionAnswer {
  readonly requestId: string;
  /**
   * Id of the run: for `start` and `fork`, of the new one; for `say`, of the conversation; of a
   * schedule, its id; the tenant.
   */
  readonly run: string;
  /** Of `trigger`: the run that it started; null: none, because another one runs. */
  readonly started?: string | null;
  /** Of `send`: its place in the order of arrival, from 1; null: no worker has taken it yet. */
  readonly position?: number | null;
  /** Of `adjust`, `pause` and `resume`: what holds now. */
  readonly limits?: readonly Limit[];
  readonly paused?: boolean;
  /** Of `answer` and `decide`: the item that it ended. */
  readonly item?: string;
  /** Of `answer` and `decide`: it is accepted, and no worker has applied it yet. */
  readonly unapplied?: true;
}
