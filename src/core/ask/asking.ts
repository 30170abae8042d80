/** A question to models: what it is for, and what it says. */
import type { SummaryOrder } from '../contract/compaction.ts';
import type { ModelPurpose, OutputStrategy } from '../contract/model.ts';
import type { RunState } from '../run/run-state.ts';
import type { InlineRequest, OwnRequest } from '../contract/host-order.ts';

/** What an iteration remembers of its questions. */
export interface Tries {
  /** Attempts for replies so far, over fallbacks and repeated questions. */
  count: number;
  /** Whether a request was already too long once, so that a compaction was forced. */
  isForced: boolean;
  /** The highest index of the reads beside replies that were thrown away; 0: there were none. */
  lostReads: number;
}

/** The question of an LLM tool. Its form depends on the model and on what the model refused. */
export interface InlineAsking {
  readonly callId: string;
  /** With an undefined strategy, only text is requested. */
  readonly request: (strategy: OutputStrategy | undefined) => InlineRequest;
  /** Whether a JSON output is requested. */
  readonly asksForOutput: boolean;
  /** Whether the question can be aborted alone, by the id of its call. */
  readonly isSeparate: boolean;
}

/** A question: what it is for, and which models get it. */
export interface Asking {
  readonly purpose: ModelPurpose;
  /** Ids of model entries in the order in which they are tried. */
  readonly models: readonly string[];
  /** Messages of the scratchpad that it is about, for the event. */
  readonly messages: number;
  /** A request that a custom loop wrote itself. */
  readonly own?: OwnRequest | undefined;
  /** The question of an LLM tool. */
  readonly inline?: InlineAsking;
  /** What to summarize, for the purpose `compaction`. */
  readonly summary?: SummaryOrder;
  readonly tries: Tries;
  /** True: reads may run beside the reply. */
  readonly reads?: true;
}

/** The ids of `named` models in the order in which they are asked: first the one that a person chose. */
export function askedModels({ model }: RunState, named: readonly string[]): readonly string[] {
  return model === undefined ? named : [model, ...named.filter((id) => id !== model)];
}
