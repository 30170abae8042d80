/** The head and the messages from which a request is built. */
import type { AgentSpec } from './spec.ts';
import type { HistoryTurn } from './input.ts';
import type { JsonObject } from '../base/json.ts';
import type { FoundTool, Message, Task } from '../base/message.ts';

/** What every request of a run needs besides its messages; it heads the pages of a transcript. */
export interface TranscriptHead {
  readonly spec: AgentSpec;
  readonly task: Task;
  readonly context?: JsonObject;
  /** Descriptions of keys of the context that came with an earlier Step. */
  readonly contextDescriptions?: { readonly [name: string]: string };
  readonly history?: readonly HistoryTurn[];
  /** Definitions that the run's programs begin with, as a model reads them. */
  readonly memory?: readonly { readonly name: string; readonly preview: string }[];
  /** Tools that searches have shown, in the order in which they were first shown. */
  readonly discovered?: readonly string[];
  /** Those of them that the specification has only as stubs; absent: none. */
  readonly found?: readonly FoundTool[];
}

/** The transcript that the reference in a model order identifies. */
export interface TranscriptView {
  readonly head: TranscriptHead;
  readonly messages: readonly Message[];
}
