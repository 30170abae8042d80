/**
 * Callbacks: what a run tells an address on the web, as it is recorded and as it is sent. The
 * payload follows Standard Webhooks 1.0 (https://www.standardwebhooks.com): `type`, `timestamp`
 * and `data`, signed in headers.
 */

/** The types of callbacks, each with the event of a run that it tells of. */
export const CALLBACK_EVENTS = {
  'question.asked': 'agent:question:asked',
  'approval.requested': 'agent:approval:requested',
  'external.begun': 'agent:external:begun',
  'limit.reached': 'agent:limit_exceeded',
  'turn.ended': 'agent:turn:after',
  'run.ended': 'agent:execution:after',
} as const;

/** The `type` of a callback. */
export type CallbackType = keyof typeof CALLBACK_EVENTS;

/** All types, in the order of the table. */
export const CALLBACK_TYPES = Object.keys(CALLBACK_EVENTS) as readonly CallbackType[];

/** The types that say that a run waits for people or outside work. A child run sends these too. */
export const WAITING_TYPES: readonly CallbackType[] = [
  'question.asked',
  'approval.requested',
  'external.begun',
];

/** Where and about what a run calls back, as a user writes it. */
export interface CallbackInput {
  /** `http` or `https`, at most 2,000 characters, without a user name or password. */
  readonly url: string;
  /** Default: all types. */
  readonly events?: readonly CallbackType[];
  /** True: the text of questions is sent too. Default false: only ids, names and states. */
  readonly content?: boolean;
}

/** What `onEvent` takes: one callback, or up to {@link MAX_CALLBACKS}. */
export type OnEventInput = CallbackInput | readonly CallbackInput[];

/** Each of them costs a request for each event, so a few are enough. */
export const MAX_CALLBACKS = 4;

/** Long enough for every address in use; it is recorded with each callback. */
export const MAX_CALLBACK_URL = 2_000;

/** A callback as it is recorded with the specification of a run. */
export interface CallbackSpec {
  readonly url: string;
  readonly events: readonly CallbackType[];
  readonly content?: true;
}

/** The body of a callback: JSON of at most a few KB. */
export interface CallbackBody {
  readonly type: CallbackType;
  /** When the event was recorded, as ISO 8601. */
  readonly timestamp: string;
  readonly data: CallbackData;
}

/** What a callback says. Absent fields do not apply to its type. */
export interface CallbackData {
  /** The id of the run: `everloop.attach(run)`. */
  readonly run: string;
  /** The id of the run at the root of its tree; equal to `run` for a root. */
  readonly root: string;
  readonly agent: string;
  /** The number of the event in the run; absent if the run ended before its first event. */
  readonly seq?: number;
  readonly iteration: number;
  /** What waits: pass it to `answer` or `decide`. */
  readonly id?: string;
  /** The tool of an approval or of outside work. */
  readonly tool?: string;
  /** The question, at most 2 KB; only with `content`. */
  readonly question?: string;
  /** The statistic whose limit was reached, and that limit. */
  readonly limit?: { readonly key: string; readonly max: number };
  /** The turn of a conversation that has ended, from 1. */
  readonly turn?: number;
  /** How the run or the turn ended. */
  readonly status?: string;
  readonly reason?: string;
}

/** One callback to deliver. */
export interface CallbackMessage {
  /** The same on every attempt: receivers know by it what they have had. */
  readonly id: string;
  readonly url: string;
  readonly body: CallbackBody;
}

/** Name of the workflow that delivers callbacks. */
export const CALLBACK_WORKFLOW = 'deliverCallbacks';

/** The argument of that workflow, version 1. */
export interface CallbackOrder {
  readonly v: 1;
  readonly messages: readonly CallbackMessage[];
}
