/** What a check of `everloop doctor` is: it looks at a part of the world, and says what is wrong. */
import type { Environment } from '../../client/temporal-environment.ts';
import type { DeploymentStatus } from '../../versioning/fleet.ts';
import type { WorkerConfig } from '../../worker/config/config.ts';

/** A part of what is checked. */
export type CheckArea = 'server' | 'fleet' | 'runs' | 'settings' | 'packages';

/** Something that is wrong. */
export interface DoctorProblem {
  /** `error`: runs stand still or will be lost · `warning`: they may. */
  readonly severity: 'error' | 'warning';
  /** What was expected, and what was found. */
  readonly message: string;
  /** What to do. */
  readonly advice: string;
  /** Does it, with `--fix`. */
  readonly fix?: () => Promise<void>;
}

/** A check. It reads only. */
export interface DoctorCheck {
  /** `failing-tasks`; stable. */
  readonly code: string;
  readonly area: CheckArea;
  find(world: DoctorWorld): Promise<readonly DoctorProblem[]>;
}

/** What checks look at; tests replace it. */
export interface DoctorWorld {
  readonly env: Environment;
  /** Absolute path of the project. */
  readonly cwd: string;
  readonly config: WorkerConfig;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Null: none answers, and `noServer` says why. */
  readonly service: DoctorService | null;
  readonly noServer: string;
  /** Whether the C library of this machine is one that a worker's native part loads with. */
  readonly hasLibc: boolean;
}

/** A process that polls a task queue. */
export interface SeenWorker {
  /** `4711@host/everloop-0.1.0/4f2a9c1/1a2b3c4d`; workers of other origin have any other form. */
  readonly identity: string;
  /** Milliseconds since 1970. */
  readonly seenAt: number;
}

/** An open run, as the service describes it. */
export interface OpenRun {
  readonly id: string;
  readonly agent: string;
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

/** The service, as checks ask it. */
export interface DoctorService {
  readonly namespace: string;
  /** How long the service keeps runs that have ended; null: it does not say. */
  retentionMs(): Promise<number | null>;
  /** Processes that polled this queue for this kind of task within the last minutes. */
  workers(queue: string, kind: 'workflows' | 'activities'): Promise<readonly SeenWorker[]>;
  /** The newest open runs, at most 200. */
  openRuns(): Promise<readonly OpenRun[]>;
  /** Why the last failed workflow task of a run failed; null: none did. */
  taskFailure(id: string): Promise<string | null>;
  /** What a run waits for, as its status says; empty when no worker answers. */
  waitsFor(id: string): Promise<readonly string[]>;
  deployment(): Promise<DeploymentStatus>;
}
