/** What the effects of one program are a part of. */
import type { EffectRequest } from '../../lisp.ts';
import type { ToolCall } from '../base/message.ts';
import type { KeptTurn } from '../run/kept-turn.ts';
import type { KeptEffects } from '../run/kept-program.ts';
import type { RunningProgram } from './running-program.ts';

/** What effects are a part of. */
export interface EffectPlace extends Pick<RunningProgram, 'run' | 'host' | 'open'> {
  /** In front of the ids of effects, to give those of calls. */
  readonly programId: string;
  readonly reasoning: string;
  /** Makes the turn to leave with, out of effects that all rest; null when it does not fit. */
  readonly keep: ((kept: KeptEffects) => KeptTurn | null) | undefined;
}

/** A request of a program to call a tool. */
export type ToolRequest = Extract<EffectRequest, { readonly kind: 'tool' }>;

/** The id of an effect among the calls of the run. */
export function callIdOf({ programId }: Pick<EffectPlace, 'programId'>, id: string): string {
  return `${programId}${id}`;
}

/** A request as the call that it is. */
export function callOf(
  place: Pick<EffectPlace, 'programId'>,
  { id, name, args }: ToolRequest,
): ToolCall {
  return { callId: callIdOf(place, id), tool: name, args };
}

/** Whether a request calls an agent. */
export function isAgentCall({ run }: Pick<EffectPlace, 'run'>, request: EffectRequest): boolean {
  const { tools } = run.state.head.spec;
  return (
    request.kind === 'tool' &&
    tools.some(({ name, agent }) => name === request.name && agent !== undefined)
  );
}
