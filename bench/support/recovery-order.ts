/** What a worker that is made to be killed is told, and what it tells. */

/** What the process is to serve. */
export interface RecoveryOrder {
  readonly address: string;
  /** An agent with Everloop's settings, or a bare workflow with the defaults of the SDK. */
  readonly side: 'agent' | 'bare';
}

/** What it tells: it sits in a model call, or something went forward. */
export type RecoveryNote = 'stuck' | 'progress';

/** Where a side is served. */
export function recoveryQueue(side: RecoveryOrder['side']): string {
  return `recovery-${side}`;
}
