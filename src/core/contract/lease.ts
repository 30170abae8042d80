/**
 * What a run knows of the tree above it: who its ancestors are, and which part of their limits it may
 * spend. Plain data that travels in the start of a child.
 */
import type { Limit } from './limit.ts';

/** A run above another in its tree. */
export interface Ancestor {
  readonly runId: string;
  readonly agent: string;
}

/** How far an ancestor's limit was used up when it had nothing left to give. */
export interface Refusal {
  readonly value: number;
  readonly max: number;
}

/** The part of an ancestor's limit that a run may spend, its own children included. */
export interface Lease {
  /** Names the limit in the whole tree: id of the ancestor's run, key and what it does when reached. */
  readonly id: string;
  readonly origin: Ancestor;
  /** The ancestor's limit: exact, on a counter. */
  readonly limit: Limit;
  /** What may be spent, from 0; only rises, but for a recall. */
  readonly granted: number;
  /** How often the parent has recalled it; absent: never. */
  readonly recalls?: number;
  /** Set while the newest answer was a refusal. */
  readonly refused?: Refusal;
}

/**
 * What a parent says of one lease: what may be spent in all, or that its limit is gone. `recalls` counts
 * the recalls that it knows of: what was said before the newest of them does not count any more.
 */
export type LeaseAnswer =
  | {
      readonly id: string;
      readonly granted: number;
      readonly recalls?: number;
      readonly refused?: Refusal;
    }
  | { readonly id: string; readonly lifted: true };

/** What a child keeps of a lease that was recalled: it spends no more until it is granted more. */
export interface LeaseReturn {
  readonly id: string;
  /** The recall that it answers. */
  readonly recalls: number;
  readonly kept: number;
}

/** A limit on wall-clock time of an ancestor: it holds for all below at the same moment. */
export interface Deadline {
  readonly origin: Ancestor;
  readonly limit: Limit;
  /** When the ancestor began, in milliseconds since 1970. */
  readonly startedAt: number;
}

/** What a child is told of the tree above it, version 1. Part of its start, as its parent wrote it. */
export interface ParentLink {
  readonly v: 1;
  /** Workflow id of the parent: its address. */
  readonly workflowId: string;
  readonly runId: string;
  readonly agent: string;
  /** The call of the parent that the child answers. */
  readonly callId: string;
  readonly rootRunId: string;
  /** Of the child: `planner/2/writer`. */
  readonly path: string;
  /** Of the child: 1 for a child of a root. */
  readonly depth: number;
  /** The smallest limit on `agent:depth` above. */
  readonly depthLimit?: Limit;
  readonly deadlines: readonly Deadline[];
  /** Nearest ancestor first, each in the order of its list of limits. */
  readonly leases: readonly Lease[];
}

/** Names a limit of `runId` in the whole tree. */
export function leaseId(runId: string, { key, onReach = 'end' }: Limit): string {
  return `${runId} ${key} ${onReach}`;
}

/**
 * `leases` after an answer. Of two answers the one with more recalls counts, of as many the greater, so
 * answers may come twice and in any order; a refusal holds when it is the newest answer.
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
    return [
      {
        ...rest,
        granted,
        ...(recalls === 0 ? {} : { recalls }),
        ...(refused === undefined ? {} : { refused }),
      },
    ];
  });
}
