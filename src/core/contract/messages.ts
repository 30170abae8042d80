/**
 * What can be said to a running agent and asked of it: names and payloads as plain data. They are a
 * contract with every client and worker that is in flight, so they only grow.
 */
import type { Json, JsonObject } from '../base/json.ts';
import type { BreachOrigin, Limit } from './limit.ts';
import type { Stats } from './stats.ts';
import type { Page, PagePosition } from './page.ts';
import type { LimitsInput } from './input.ts';
import type { Decision } from './pending.ts';
import type { Step, StepStatus, Usage } from './step.ts';

/** Names of the messages, as the service knows them. */
export const MESSAGE_NAMES = {
  send: 'send',
  adjust: 'adjust',
  answer: 'answer',
  decide: 'decide',
  input: 'input',
  cancel: 'cancel',
  status: 'status',
  stats: 'stats',
  transcript: 'transcript',
  events: 'events',
  pending: 'pending',
  program: 'program',
  tree: 'tree',
  /** From a child. */
  progress: 'progress',
  leaseRequest: 'lease-request',
  /** From the parent. */
  leaseGrant: 'lease-grant',
  deadlines: 'deadlines',
} as const;

/** Name of the workflow that runs an agent. */
export const AGENT_WORKFLOW = 'agent';

/** What `send` answers: the place of the input in the order of arrival, from 1. */
export interface SendReceipt {
  readonly position: number;
}

/** Changes to a live run; each field is optional, at least one is set. */
export interface Adjustment {
  /** Replaces the limits with the same keys and keeps the others. */
  readonly limits?: LimitsInput;
  /** `true` pauses before the next iteration, `false` resumes. */
  readonly paused?: boolean;
}

/** What `adjust` answers: how things are now. */
export interface AdjustReceipt {
  readonly limits: readonly Limit[];
  readonly paused: boolean;
}

/** Why a run is canceled; the text reaches its Step. */
export interface CancelPayload {
  readonly message?: string;
}

/** `running`: something is in flight · `waiting`: for a person · `paused` · `ended`. */
export type RunPhase = 'running' | 'waiting' | 'paused' | 'ended';

/** Where a run stands, small enough to poll. */
export interface RunStatus {
  /** Rises with everything that happens: equal versions mean that nothing did. */
  readonly version: number;
  readonly state: RunPhase;
  /** One id for the whole chain of the run. */
  readonly runId: string;
  readonly agent: string;
  readonly iteration: number;
  /** What is in flight or waits: `model gpt-5`, `tool search`, `question q1`, `timer until 2026-03-10T09:00:00.000Z`, … */
  readonly waitsFor: readonly string[];
  readonly usage: Usage;
  /** Inputs that were accepted and are not yet read. */
  readonly unreadInputs: number;
  /** Number of this link of the chain, from 1. */
  readonly link: number;
  /** Set when the run has ended. */
  readonly step?: Step;
}

/** A child run, as the run that started it knows it. */
export interface TreeChild {
  /** Workflow id: the address of the run. */
  readonly id: string;
  readonly agent: string;
  readonly path: string;
  readonly status: 'running' | StepStatus;
  /** Of an ended child. */
  readonly reason?: string;
  /** Of all below it too; of a child that lives as far as it has said. */
  readonly usage: Usage;
}

/** A limit that holds for a run and all below it, and where it is. */
export interface BudgetLine {
  readonly key: string;
  /** `self`, or the ancestor whose limit it is. */
  readonly origin: BreachOrigin;
  /** The limit; of an ancestor's limit the part that was granted. */
  readonly max: number;
  /** By the run and by children as far as they have said. */
  readonly used: number;
  /** For children that live, beyond that. */
  readonly reserved: number;
  readonly free: number;
}

/** One run of a tree: what it knows of itself and of the runs that it has started. */
export interface TreeView {
  readonly agent: string;
  readonly path: string;
  readonly depth: number;
  /** Workflow id of the run above; null for a root. */
  readonly parent: string | null;
  /** Those that live first, then ended ones. */
  readonly children: readonly TreeChild[];
  readonly budgets: readonly BudgetLine[];
}

/** What a run answers of its tree: its view, where it stands, and its statistics. */
export interface TreeAnswer extends TreeView {
  readonly status: Omit<RunStatus, 'step'>;
  readonly stats: Stats;
}

/** What everything has that waits for a person. */
export interface PendingBase {
  /** What `answer` and `decide` take: `q1`; of a run below with the calls that lead there, `1.2/q1`. */
  readonly id: string;
  readonly agent: string;
  readonly path: string;
  /** Workflow id of the run in which it waits; absent: the run that was asked. */
  readonly run?: string;
  /** Milliseconds since 1970. */
  readonly since: number;
  /** When it ends by itself, in milliseconds since 1970. */
  readonly deadline?: number;
}

/** Something that waits for a person, or for somebody outside. */
export type PendingItem = PendingBase &
  (
    | { readonly kind: 'pause' }
    | {
        readonly kind: 'question';
        readonly question: string;
        /** What to choose from: by a label, or by its number from 1. */
        readonly options?: readonly string[];
        /** With options: true when other text is an answer too. */
        readonly free: boolean;
        /** The answer at the deadline when nobody gives one. */
        readonly default?: Json;
        readonly details?: Json;
      }
    | {
        readonly kind: 'approval';
        readonly tool: string;
        readonly args: JsonObject;
        /** What the model wrote beside the call. */
        readonly reasoning?: string;
      }
    | {
        readonly kind: 'external';
        readonly tool: string;
        readonly args: JsonObject;
        readonly details?: Json;
      }
  );

/** Answers a question, or ends outside work. */
export interface AnswerPayload {
  readonly id: string;
  readonly value: Json;
  /** Repeating an id changes nothing. */
  readonly updateId: string;
}

/** Approves, denies or edits a call. */
export interface DecidePayload {
  readonly id: string;
  readonly decision: Decision;
  /** Repeating an id changes nothing. */
  readonly updateId: string;
}

/** What `answer` and `decide` answer: what they have ended. */
export interface AnswerReceipt {
  readonly id: string;
}

/**
 * Which list a page is of. `scratchpad`: the head, then the messages of an epoch, for model
 * activities · `history`: the entries of this link, for people.
 */
export interface TranscriptRequest {
  readonly view: 'scratchpad' | 'history';
  /** Of the scratchpad: another epoch answers `stale`. */
  readonly epoch?: number;
  /** Counts over the whole chain in `history`, over head and messages in `scratchpad`. */
  readonly from: PagePosition;
  readonly maxBytes?: number;
}

/** A page of one link of a chain, and the way to the link before. */
export interface LinkPage extends Page {
  /** Index in the chain of the first item that this link can show. */
  readonly first: number;
  /** Run id of the link before, whose items end where `first` begins; null for the first link. */
  readonly previous: string | null;
  /** True when the epoch is not the run's any more, so that the page is empty. */
  readonly stale?: true;
}

/** Which events: from the event at `from.index`, counted over the whole chain from 0. */
export interface EventsRequest {
  readonly from: PagePosition;
  readonly maxBytes?: number;
}
