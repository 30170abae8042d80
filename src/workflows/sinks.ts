/**
 * What leaves a workflow without entering history: the newest messages, for the cache of the
 * worker, and events, for its listeners. A sink runs at least once, on the worker that ran the
 * code, after the activation and before its completion is sent. Each call is copied out of the
 * workflow's thread, so events go in batches.
 */
import { defined } from '../core/base/defined.ts';
import { proxySinks, workflowInfo, type Sinks } from '@temporalio/workflow';
import type { AgentEvent, EventPlace } from '../core/contract/events.ts';
import { PROBE_QUEUE, PROBE_WORKFLOW, READ_MEMO } from '../core/contract/messages.ts';
import type { ProbedCall, StateProbe } from '../core/run/host.ts';
import type { LinkAnswers } from '../core/fork/link-answers.ts';
import { newMessages, type RunState } from '../core/run/run-state.ts';
import type { Entry } from '../core/contract/entry.ts';
import type { Message } from '../core/base/message.ts';
import { failureOf } from './failures.ts';
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
  /** Called in replays that look for states; `workflows`: see `ActivityRuntime`. */
  probe: {
    boundary(state: RunState, workflows: string | undefined): void;
    call(call: ProbedCall): void;
    child(child: { readonly callId: string; readonly agent: string }): void;
    /** Called in replays that read the run; the lists go on where those before ended. */
    answers(answers: LinkAnswers): void;
  };
  /** The run cancels its calls, or only that with `abortId`: activities of this process hear it. */
  cancels: { tell(abortId?: string): void };
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

/**
 * Whether a worker replays the run for its states, under a type of that name: the very function of
 * its runs, with the hook of `probeOf` in it. Sinks are no commands, so every history replays so.
 */
function isProbe(): boolean {
  return workflowInfo().workflowType === PROBE_WORKFLOW;
}

/** @throws ApplicationFailure `invalid_input` for a probe that the service runs. */
export function refuseProbe(): void {
  if (!isProbe()) return;
  const { taskQueue, unsafe } = workflowInfo();
  // The queue of a replay is a name that the worker of the replay makes up.
  const isReplay = unsafe.isReplaying || readFrom() !== null;
  if (isReplay && taskQueue.startsWith(PROBE_QUEUE)) return;
  throw failureOf(
    'invalid_input',
    'Expected a run of `agent`, got one of `agentProbe`, which is for replays only. Start `agent`.',
  );
}

/** From which length of its history on a probe tells what it answers; null: it is not read. */
export function readFrom(): number | null {
  const from = isProbe() ? workflowInfo().memo?.[READ_MEMO] : undefined;
  return typeof from === 'number' ? from : null;
}

/** The probe of this workflow; undefined unless it is replayed for its states. */
export function probeOf(workflows: string | undefined): StateProbe | undefined {
  if (!isProbe() || readFrom() !== null) return undefined;
  return {
    boundary: (state) => sinks.probe.boundary(state, workflows),
    call: (call) => sinks.probe.call(call),
    child: (child) => sinks.probe.child(child),
  };
}
