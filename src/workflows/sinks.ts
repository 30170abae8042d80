/**
 * What leaves a workflow without entering history: the newest messages, for the cache of the
 * worker, and events, for its listeners. A sink runs at least once, on the worker that ran the
 * code, after the activation and before its completion is sent. Each call is copied out of the
 * workflow's thread, so events go in batches.
 */
import { defined } from '../core/base/defined.ts';
import { proxySinks, type Sinks } from '@temporalio/workflow';
import type { AgentEvent, EventPlace } from '../core/contract/events.ts';
import { newMessages, type RunState } from '../core/run/run-state.ts';
import type { Entry } from '../core/contract/entry.ts';
import type { Message } from '../core/base/message.ts';
import type { TranscriptHead } from '../core/contract/transcript.ts';

/** The messages of an epoch from index `from` on; the head comes with the first of them. */
export interface TranscriptDelta {
  readonly epoch: number;
  readonly from: number;
  readonly head?: TranscriptHead;
  readonly messages: readonly Message[];
}

/** The pages of the link in which a run ended. */
export interface EndedLink {
  readonly runId: string;
  readonly link: number;
  readonly firstEvent: number;
  readonly events: readonly AgentEvent[];
  readonly firstEntry: number;
  readonly entries: readonly Entry[];
}

/** The sinks that a worker offers; `transcript` is also called on replay, to fill a new cache. */
export interface EverloopSinks extends Sinks {
  transcript: { append(delta: TranscriptDelta): void };
  /** `place` says where the run stood when the last of the events was recorded. */
  events: { publish(events: readonly AgentEvent[], place?: EventPlace): void };
  archive: { write(link: EndedLink): void };
  /** What the run waits for differs from what its memo says: the worker sends a signal. */
  waits: { changed(): void };
}

/** The sinks of this workflow. */
export const sinks: EverloopSinks = proxySinks<EverloopSinks>();

/** Sends new messages of the transcript, each once in the life of this workflow instance. */
export function createTranscriptFeed(): (state: RunState) => void {
  let sentEpoch = 0;
  let sentMessages = 0;
  return (state) => {
    const { epoch, length } = state.mark;
    const isNew = epoch !== sentEpoch;
    const from = isNew ? 0 : sentMessages;
    sinks.transcript.append({
      epoch,
      from,
      ...defined({ head: isNew ? state.head : undefined }),
      messages: newMessages(state, from),
    });
    sentEpoch = epoch;
    sentMessages = length;
  };
}
