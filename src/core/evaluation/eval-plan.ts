/** Evals: recorded moments or plain tasks, each continued with several variants, several times. */
import type { Json, JsonObject } from '../base/json.ts';
import type { ForkEdit, ForkEffects, RunMoment } from '../base/fork.ts';
import type { LimitsInput } from '../contract/input.ts';
import type { StepStatus } from '../contract/step.ts';

/** The name of the agent that runs evals; every worker with workflows has it. */
export const EVAL_AGENT = 'everloop-eval';

/** What is tried: a moment of a run, or a task. */
export type EvalPart = MomentPart | TaskPart;

/** What both kinds of parts have. */
interface PartBase {
  /** Shown in tables; unique. */
  readonly name: string;
  /** The agent of the run, or the one that gets the task. */
  readonly agent: string;
  /** The value that counts as right; absent: any that the agent's validators accept. */
  readonly expected?: Json;
}

/** A moment of a recorded run. */
export interface MomentPart extends PartBase {
  readonly run: string;
  readonly at: RunMoment;
  /** What a judge is told that the run was to do. A client fills in the task of the run. */
  readonly asked?: string;
}

/** A task, with the context of its start. */
export interface TaskPart extends PartBase {
  readonly task: string;
  readonly context?: JsonObject;
}

/** A way to go on. */
export interface EvalVariant {
  /** Shown in tables; unique. */
  readonly name: string;
  /** Id of a model entry. */
  readonly model?: string;
  /** Replaces the instructions of the agent; for moments. */
  readonly instructions?: string;
  readonly limits?: LimitsInput;
  /** As of a fork; for moments. */
  readonly definition?: 'recorded' | 'current';
  readonly edits?: readonly ForkEdit[];
  /** Another agent; for moments with `definition: 'current'`. */
  readonly agent?: string;
}

/** A whole eval, version 1. */
export interface EvalPlan {
  readonly v: 1;
  readonly parts: readonly EvalPart[];
  /** At least two for moments and tasks to be compared; one is a check. */
  readonly variants: readonly EvalVariant[];
  /** How often each variant goes on from each part. */
  readonly times: number;
  /** What calls do in forks of moments. */
  readonly effects: ForkEffects;
  /** An agent that judges the answers: it gets `asked`, `expected` and `answer` as context. */
  readonly judge?: string;
}

/** How one try ended. */
export interface EvalRow {
  readonly part: string;
  readonly variant: string;
  /** From 1. */
  readonly time: number;
  /** The run of the try; null if it could not start. */
  readonly run: string | null;
  readonly status: StepStatus;
  readonly reason: string;
  readonly passed: boolean;
  /** The eval ended before the judge of the try did, so `passed` is false and tells nothing. */
  readonly isJudged?: false;
  /** By the judge, from 0 to 1. */
  readonly score?: number;
  readonly turns: number;
  readonly tokens: number;
  readonly costMicroUsd: number;
  readonly durationMs: number;
  /** The beginning of its value as text. */
  readonly answer: string;
}

/**
 * What an eval's run has found: its value, or the `details` of its Step if it ended before all was
 * tried.
 */
export interface EvalResult {
  readonly v: 1;
  /** The tries that have ended, in the order of the plan. */
  readonly rows: readonly EvalRow[];
  /** How many the plan has; with fewer rows, or without a verdict, it is partial. */
  readonly tries: number;
}
