/** Messages to and from a worker that will be killed. */

/** What the process serves. */
export interface RecoveryOrder {
  readonly address: string;
  /** An agent with Everloop's settings, or a bare workflow with the defaults of the SDK. */
  readonly side: 'agent' | 'bare';
}

/** A report of the process: it is inside a model call, or the run made progress. */
export type RecoveryNote = 'stuck' | 'progress';

/** Where a side is served. */
export function recoveryQueue(side: RecoveryOrder['side']): string {
  return `recovery-${side}`;
}
