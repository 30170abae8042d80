/**
 * What the server of the console and its pages say to each other: the body of each request, each
 * answer, as plain JSON below `/api/v1`. Actions stand in api-actions.ts, frames of the live feed
 * in live-frames.ts. Times are milliseconds since 1970 and durations milliseconds, money is in
 * whole micro-dollars.
 *
 * Ids of runs contain slashes. In a path they are one segment, percent-encoded.
 */
import type { Json, JsonObject } from '../core/base/json.ts';
import type { Message } from '../core/base/message.ts';
import type { AgentDescription } from '../core/streaming/agent-description.ts';
import type { AgentEvent } from '../core/contract/events.ts';
import type { BudgetLine, PendingItem, RunPhase, RunStatus } from '../core/contract/messages.ts';
import type { ProgramView } from '../core/contract/report.ts';
import type { Stats } from '../core/contract/stats.ts';
import type { Step, StepStatus } from '../core/contract/step.ts';
import type { UsageCode } from '../core/base/usage-codes.ts';
import type { RunCounts, RunSummary } from '../client/run-list.ts';
import type { RunLink } from '../client/reading/links.ts';
import type { ProgramSummary } from '../client/programs.ts';
import type { RunStart } from '../client/run-tree.ts';
import type { ConversationTurn } from '../client/turns.ts';
import type { ConversationPlace } from '../core/base/ids.ts';
import type { SetupView } from '../client/setup.ts';
import type { TreeRun } from '../client/tree-run.ts';
import type { AttemptView } from './view/attempts.ts';
import type { IterationView } from './view/iteration-view.ts';
import type { OutlineRow } from './view/outline.ts';
import type { PromptDifference } from './view/prompt.ts';

/** Where all paths of the API begin. */
export const API_PATH = '/api/v1';

/** The most bytes that the body of a request may have. */
export const MAX_REQUEST_BYTES = 2_097_152;

/** Errors of the console itself; the others are those of docs/errors.md. */
export type ConsoleErrorCode =
  /** 401: the request has no token, or a wrong one. */
  | 'unauthorized'
  /** 403: the token may only look, or the request comes from a page of another origin. */
  | 'forbidden'
  /** 421: the request names a host that this console is not. */
  | 'wrong_host'
  /** 404: there is no such path, agent, call or connection. */
  | 'not_found'
  /** 413: the body is larger than {@link MAX_REQUEST_BYTES}. */
  | 'too_large'
  /** 409: somebody has answered the item, or a repeated `requestId` came with another body. */
  | 'conflict'
  /** 501: this version of the client or of the server of the run does not have it. */
  | 'not_recorded'
  /** 503: too much is asked for at once; or the answer took too long, and nothing of it is known. */
  | 'busy'
  /** 500: a bug; the log of the console says more. */
  | 'internal';

/** The body of every answer that is an error. */
export interface ApiError {
  readonly code: UsageCode | ConsoleErrorCode;
  /** Expected, got, what to do. */
  readonly message: string;
}

/** A part of an answer that could not be read, or not in time. */
export interface MissingPart extends ApiError {
  /** Name of the field of the answer: `budgets`, `pending`, … */
  readonly part: string;
}

/** An answer of which parts may be missing. */
export interface PartialAnswer {
  /** Absent: the answer is whole. */
  readonly partial?: readonly MissingPart[];
}

// ---- The console itself

/** `operate` may do everything, `read` may only look. */
export type ConsoleRole = 'operate' | 'read';

/** GET `/meta` */
export interface MetaAnswer {
  /** Version of Everloop. */
  readonly version: string;
  /** `127.0.0.1:7233`; null: the console was not told. */
  readonly address: string | null;
  readonly namespace: string | null;
  /** Temporal's own web UI; null: unknown. */
  readonly temporalUi: string | null;
  readonly role: ConsoleRole;
  /** Who acts, as a proxy names them; null: nobody does. */
  readonly user: string | null;
  readonly abilities: {
    /** `pushed` by workers where they can; the live feed says for each run how they come. */
    readonly events: 'pushed' | 'polled';
    /** Whether the console was given definitions, which previews of first requests need. */
    readonly agents: boolean;
    /** Whether `/workers` knows pollers. */
    readonly workers: boolean;
  };
  /** The clock of the server, for relative times. */
  readonly at: number;
}

/** GET `/setup` */
export type SetupAnswer = SetupView;

/** A process that polls for work. */
export interface WorkerView {
  /** As the service names it: `1234@machine`. */
  readonly identity: string;
  /** What it asks the service for. */
  readonly takes: readonly ('workflows' | 'activities')[];
  /** Empty: the console was not told. */
  readonly taskQueue: string;
  /** When it last asked for work. A process that died stays listed for minutes. */
  readonly lastContact: number;
  readonly build?: string;
}

