/**
 * The messages to and queries of a running agent: names and payloads as plain data. Every client
 * and worker in flight depends on them, so they may only grow.
 */
import type { Json } from '../base/json.ts';
import type { BreachOrigin, Limit } from './limit.ts';
import type { Stats } from './stats.ts';
import type { Page, PagePosition } from './page.ts';
import type { ForkOrigin } from '../base/fork.ts';
import type { ConversationView } from './conversation.ts';
import type { LimitsInput } from './input.ts';
import type {
  ApprovalItem,
  Decision,
  ExternalItem,
  ItemBase,
  QuestionItem,
  StandingApproval,
  StatedActor,
} from './pending.ts';
import type { Step, StepStatus, Usage } from './step.ts';

/** Names of the messages, as the service knows them. */
export const MESSAGE_NAMES = {
  send: 'send',
  adjust: 'adjust',
  answer: 'answer',
  decide: 'decide',
  retry: 'retry',
  input: 'input',
  cancel: 'cancel',
  /** To a conversation. */
  say: 'say',
  close: 'close',
  place: 'place',
  status: 'status',
  stats: 'stats',
  transcript: 'transcript',
  events: 'events',
  pending: 'pending',
  program: 'program',
  tree: 'tree',
  view: 'view',
  iteration: 'iteration',
  /** From a child. */
  progress: 'progress',
  leaseRequest: 'lease-request',
  /** From the parent. */
  leaseGrant: 'lease-grant',
  deadlines: 'deadlines',
  /** From a worker. */
  overrun: 'overrun',
  heldWorker: 'held-worker',
  /** From a worker: say in lists for what the run waits. */
  listWaits: 'list-waits',
  /** From an operator: look again whether a hand-over is due. */
  nudge: 'nudge',
} as const;

/** Name of the workflow that runs an agent. */
export const AGENT_WORKFLOW = 'agent';

/**
 * Name of the same workflow when a worker replays a history to get the states of a run. The service
 * runs none of this type.
 */
export const PROBE_WORKFLOW = 'agentProbe';

/** How the task queue of such a replay begins. No worker polls it. */
export const PROBE_QUEUE = 'everloop-probe-';

/** The memo with which a probe is read: what it answers from that length of its history on. */
export const READ_MEMO = 'everloopReadFrom';

/** Name of the workflow that looks at a moment of a run. */
export const MOMENT_WORKFLOW = 'readMoment';

/** The reply to `send`: the place of the input in the order of arrival, from 1. */
export interface SendReceipt {
  readonly position: number;
}

/** Changes to a live run; each field is optional, at least one is set. */
export interface Adjustment extends StatedActor {
  /** Replaces the limits with the same keys and keeps the others. */
  readonly limits?: LimitsInput;
  /** `true` pauses before the next iteration, `false` resumes. */
  readonly paused?: boolean;
  /** The id of a standing approval that is to hold no more. */
  readonly revoke?: string;
}

/** The reply to `adjust`: the current settings. */
export interface AdjustReceipt {
  readonly limits: readonly Limit[];
  readonly paused: boolean;
}

/** Why a run is canceled; the text is part of its Step. */
export interface CancelPayload extends StatedActor {
  readonly message?: string;
  /** Only the turn of a conversation with this number, if it is open. */
  readonly turn?: number;
}

/**
 * Work that the SDK has cut off several times in a row. `seq` is the number of the last event
 * before it, which identifies the work.
 */
export interface Overrun {
  readonly work: 'reply' | 'check' | 'program' | 'loop';
  readonly seq: number;
}

/** A call whose tool kept its worker from sending heartbeats, so that the service gave it up. */
export interface HeldWorker {
  readonly callId: string;
  /** Whole milliseconds for which no heartbeat could be sent. */
  readonly heldMs: number;
}

/** Has a call tried again that waits for an operator. */
export interface RetryPayload {
  readonly callId: string;
}

/** The reply to `retry`: the call that is tried again. */
export interface RetryReceipt {
  readonly callId: string;
}

/** `running`: something is in flight · `waiting`: for a person · `paused` · `ended`. */
export type RunPhase = 'running' | 'waiting' | 'paused' | 'ended';

/** Where a run stands, small enough to poll. */
export interface RunStatus {
  /** Rises with every change: equal versions mean that nothing happened. */
  readonly version: number;
  readonly state: RunPhase;
  /** One id for the whole chain of the run. */
  readonly runId: string;
  readonly agent: string;
  readonly iteration: number;
  /** What is in flight or waits: `model gpt-5`, `tool search`, `question q1`, `timer until …`, … */
  readonly waitsFor: readonly string[];
  readonly usage: Usage;
  /** Inputs that were accepted and are not yet read. */
  readonly unreadInputs: number;
  /**
   * Ids of calls whose outside work was reported as ended before they said that there is any; absent:
   * none. Each report ends its call as soon as the tool returns `external()`.
   */
  readonly endedEarly?: readonly string[];
  /** The approvals that hold for later calls, oldest first; absent: none. */
  readonly approvals?: readonly StandingApproval[];
  /** Number of this link of the chain, from 1. */
  readonly link: number;
  /** Number of events so far, over the whole chain. */
  readonly events: number;
  /** Number of entries of the transcript so far, over the whole chain. */
  readonly entries: number;
  /** The limit on cost, while it is the default; absent: it was set or lifted, or there is none. */
  readonly defaultLimits?: readonly Limit[];
  /**
   * Set when no worker answered for a run that is alive: it was read from its history, as of the event
   * of the newest link with this number.
   */
  readonly asOf?: number;
  /** The turns of a conversation; absent: the run is none. */
  readonly conversation?: ConversationView;
  /** Set when the run has ended. */
  readonly step?: Step;
  /** Set when the service closed the run before it could end by itself; then there is no Step. */
  readonly closed?: 'terminated' | 'timed_out' | 'canceled' | 'failed';
}

