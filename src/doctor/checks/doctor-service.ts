/** The service, as checks ask it. Each question has a deadline, and each list has a bound. */
import type { DeploymentStatus } from '../../versioning/fleet.ts';
import type { WorkerVersion } from '../../versioning/worker-version.ts';

/** Open runs that are described at most, newest first. */
export const MAX_OPEN = 200;

/** Open runs that are asked something of their own at most. */
export const MAX_ASKED = 50;

/** A process that polls a task queue. */
export interface SeenWorker {
  /**
   * `4711@host/node-22/everloop-0.1.0/4f2a9c1/1a2b3c4d`; workers of other origin have any other
   * form.
   */
  readonly identity: string;
  /** Null: it is of no version. */
  readonly version: WorkerVersion | null;
  /** `1.24.0`, of a worker in TypeScript without a version; null: the service does not say. */
  readonly sdk: string | null;
  /** Milliseconds since 1970, by the clock of the service. */
  readonly seenAt: number;
}

/** An open run, as the service describes it. */
export interface OpenRun {
  readonly id: string;
  readonly agent: string;
  /** Whether its memo says that it waits for a person. */
  readonly waitsForPerson: boolean;
  /** Of the present link. */
  readonly events: number;
  readonly bytes: number;
  /** The workflow task that waits for a worker or is at one; null: none. */
  readonly task: {
    /** From 1; more: the attempts before failed or were lost. */
    readonly attempt: number;
    /** Milliseconds since 1970. */
    readonly scheduledAt: number;
    readonly isStarted: boolean;
  } | null;
}

/** What a run says of itself. */
export interface RunAnswer {
  readonly waitsFor: readonly string[];
  readonly unreadInputs: number;
  /** What waits for a person until a moment: its id, and the moment in milliseconds since 1970. */
  readonly deadlines: readonly { readonly id: string; readonly deadline: number }[];
}

/** What the newest workflow tasks of a run were told about handing over. */
export interface HandoverAdvice {
  /** Whether the last one was told to hand over. */
  readonly isDue: boolean;
  /** Since when each one was, as far as the newest 1,000 events show; null: the last one was not. */
  readonly since: number | null;
}

/** By how many milliseconds the clock of this machine is ahead of the service's; below 0: behind. */
export interface ClockBounds {
  /** At least so many; null: not known. */
  readonly least: number | null;
  /** At most so many; null: not known. */
  readonly most: number | null;
}

/** How many runs the checks looked at. */
export interface RunsSeen {
  /** Open ones, as the service counts them; null: it does not say. */
  readonly open: number | null;
  /** The newest ones, which the service described. */
  readonly described: number;
  /** Those of them that were asked what they wait for. */
  readonly asked: number;
}

/** The service, as checks ask it. */
export interface DoctorService {
  readonly namespace: string;
  /** How long the service keeps runs that have ended; null: it does not say. */
  retentionMs(): Promise<number | null>;
  /** How far the clocks are apart, as the polls of the workers of this queue show. */
  clock(queue: string): Promise<ClockBounds>;
  /** Types of the search attributes that the namespace was given, by name; null: it does not say. */
  searchAttributes(): Promise<ReadonlyMap<string, string> | null>;
  /** Processes that polled this queue for this kind of task within the last minutes. */
  workers(queue: string, kind: 'workflows' | 'activities'): Promise<readonly SeenWorker[]>;
  /** The newest open runs, at most {@link MAX_OPEN}. */
  openRuns(): Promise<readonly OpenRun[]>;
  /** Why the last failed workflow task of a run failed; null: none did. */
  taskFailure(id: string): Promise<string | null>;
  /** What the service tells a run about handing over; null: no task has begun. */
  handoverAdvice(id: string): Promise<HandoverAdvice | null>;
  /**
   * What runs without a workflow task say, the newest {@link MAX_ASKED} of them, by id. A run that
   * no worker answers for is missing.
   */
  answers(): Promise<ReadonlyMap<string, RunAnswer>>;
  deployment(): Promise<DeploymentStatus>;
  /** What has been looked at so far. */
  seen(): Promise<RunsSeen>;
}
