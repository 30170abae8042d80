/** The input and the reports of a worker that will be killed. */

/** What the process serves. */
export interface RecoveryOrder {
  readonly address: string;
  /** An agent with Everloop's settings, or a bare workflow with the defaults of the SDK. */
  readonly side: 'agent' | 'bare';
}

/** A report: it is blocked in a model call, or it made progress. */
export type RecoveryNote = 'stuck' | 'progress';

/** The task queue of a side. */
export function recoveryQueue(side: RecoveryOrder['side']): string {
  return `recovery-${side}`;
}