/** GET `/workers` */
export interface WorkersAnswer extends PartialAnswer {
  /** On which this console starts runs, and whose workers these are; null: it was not told. */
  readonly taskQueue: string | null;
  readonly workers: readonly WorkerView[];
}

// ---- Lists

/** One line of the list of runs. */
export interface RunRow extends Pick<
  RunSummary,
  'id' | 'agent' | 'conversation' | 'task' | 'state' | 'parent' | 'root'
> {
  readonly startedAt: number;
  /** Null for a live run. */
  readonly closedAt: number | null;
  /** How it ended, if the list knows it. */
  readonly status?: StepStatus;
}

/**
 * GET `/runs?q&agent&schedule&tenant&state&roots&below&since&cursor&limit`; the state `limit`: ended at a limit;
 * `below`: the id of a run of which all runs below are wanted.
 */
export interface RunsAnswer extends PartialAnswer {
  /** Newest first. */
  readonly rows: readonly RunRow[];
  /** Gives the next rows; null: there are no more. */
  readonly cursor: string | null;
  /** Of all runs that fit the filter, whatever their state; null: it could not be counted. */
  readonly counts: RunCounts | null;
}

/** What a row shows beside what the list knows. */
export interface RunProgress {
  readonly id: string;
  /** `silent`: it is live, and no worker answers for it. */
  readonly state: RunPhase | 'silent';
  readonly iteration: number;
  readonly tokens: number;
  readonly costMicroUsd: number;
  /** The limit of which the largest part is used; null: there is none. */
  readonly tightest: BudgetLine | null;
  readonly waitsFor: readonly string[];
  /** Number of the runs that it started. */
  readonly children: number;
  readonly status?: StepStatus;
}

/** GET `/runs/progress?id=…&id=…`, at most 60 ids. */
export interface ProgressAnswer extends PartialAnswer {
  /** In the order of the ids; those that could not be read are missing. */
  readonly runs: readonly RunProgress[];
}

/** One thing that waits for a person, with its run. */
export interface InboxRow {
  /** Id of the run. */
  readonly run: string;
  readonly agent: string;
  readonly task: string;
  readonly item: PendingItem;
  /** Set if long parts of `item` are cut or left out: `pending` of GET `/runs/:id` has it whole. */
  readonly isCut?: true;
}

/** GET `/inbox` */
export interface InboxAnswer extends PartialAnswer {
  /** Oldest first. */
  readonly items: readonly InboxRow[];
  /** Ids of runs that wait for more than `items` has, of which no worker says for what. */
  readonly silent: readonly string[];
  /** Number of runs that wait and are left out, because they are too many. */
  readonly more: number;
}

// ---- Agents

/** A tool of an agent. */
export interface ToolCard {
  readonly name: string;
  readonly description: string;
  readonly effect?: string;
  /** Whether a person may have to approve its calls. */
  readonly approval?: boolean;
  readonly schema?: Json;
}

/** What the console knows of an agent. */
export interface AgentCard extends Omit<AgentDescription, 'tools'> {
  readonly tools: readonly ToolCard[];
  /** Whether the console has its definition, so that it can show the first request. */
  readonly hasPreview: boolean;
  /** How many workers serve it in this version; absent: the console was given its definition. */
  readonly workers?: number;
  /** How many versions of it workers serve; this is that of most. Absent: one. */
  readonly versions?: number;
  /** The task queue of its workers, if it is not that on which this console starts runs. */
  readonly elsewhere?: string;
}

/** GET `/agents` */
export interface AgentsAnswer extends PartialAnswer {
  /** By name. */
  readonly agents: readonly AgentCard[];
}

/** GET `/agents/:name` */
export interface AgentAnswer extends PartialAnswer {
  readonly agent: AgentCard;
}

/** POST `/agents/:name/preview` */
export interface PreviewRequest {
  readonly task?: string;
  readonly context?: JsonObject;
}

/** The first request that the agent would send. */
export interface PreviewAnswer {
  readonly messages: readonly Message[];
  readonly tools: readonly ToolCard[];
}

// ---- One run

/** How the run ended, without the data of its Step. */
export type StepHead = Pick<
  Step,
  'status' | 'reason' | 'message' | 'usage' | 'iterations' | 'exceededLimit' | 'children'
>;

