/**
 * Messages between runs of a tree, as plain data. Each message states totals, never differences,
 * because it may be lost, repeated, or overtaken by a later one.
 */
import type { PendingItem } from './messages.ts';
import type { Breach } from './limit.ts';
import type { Numbers } from './stats.ts';
import type { Deadline, LeaseAnswer, LeaseReturn } from './lease.ts';

/** From a child: what it and its descendants have spent, and what waits for people. */
export interface ProgressMessage {
  readonly v: 1;
  readonly kind: 'progress';
  readonly childId: string;
  /** Rises with each message of a child, over all its links. */
  readonly number: number;
  readonly totals: Numbers;
  readonly pending: readonly PendingItem[];
  /** What is kept of each recalled lease, after all descendants have answered too. */
  readonly returned?: readonly LeaseReturn[];
  /** The last report of a child that ends without a Step: it is not charged. */
  readonly final?: true;
}

/** From a child: it needs more of these leases. Carries its totals like any report. */
export interface LeaseRequest {
  readonly v: 1;
  readonly kind: 'lease-request';
  readonly childId: string;
  readonly number: number;
  readonly totals: Numbers;
  /** Ids of leases. */
  readonly wants: readonly string[];
  /** By lease: how much more than is granted the next piece of work needs. */
  readonly missing?: Numbers;
  /** As in a report. */
  readonly returned?: readonly LeaseReturn[];
}

/** What a child sends to its parent. */
export type ParentMessage = ProgressMessage | LeaseRequest;

/** From the parent: what may be spent in total, for each lease that was asked for or recalled. */
export interface LeaseGrant {
  readonly v: 1;
  readonly kind: 'lease-grant';
  /** The number of the newest request that it answers; a recall repeats it. */
  readonly number: number;
  readonly leases: readonly LeaseAnswer[];
}

/** From the parent: the child must end; it was canceled or an ancestor's limit was crossed. */
export interface ChildCancel {
  readonly v: 1;
  readonly kind: 'cancel';
  /** The canceling person's text; may be empty. */
  readonly message: string;
  /** Set if an ancestor's limit was crossed: the child ends for the same reason. */
  readonly breach?: Breach;
}

/** From the parent: the ancestors' deadlines, after one of their time limits was changed. */
export interface DeadlineChange {
  readonly v: 1;
  readonly kind: 'deadlines';
  /** Rises with each change that a parent sends; the highest counts. */
  readonly number: number;
  /** All that hold for the child, in the order of its link to the parent. */
  readonly deadlines: readonly Deadline[];
}

/** What a parent sends to a child. */
export type ChildMessage = LeaseGrant | ChildCancel | DeadlineChange;
