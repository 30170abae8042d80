/** What a run knows of its ancestors: which part of their limits it may spend, and until when. */
import { defined } from '../base/defined.ts';
import type { Limit } from './limit.ts';
import type { TraceInput } from '../base/traceparent.ts';

/** A run above another in its tree. */
export interface Ancestor {
  readonly runId: string;
  readonly agent: string;
}

/** How much of an ancestor's limit was spent and reserved when nothing was left to grant. */
export interface LeaseRefusal {
  readonly value: number;
  readonly max: number;
}

/** The part of an ancestor's limit that a run and its descendants may spend. */
export interface Lease {
  /** Identifies the limit in the tree: id of the ancestor's run, key and action when reached. */
  readonly id: string;
  readonly origin: Ancestor;
  /** The ancestor's limit: exact, on a counter. */
  readonly limit: Limit;
  /** What may be spent, from 0; only a recall lowers it. */
  readonly granted: number;
  /** How often the parent has recalled it; absent: never. */
  readonly recalls?: number;
  /** Set while the newest answer was a refusal. */
  readonly refused?: LeaseRefusal;
}

/**
 * A parent's answer about one lease: what may be spent in total, or that its limit is gone.
 * `recalls` is the number of recalls when the answer was given; an answer that is older than the
 * newest recall is void.
 */
export type LeaseAnswer =
  | {
      readonly id: string;
      readonly granted: number;
      readonly recalls?: number;
      readonly refused?: LeaseRefusal;
    }
  | { readonly id: string; readonly lifted: true };

/** What a child keeps of a recalled lease: it spends no more until it is granted more. */
export interface LeaseReturn {
  readonly id: string;
  /** The recall that it answers. */
  readonly recalls: number;
  readonly kept: number;
}

/** A wall-clock limit of an ancestor: it ends all descendants at the same moment. */
export interface Deadline {
  readonly origin: Ancestor;
  readonly limit: Limit;
  /** When the ancestor began, in milliseconds since 1970. */
  readonly startedAt: number;
}

/** What a child knows of the tree above it, version 1. Part of its start, written by its parent. */
export interface ParentLink {
  readonly v: 1;
  /** Workflow id of the parent: its address. */
  readonly workflowId: string;
  readonly runId: string;
  readonly agent: string;
  /** The call of the parent whose result the child is. */
  readonly callId: string;
  /** A loop of the parent started the child, so that no tool call has `callId`. */
  readonly byLoop?: true;
  readonly rootRunId: string;
  /** What the root was started with for traces; absent: nothing. */
  readonly trace?: TraceInput;
  /** Path of the child: `planner/2/writer`. */
  readonly path: string;
  /** The conversation that the root is a turn of; absent: none. */
  readonly conversation?: string;
  /** Who spoke to the parent last when it started the child; absent: nobody was named. */
  readonly by?: string;
  /** Depth of the child: 1 for a child of a root. */
  readonly depth: number;
  /** The smallest limit on `agent:depth` of all ancestors. */
  readonly depthLimit?: Limit;
  readonly deadlines: readonly Deadline[];
  /** What the calls of the child do, because a fork is above it; absent: they run. */
  readonly effects?: 'approve' | 'replay-only';
  /** How long the child waits for a worker that has its agent: as its parent; null: for ever. */
  readonly elsewhereMs?: number | null;
  /** Nearest ancestor first, each in the order of its list of limits. */
  readonly leases: readonly Lease[];
}

/** Identifies a limit of `runId` in the whole tree. */
export function leaseId(
  runId: string,
  { key, onReach = 'end' }: Pick<Limit, 'key' | 'onReach'>,
): string {
  return `${runId} ${key} ${onReach}`;
}

/**
 * `leases` after an answer. The answer with more recalls counts; of two with equally many, the one
 * that grants more. So answers may repeat and come in any order. A refusal counts if it is the
 * newest answer.
 */
export function withAnswers(
  leases: readonly Lease[],
  answers: readonly LeaseAnswer[],
  isNewest: boolean,
): readonly Lease[] {
  return leases.flatMap((lease) => {
    const answer = answers.find(({ id }) => id === lease.id);
    if (answer === undefined) return [lease];
    if ('lifted' in answer) return [];
    const { refused: before, ...rest } = lease;
    const { recalls = 0 } = answer;
    const isOlder = recalls < (lease.recalls ?? 0);
    if (isOlder) return [lease];
    const isRecall = recalls > (lease.recalls ?? 0);
    const granted = isRecall ? answer.granted : Math.max(lease.granted, answer.granted);
    const isNews = isNewest || isRecall;
    const refused = isNews ? answer.refused : granted > lease.granted ? undefined : before;
    return [defined({ ...rest, granted, recalls: recalls || undefined, refused })];
  });
}
