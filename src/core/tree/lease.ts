/**
 * What a run knows of the tree above it: who its ancestors are, and which part of their limits it may
 * spend. Plain data that travels in the start of a child.
 */
import type { Limit } from '../limits/limit.ts';

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
  /** What may be spent, from 0; only rises. */
  readonly granted: number;
  /** Set while the newest answer was a refusal. */
  readonly refused?: Refusal;
}

/** What a parent answers for one lease: what may be spent in all, or that its limit is gone. */
export type LeaseAnswer =
  | { readonly id: string; readonly granted: number; readonly refused?: Refusal }
  | { readonly id: string; readonly lifted: true };

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
 * `leases` after an answer. A grant only rises, so answers may come twice and in any order; a refusal
 * holds when it is the newest answer.
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
    const granted = Math.max(lease.granted, answer.granted);
    const refused = isNewest ? answer.refused : granted > lease.granted ? undefined : before;
    return [{ ...rest, granted, ...(refused === undefined ? {} : { refused }) }];
  });
}
