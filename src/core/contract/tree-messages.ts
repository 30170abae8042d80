/**
 * What runs of a tree say to each other, as plain data. Each message says how things are, never by how
 * much they changed: it may be lost, come twice, or after a later one.
 */
import type { PendingItem } from './messages.ts';
import type { Breach } from './limit.ts';
import type { Numbers } from './stats.ts';
import type { Deadline, LeaseAnswer, LeaseReturn } from './lease.ts';

/** From a child: what it and all below it have spent, and what waits for people. */
export interface ProgressMessage {
  readonly v: 1;
  readonly kind: 'progress';
  readonly childId: string;
  /** Rises with each message of a child, over all its links. */
  readonly number: number;
  readonly totals: Numbers;
  readonly pending: readonly PendingItem[];
  /** What is kept of each lease that was recalled, once all below have said so too. */
  readonly returned?: readonly LeaseReturn[];
  /** The last word of a child that ends without a Step: it is not charged. */
  readonly final?: true;
}

/** From a child: it wants more of these leases. Says its totals like any report. */
export interface LeaseRequest {
  readonly v: 1;
  readonly kind: 'lease-request';
  readonly childId: string;
  readonly number: number;
  readonly totals: Numbers;
  /** Ids of leases. */
  readonly wants: readonly string[];
  /** As in a report. */
  readonly returned?: readonly LeaseReturn[];
}

/** What a child tells its parent. */
export type ParentMessage = ProgressMessage | LeaseRequest;

/** From the parent: what may be spent in all, for each lease that was asked for or is recalled. */
export interface LeaseGrant {
  readonly v: 1;
  readonly kind: 'lease-grant';
  /** Of the newest request that is answered; a recall repeats it. */
  readonly number: number;
  readonly leases: readonly LeaseAnswer[];
}

/** From the parent: the child is to end, since somebody said so or a limit above was crossed. */
export interface ChildCancel {
  readonly v: 1;
  readonly kind: 'cancel';
  /** The words of the one who canceled; may be empty. */
  readonly message: string;
  /** Set when a limit above was crossed: the child ends for the same reason. */
  readonly breach?: Breach;
}

/** From the parent: until when the runs above may run, after one of their limits on time was changed. */
export interface DeadlineNews {
  readonly v: 1;
  readonly kind: 'deadlines';
  /** Rises with each change that a parent tells; of several that come, the highest counts. */
  readonly number: number;
  /** All that hold for the child, in the order of its link to the parent. */
  readonly deadlines: readonly Deadline[];
}

/** What a parent tells a child. */
export type ChildMessage = LeaseGrant | ChildCancel | DeadlineNews;