/** What the header of a run's page shows. */
export interface RunHeader {
  readonly id: string;
  readonly agent: string;
  /** At most 4,000 characters. */
  readonly task: string;
  /** `planner/2/writer`: writer, started in planner's iteration 2; empty while it is silent. */
  readonly path: string;
  /** 0 for a root. */
  readonly depth: number;
  /** Id of the run above; null for a root, and while it is silent. */
  readonly parent: string | null;
  /** The conversation that the run is; absent: it is none. */
  readonly conversation?: ConversationPlace;
  /** The run that it is a fork of, and the iteration before which it began; null: not known. */
  readonly forkedFrom?: { readonly run: string; readonly iteration: number | null };
  /** Null: unknown. */
  readonly startedAt: number | null;
  /** `silent`: it is live, and no worker answers for it. */
  readonly state: RunPhase | 'silent';
  /** Null while it is silent. */
  readonly status: Omit<RunStatus, 'step'> | null;
  /** Null while the run lives, and for a run that ended without a Step. */
  readonly step: StepHead | null;
  /** Limits with their use, tightest first. */
  readonly budgets: readonly BudgetLine[];
  readonly pending: readonly PendingItem[];
  /** Number of the runs that it started and that live; 0 while it is silent. */
  readonly liveChildren: number;
  /** Number of the last event that this header has seen; live frames continue from it. */
  readonly lastSeq: number;
}

/** GET `/runs/:id` */
export interface RunHeaderAnswer extends PartialAnswer {
  readonly run: RunHeader;
}

/** A turn of a conversation, as pages show it. */
export interface TurnRow extends Pick<
  ConversationTurn,
  'number' | 'messageId' | 'by' | 'text' | 'startedAt' | 'replaced' | 'expired'
> {
  /** Messages that it read after its first. */
  readonly more: readonly { readonly messageId: string; readonly text: string }[];
  /** Number of its first iteration. */
  readonly iteration: number;
  /** Null while it goes on, and when it is forgotten. */
  readonly step: StepHead | null;
  /** The answer. */
  readonly value: Json;
}

/** GET `/runs/:id/turns?last`: the newest turns of a conversation, default 20, at most 100. */
export interface TurnsAnswer {
  /** Oldest first. */
  readonly turns: readonly TurnRow[];
}

/** GET `/runs/:id/events?from&limit&types` */
export interface EventsAnswer extends PartialAnswer {
  readonly events: readonly AgentEvent[];
  /** The `from` of the next page; null: there is nothing more so far. */
  readonly next: number | null;
  /** Number of events of the run so far; null: unknown. */
  readonly total: number | null;
}

/** GET `/runs/:id/iterations?from&count`: without `from`, those at the end; at most 100. */
export interface IterationsAnswer extends PartialAnswer {
  /** By number; 0 is what comes before the first. */
  readonly iterations: readonly IterationView[];
  /** Number of the last event in them; live frames continue from it. */
  readonly lastSeq: number;
}

/** GET `/runs/:id/outline` */
export interface OutlineAnswer extends PartialAnswer {
  readonly rows: readonly OutlineRow[];
  readonly lastSeq: number;
}

/** GET `/runs/:id/spans?from&until`: attempts of the calls in iterations `from` to before `until`. */
export interface SpansAnswer extends PartialAnswer {
  /** By the time of their order. */
  readonly attempts: readonly AttemptView[];
}

/** GET `/runs/:id/calls/:callId` */
export interface CallAnswer extends PartialAnswer {
  readonly callId: string;
  readonly tool: string;
  readonly args: Json;
  /** Null: it has not ended, or has no result. */
  readonly output: Json;
  readonly error?: string;
  /** True: the run no longer has the whole, so `args` or `output` are cut. */
  readonly isCut: boolean;
}

/** GET `/runs/:id/tree?depth`: without `depth`, all levels below. */
export interface TreeRunsAnswer extends PartialAnswer {
  /** Each before its children. */
  readonly runs: readonly TreeRun[];
}

/** GET `/runs/:id/program?program`: without an id, the current program or the newest. */
export interface ProgramAnswer extends PartialAnswer {
  /** Null: the run has had no program, or none of this id. */
  readonly program: ProgramView | null;
}

/** GET `/runs/:id/programs` */
export interface ProgramsAnswer extends PartialAnswer {
  /** Oldest first. */
  readonly programs: readonly ProgramSummary[];
}

/** GET `/runs/:id/scratchpad`: what the next model call sees. */
export interface ScratchpadAnswer extends PartialAnswer, PromptDifference {
  readonly messages: readonly Message[];
  readonly tools: readonly ToolCard[];
  /** Estimated tokens of each message. */
  readonly tokens: readonly number[];
  /** Estimated tokens of the declaration of each tool. */
  readonly toolTokens: readonly number[];
  /** True: functions of the agent write parts of it, which only a worker can call. */
  readonly isPartial: boolean;
}

/** GET `/runs/:id/links` */
export interface LinksAnswer extends PartialAnswer {
  /** Oldest first. */
  readonly links: readonly RunLink[];
}

/** GET `/runs/:id/stats` */
export interface StatsAnswer extends PartialAnswer {
  /** Null: no worker answers. */
  readonly stats: Stats | null;
  /** What the run was started with. */
  readonly startedWith: RunStart | null;
  readonly step: Step | null;
}
