/** The head and the messages that a request is built from. */
import type { AgentSpec } from './spec.ts';
import type { HistoryTurn } from './input.ts';
import type { JsonObject } from '../base/json.ts';
import type { Message, Task } from '../base/message.ts';

/** What every request of a run needs beside its messages; it heads the pages of a transcript. */
export interface TranscriptHead {
  readonly spec: AgentSpec;
  readonly task: Task;
  readonly context?: JsonObject;
  /** What keys of the context mean, where an earlier Step said so. */
  readonly contextDescriptions?: { readonly [name: string]: string };
  readonly history?: readonly HistoryTurn[];
  /** Definitions that programs of the run begin with, as a model reads them. */
  readonly memory?: readonly { readonly name: string; readonly preview: string }[];
  /** Tools that a search has shown, newest last. */
  readonly discovered?: readonly string[];
}

/** What a model order's reference names. */
export interface TranscriptView {
  readonly head: TranscriptHead;
  readonly messages: readonly Message[];
}