/** A child run, as its parent knows it. */
export interface TreeChild {
  /** Workflow id: the address of the run. */
  readonly id: string;
  readonly agent: string;
  readonly path: string;
  readonly status: 'running' | StepStatus;
  /** Set when the child has ended. */
  readonly reason?: string;
  /** Includes its descendants; for a live child as of its last report. */
  readonly usage: Usage;
}

/** A limit that holds for a run and its descendants, and its current use. */
export interface BudgetLine {
  readonly key: string;
  /** `self`, or the ancestor whose limit it is. */
  readonly origin: BreachOrigin;
  /** True: the limit is a default. */
  readonly byDefault?: true;
  /** The limit; for an ancestor's limit the part that was granted. */
  readonly max: number;
  /** By the run itself and, as of their last reports, by its children. */
  readonly used: number;
  /** Reserved for live children, beyond `used`. */
  readonly reserved: number;
  readonly free: number;
}

/** One run of a tree: its own data and those of its children. */
export interface TreeView {
  readonly agent: string;
  readonly path: string;
  readonly depth: number;
  /** Workflow id of the parent; null for a root. */
  readonly parent: string | null;
  /** Live children first, then ended ones. */
  readonly children: readonly TreeChild[];
  readonly budgets: readonly BudgetLine[];
}

/** A run's answer about its tree: its view, its phase and its statistics. */
export interface TreeAnswer extends TreeView {
  readonly status: Omit<RunStatus, 'step'>;
  readonly stats: Stats;
}

/** What a page about one run shows, in one answer. */
export interface RunOverview extends TreeView {
  readonly status: RunStatus;
  readonly stats: Stats;
  /** Empty for an ended run: its first event and those of type `agent:adjusted` have them. */
  readonly limits: readonly Limit[];
  /** Oldest first. */
  readonly pending: readonly PendingItem[];
}

/** The fields of everything that waits for a person. */
export interface PendingBase {
  /** The id that `answer` and `decide` take: `q1`; in a run below, with its calls, `1.2/q1`. */
  readonly id: string;
  readonly agent: string;
  readonly path: string;
  /** Workflow id of the run in which it waits; absent: the run that was asked. */
  readonly run?: string;
  /** Milliseconds since 1970. */
  readonly since: number;
  /** When it ends without an answer, in milliseconds since 1970. */
  readonly deadline?: number;
}

/** Something that waits for a person or for outside work. */
export type PendingItem = PendingBase &
  (
    | { readonly kind: 'pause' }
    | Omit<QuestionItem, keyof ItemBase | 'input'>
    | Omit<ApprovalItem, keyof ItemBase>
    | Omit<ExternalItem, keyof ItemBase | 'begun' | 'edited'>
  );

/** Answers a question, or ends outside work. */
export interface AnswerPayload extends StatedActor {
  readonly id: string;
  readonly value: Json;
  /** Repeating an id changes nothing. */
  readonly updateId: string;
}

/** Approves, denies or edits a call. */
export interface DecidePayload extends StatedActor {
  readonly id: string;
  readonly decision: Decision;
  /** Repeating an id changes nothing. */
  readonly updateId: string;
}

/** The reply to `answer` and `decide`: the item they ended. */
export interface AnswerReceipt {
  readonly id: string;
  /**
   * The message is accepted and not yet applied: no worker took it, and the service keeps it for the
   * next one. If the run then refuses it, an event `agent:warning` says why.
   */
  readonly unapplied?: true;
}

/**
 * Which list is requested. `scratchpad`: the head, then the messages of an epoch, for model
 * activities · `history`: the entries of this link, for people · `state`: the state of the run, as the
 * only item, for the archive of a hand-over.
 */
export interface TranscriptRequest {
  readonly view: 'scratchpad' | 'history' | 'state';
  /** Epoch of the scratchpad; if the run has another one, the answer is `stale`. */
  readonly epoch?: number;
  /** Its index counts over the whole chain in `history`, over head and messages in `scratchpad`. */
  readonly from: PagePosition;
  readonly maxBytes?: number;
  /** At most this many items. */
  readonly limit?: number;
}

/** A page of one link of a chain, and a reference to the link before. */
export interface LinkPage extends Page {
  /** Index in the chain of the first item that this link can show. */
  readonly first: number;
  /** Run id of the link before, whose items end where `first` begins; null for the first link. */
  readonly previous: string | null;
  /**
   * The source of a fork, in a page of its first link: the run, its id, and the link with the moment.
   * Its items end where `first` begins.
   */
  readonly forkedFrom?: Omit<ForkOrigin, 'iteration'>;
  /** True if the epoch is no longer the run's, so that the page is empty. */
  readonly stale?: true;
}

/** Requests the events from index `from.index` on, counted from 0 over the whole chain. */
export interface EventsRequest {
  readonly from: PagePosition;
  readonly maxBytes?: number;
  /** At most this many events. */
  readonly limit?: number;
}
