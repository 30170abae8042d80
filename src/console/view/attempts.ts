/** Attempts of calls, as the service's history tells of them: when, on which worker, how they ended. */
import { defined } from '../../core/base/defined.ts';
import { durationText } from './amounts.ts';

/** One attempt of an activity. */
export interface AttemptView {
  readonly work: 'model' | 'tool' | 'judge' | 'other';
  readonly iteration: number;
  /** The call of a tool; absent for a model. */
  readonly callId?: string;
  /** From 1, over workers that were lost and attempts that failed. */
  readonly attempt: number;
  /** When the service had it to give, in milliseconds since 1970. */
  readonly scheduledAt: number;
  /** When a worker took it; absent: it waits for one, or the service did not record it. */
  readonly startedAt?: number;
  /** Absent while it runs. */
  readonly endedAt?: number;
  /** The worker's identity, as `15401@host`. */
  readonly worker?: string;
  /** `lost`: its worker died, stalled or stopped. Absent: it did its work, or still may. */
  readonly outcome?: 'lost' | 'failed';
  /** Why it was lost or failed, in the words of the service: `activity Heartbeat timeout`. */
  readonly reason?: string;
}

/** The part of a call in which work was lost: from its schedule to the attempt that went on. */
export interface LostTime {
  readonly from: number;
  /** Absent: no worker has gone on yet. */
  readonly to?: number;
  /** `worker 15401 lost: heartbeat timeout`. */
  readonly note: string;
  /** Number of the attempt that was lost; 0: none is known as lost, but no worker answers. */
  readonly attempt: number;
  /** How many attempts before it were lost too; absent: none. */
  readonly earlier?: number;
  /** When the service noticed; absent: it is not known. */
  readonly noticedAt?: number;
  /** Name of the worker that was lost; absent: it is not known. */
  readonly worker?: string;
  /** `heartbeat timeout`; empty: it is not known. */
  readonly reason: string;
  /** Name of the worker that went on. */
  readonly nextWorker?: string;
}

/** Of which call `attempts` are asked: a call of a tool, or the model calls of an iteration. */
export interface CallPlace {
  readonly iteration: number;
  readonly callId?: string;
  readonly from: number;
  readonly to?: number;
}

/** The attempts of one call, in order. */
export function attemptsOf(
  attempts: readonly AttemptView[],
  { iteration, callId, from, to = Infinity }: CallPlace,
): readonly AttemptView[] {
  return attempts
    .filter((each) =>
      callId === undefined
        ? each.callId === undefined && each.work === 'model' && each.iteration === iteration
        : each.callId === callId,
    )
    .filter(({ scheduledAt }) => scheduledAt >= from - SKEW_MS && scheduledAt <= to)
    .toSorted((a, b) => a.attempt - b.attempt);
}

/** Times of events are those of workflow tasks, times of attempts those of the server. */
const SKEW_MS = 2_000;

/** The lost part of a call with `attempts`; null: nothing was lost. */
export function lostTimeOf(attempts: readonly AttemptView[]): LostTime | null {
  const lost = attempts.findLast(({ outcome }) => outcome === 'lost');
  if (lost === undefined) return null;
  const [first = lost] = attempts;
  const next = attempts.find(({ attempt }) => attempt > lost.attempt);
  const reason = (lost.reason ?? '').replace(/^activity\s+/i, '').toLowerCase();
  const worker = nameOf(lost.worker);
  const earlier = attempts.filter(({ outcome }) => outcome === 'lost').length - 1;
  const note = [`${worker === undefined ? 'worker' : `worker ${worker}`} lost`, reason];
  return {
    from: first.scheduledAt,
    note: note.filter(Boolean).join(': '),
    attempt: lost.attempt,
    reason,
    ...defined({
      earlier: earlier === 0 ? undefined : earlier,
      to: next?.startedAt,
      noticedAt: lost.endedAt,
      worker,
      nextWorker: nameOf(next?.worker),
    }),
  };
}

function nameOf(identity: string | undefined): string | undefined {
  return identity === undefined ? undefined : workerName(identity);
}

/** What was lost, when and why, and how the call went on; `clock` writes a moment. */
export function lossText(lost: LostTime, clock: (at: number) => string): string {
  const { attempt, earlier = 0, from, to, noticedAt, worker, reason, nextWorker } = lost;
  const name = worker === undefined ? 'its worker' : `worker ${worker}`;
  const noticed =
    noticedAt === undefined ? '' : `, which the service noticed at ${clock(noticedAt)}`;
  const first = `Attempt ${attempt} was lost: ${whyText(name, reason)}${noticed}.${earlierText(earlier)}`;
  if (to === undefined) return `${first} The call waits for another worker.`;
  const next = nextWorker === undefined ? 'Another worker' : `Worker ${nextWorker}`;
  const later = durationText(to - from);
  return `${first} ${next} went on at ${clock(to)}, ${later} after the call began. Only this call was repeated.`;
}

function earlierText(count: number): string {
  if (count === 0) return '';
  return count === 1 ? ' So was the one before.' : ` So were ${count} before.`;
}

function whyText(worker: string, reason: string): string {
  if (reason === '') return `${worker} was lost`;
  return /heartbeat/.test(reason)
    ? `${worker} stopped answering (${reason})`
    : `${worker} was lost (${reason})`;
}

/** `15401` of `15401@host`. */
export function workerName(identity: string): string {
  return identity.split('@')[0] ?? identity;
}
