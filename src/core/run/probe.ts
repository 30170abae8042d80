/** Watches a run while its history is replayed, to get its state at the moments that can be forked. */
import type { ToolCall } from '../base/message.ts';
import type { CallAfter } from '../contract/fork.ts';
import type { CallEnd } from '../contract/outcome.ts';
import type { RunState } from './run-state.ts';

/** A call that began and ended. */
export interface ProbedCall extends Pick<CallAfter, 'effect'> {
  /** As the model or the program made it. */
  readonly call: ToolCall;
  readonly result: CallEnd['result'];
  readonly edited?: CallEnd['edited'];
}

/** What a probe is shown. It changes nothing, and what it does is no command. */
export interface Probe {
  /** The run stands before an iteration, where it could hand over. */
  boundary(state: RunState): void;
  /** A call has ended. */
  call(call: ProbedCall): void;
  /** A loop has started a child that no call asked for. */
  child(child: { readonly callId: string; readonly agent: string }): void;
}
