/** What a check of `everloop doctor` is: it looks at a part of the world, and says what is wrong. */
import type { Environment } from '../../client/connection/temporal-environment.ts';
import type { WorkerConfig } from '../../worker/config/config.ts';
import type { DoctorService } from './doctor-service.ts';

/** A part of what is checked. */
export type CheckArea = 'server' | 'fleet' | 'runs' | 'settings' | 'packages';

/** Something that is wrong, or that cannot be known. */
export interface DoctorProblem {
  /**
   * `error`: runs stand still or will be lost · `warning`: they may · `information`: nothing is
   * wrong, but something is missing or unknown.
   */
  readonly severity: 'error' | 'warning' | 'information';
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

/** A model of a provider that an agent file names. */
export interface NamedModel {
  /** `openai/gpt-5-mini` */
  readonly id: string;
  /** As the AI SDK names it: `openai.responses`; absent: the file has only the id. */
  readonly provider?: string;
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
  /** Whether the server is one that Everloop started on this machine, with settings of its own. */
  readonly isOwnServer: boolean;
  /** The models of the agent file, if one was given; functions need no provider. */
  readonly models: readonly NamedModel[];
  /** The time zone of this process: `Europe/Berlin`. */
  readonly timeZone: string;
  /** Whether the C library of this machine is one that a worker's native part loads with. */
  readonly hasLibc: boolean;
}
