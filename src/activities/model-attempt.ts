/**
 * One attempt of a model call, and what its heartbeats say. The first layer of the activity: those inside
 * it get the attempt, and add what they know.
 *
 * What attempts used that were lost with their worker, nobody reports. So it is estimated: the prompt, and
 * what had been written by the last heartbeat.
 *
 * I1  Only what a heartbeat says is known of a lost attempt. If there was none, the workflow charges
 *     the prompt (core/attempt/model-attempts.ts).
 * I2  While the service repeats an activity, it keeps only the last heartbeat. So each one also says
 *     what the attempts before it lost.
 * I3  What is written until the next heartbeat would be lost unseen. So each one also counts what
 *     half of that time will bring at the pace so far: the estimate is right on average.
 * I4  Once the reply is whole and only reads beside it are open, each heartbeat has the reply. If the
 *     worker is lost then, the workflow takes the reply from there, and nobody pays for it twice.
 */
import { defined } from '../core/base/defined.ts';
import { byteSize, type Json } from '../core/base/json.ts';
import type { RunInfo } from '../core/calls/run-info.ts';
import { requestTokens, textTokens } from '../core/ask/context-tokens.ts';
import { estimatedUsage } from '../core/model/estimated-usage.ts';
import type { ModelOrder } from '../core/contract/host-order.ts';
import type { UnfailedOutcome } from '../core/contract/host-outcome.ts';
import type { EstimatedUsage, ModelRequest, NativeCall } from '../core/contract/model.ts';
import type { BesideRead } from '../core/contract/outcome.ts';
import type { TranscriptView } from '../core/contract/transcript.ts';
import type { CalledEntry } from '../define/model/model-entry.ts';
import { NO_WATCH, type AttemptNotes, type CallObserver } from '../telemetry/call-observer.ts';
import type { HeartbeatDetails } from './activity-types.ts';
import type { HeardCancels } from './heard-cancels.ts';
import { queueMs, withHeartbeat, type BeatMoment, type Beating } from './heartbeat.ts';
import { triesOf, usedBy, type AttemptNumber } from './tries.ts';

/** An attempt of a model call. */
export interface ModelAttempt extends Beating {
  readonly order: ModelOrder;
  readonly tries: AttemptNumber;
  /** What it and the attempts before it have used that nobody reports. */
  readonly used: () => EstimatedUsage | undefined;
  /** The provider is about to be asked: heartbeats say so from now on. */
  readonly onRequest: (entry: CalledEntry, request: ModelRequest) => void;
  /** A piece of the reply has come. */
  readonly onText: (text: string) => void;
  /** From now on, heartbeats have the whole reply: later ones repeat it, since the last one counts. */
  readonly keep: (outcome: UnfailedOutcome, ended: () => readonly BesideRead[]) => void;
}

/** An attempt whose worker has what it needs. */
export interface FoundAttempt extends ModelAttempt {
  readonly notes: AttemptNotes;
  readonly entry: CalledEntry;
  /** The transcript; null: the order has its whole request. */
  readonly view: TranscriptView | null;
}

/** An attempt and its request. */
export interface AskedAttempt extends FoundAttempt {
  readonly request: ModelRequest;
  /** What functions of the agent may know of the run. */
  readonly info: RunInfo;
  /** Its number in the iteration, which tells its chunks from those of others. */
  readonly number: number;
  /** Gets each call of the reply, and its index from 0, once its arguments are whole. */
  readonly onCall: (call: NativeCall, index: number) => void;
}

/** Bytes of JSON of a reply that a heartbeat carries: a larger one is asked for again. */
const MAX_KEPT_BYTES = 262_144;

/** Makes an attempt in the current activity, with heartbeats until it ends. */
export function beating(
  cancels: HeardCancels | undefined,
  order: ModelOrder,
  next: (attempt: ModelAttempt) => Promise<UnfailedOutcome>,
): Promise<UnfailedOutcome> {
  const tries = triesOf(order);
  const { attempt: attempts, added } = tries;
  const used = openUsage(added.estimated);
  let kept: (() => object) | null = null;
  const keep: ModelAttempt['keep'] = (outcome, ended) => {
    if (byteSize(outcome as unknown as Json) > MAX_KEPT_BYTES) return;
    kept = () => {
      const reads = ended();
      return { kept: reads.length === 0 ? outcome : { ...outcome, reads } };
    };
  };
  const run = ({ signal, beat }: Beating): Promise<UnfailedOutcome> => {
    const onRequest: ModelAttempt['onRequest'] = (entry, request) => {
      // A heartbeat that said otherwise is out of date: a loss would not be charged.
      if (used.onRequest(entry, request)) beat();
    };
    const { onText } = used;
    return next({
      order,
      tries,
      signal,
      beat,
      used: () => usedBy(used.now()),
      onRequest,
      onText,
      keep,
    });
  };
  return withHeartbeat(run, {
    details: { attempts, ...defined({ losses: added.losses }) },
    more: (moment) => ({ ...used.beat(moment), ...kept?.() }),
    ...defined({ cancels }),
    abortId: order.abortId,
  });
}

/** What an attempt uses while it runs: nothing yet. `lost`: by earlier attempts of its activity. */
function openUsage(lost: EstimatedUsage | undefined) {
  type Used = Pick<HeartbeatDetails, 'asked' | 'lost' | 'isEntry'>;
  let ask: ((outputTokens: number) => EstimatedUsage) | null = null;
  let written = 0;
  let firstTextAt = 0;
  let hasBeaten = false;
  const ahead = (ms: number): number =>
    written === 0 ? 0 : (written / Math.max(ms, performance.now() - firstTextAt)) * ms;
  return {
    now: (): Used => defined({ asked: ask?.(Math.ceil(written)), lost }),
    /** What the next heartbeat says. */
    beat: ({ isEntry, aheadMs }: BeatMoment): Used => {
      hasBeaten ||= ask === null;
      const asked = ask?.(Math.ceil(written + ahead(aheadMs)));
      return defined({ asked, lost, isEntry: isEntry ? true : undefined });
    },
    /** Returns whether a heartbeat has said that the provider was not asked. */
    onRequest: ({ price }: CalledEntry, request: ModelRequest): boolean => {
      // Most calls end before their first heartbeat, and a long conversation takes a while to count.
      let promptTokens: number | undefined;
      ask = (outputTokens) =>
        estimatedUsage((promptTokens ??= requestTokens(request)), outputTokens, price);
      return hasBeaten;
    },
    onText: (text: string): void => {
      if (written === 0) firstTextAt = performance.now();
      written += textTokens(text);
    },
  };
}

/** Makes an attempt in its span: telemetry is told what happens in it. */
export function watched(
  watch: CallObserver = NO_WATCH,
  { order, tries }: ModelAttempt,
  next: (notes: AttemptNotes) => Promise<UnfailedOutcome>,
): Promise<UnfailedOutcome> {
  const attempt = { order, attempt: tries.attempt + tries.losses, queueMs: queueMs() };
  return watch.model(attempt, next);
}
