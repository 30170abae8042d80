/**
 * What the loop orders from its host: model calls, which refer to the transcript, and child runs.
 */
import type { Message } from '../base/message.ts';
import type { SummaryOrder } from './compaction.ts';
import type { AgentInput } from './input.ts';
import type { EarlierTries, SizedOrder, ReadsOrder } from './outcome.ts';
import type { ModelPurpose, ModelRequest, OutputStrategy } from './model.ts';

/** A question that a custom loop asks with messages of its own. */
export interface OwnRequest {
  /** At least one, together at most 1 MB. They are not kept. */
  readonly messages: readonly Message[];
  /** True: after the agent's prompt and conversation. Default: alone, without prompt and tools. */
  readonly conversation?: boolean;
  /** Ids of model entries, in the order in which they are tried; default: the agent's. */
  readonly models?: readonly string[];
}

/** A complete request, for an LLM tool: it needs no transcript. At most 1 MB. */
export type InlineRequest = Pick<
  ModelRequest,
  'mode' | 'messages' | 'schema' | 'tools' | 'toolChoice' | 'cacheUpTo'
>;

/** A model call: who asks, for which part of the transcript, and the options of this call. */
export interface ModelOrder extends EarlierTries, SizedOrder {
  readonly agent: string;
  readonly runId: string;
  /** Run id of the root of the tree; absent if this run is the root. */
  readonly rootRunId?: string;
  /** The tenant of the run; absent: it has none. */
  readonly tenant?: string;
  /** The conversation that the root of the tree is a turn of; absent: none. */
  readonly conversation?: string;
  /** Who spoke to the run last; absent: nobody was named. */
  readonly by?: string;
  readonly agentPath: string;
  /** `seq` of the event that began the call; absent: none did, as in a preview. */
  readonly seq?: number;
  /** The id under which this call can be aborted alone; absent: only with all others. */
  readonly abortId?: string;
  /** The traceparent that the tree was started with; absent: none. */
  readonly traceparent?: string;
  /** Id of the model entry. */
  readonly model: string;
  readonly purpose: ModelPurpose;
  readonly iteration: number;
  /** Attempts in this iteration before this call, fallbacks and repeated questions included. */
  readonly triesBefore: number;
  /** True when the model must answer without calls. */
  readonly lastTurn: boolean;
  /** Milliseconds since 1970, for instructions that name the date. */
  readonly time: number;
  readonly transcript: TranscriptReference;
  /** What an earlier try has of the rate of the model; absent: it was not tried, or has none. */
  readonly rate?: RateTicket;
  /** All that the budgets still pay of its output; absent: as much as the entry allows. */
  readonly maxOutputTokens?: number;
  /** How the output is requested; set when it is requested as JSON. */
  readonly structuredOutput?: OutputStrategy;
  /** Set when a custom loop asks with messages of its own. */
  readonly own?: OwnRequest;
  /** Set when an LLM tool asks. */
  readonly inline?: InlineRequest;
  /** Set when `purpose` is `compaction`: which part of the transcript to summarize. */
  readonly summary?: SummaryOrder;
  /** The reads that may run beside the reply; absent: none. */
  readonly reads?: ReadsOrder;
}

/** A moment that is kept for a request, or how often there was none. */
export interface RateTicket {
  /** In milliseconds since 1970. */
  readonly at?: number;
  /** The estimated tokens that it is for. */
  readonly tokens?: number;
  /** How often the counter did not answer. */
  readonly tries?: number;
  /** When the request first asked for a permit; absent: it has not. */
  readonly since?: number;
  /** What is counted: the tenant of the run; absent: the model. */
  readonly of?: 'tenant';
}

/** A state of the transcript; the digest shows that a reader has the same. */
export interface TranscriptReference {
  readonly epoch: number;
  /** Messages of the epoch that belong to the request; later ones are ignored. */
  readonly length: number;
  readonly digest: string;
}

/** A child run to start. */
export interface ChildOrder {
  /** Its address: that of its parent, a slash and the id of the call, so it is unique. */
  readonly childId: string;
  readonly callId: string;
  readonly input: AgentInput;
}
