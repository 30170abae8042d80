/** A running program, and what its effects run in. */
import type { EffectRequest } from '../../lisp.ts';
import type { ToolCall } from '../base/message.ts';
import type { CallSite } from '../calls/call-site.ts';
import type { Iteration } from '../run/iteration.ts';
import type { KeptProgram } from '../run/kept-program.ts';
import type { KeptTurn } from '../run/kept-turn.ts';

/** A program to run. */
export interface ProgramOrder {
  readonly source: string;
  /** `{iteration}.p`, unique in the run. */
  readonly programId: string;
  /** What the model wrote beside it, for people who approve a call. Default: nothing. */
  readonly reasoning?: string;
  /** Its state, if an earlier link began it. */
  readonly kept?: KeptProgram;
  /** Makes the turn to hand over before the program ends. Absent: it is never handed over. */
  readonly keep?: (program: KeptProgram) => KeptTurn;
}

/** A running program. */
export interface RunningProgram extends Pick<Iteration, 'run' | 'open'> {
  readonly order: ProgramOrder;
  readonly since: number;
  readonly warnings: readonly string[];
  /** Whether the run leaves it less fuel than its own limit. */
  readonly isShort: boolean;
}

/** What an effect runs in: the site of a call, and its program. */
export interface EffectContext extends CallSite {
  readonly programId: string;
}

/** A request of a program to call a tool. */
export type ToolRequest = Extract<EffectRequest, { readonly kind: 'tool' }>;

/** Whether a program must end. */
export function isOver({ run, open }: RunningProgram): boolean {
  return run.mustLeave() || open.isOver === true;
}

/** The id of an effect among the calls of the run. */
export function callIdOf(programId: string, id: string): string {
  return `${programId}${id}`;
}

/** The tool call that a request asks for. */
export function callOf(programId: string, { id, name, args }: ToolRequest): ToolCall {
  return { callId: callIdOf(programId, id), tool: name, args };
}

/** Whether a request calls an agent. */
export function isAgentCall({ run }: RunningProgram, request: EffectRequest): boolean {
  const { tools } = run.state.head.spec;
  return (
    request.kind === 'tool' &&
    tools.some(({ name, agent }) => name === request.name && agent !== undefined)
  );
}
