/** Texts of a prompt that functions on the worker write for each request. */
import type { ModelOrder, TranscriptView } from '../core/agent/host.ts';
import { agentTime } from '../core/agent/time.ts';
import type { Registry, TextFunction } from './definitions.ts';
import { zoneOffset } from './time-zone.ts';

/** The texts that the specification leaves to functions; absent where it has the text itself. */
export interface PromptTexts {
  readonly instructions?: string;
  readonly rules?: string;
}

/** Calls the functions of the agent for one request. What they throw fails the attempt. */
export async function promptTexts(
  registry: Registry,
  order: ModelOrder,
  { head }: TranscriptView,
): Promise<PromptTexts> {
  const { task, context, spec } = head;
  const isWritten = [spec.instructions, spec.rules].some((source) => source?.kind === 'function');
  if (!isWritten) return {};
  const definition = registry.agents.get(order.agent)?.definition;
  const input = {
    agent: order.agent,
    input: { task, ...(context === undefined ? {} : { context }) },
    iteration: order.iteration,
    time: agentTime(order.time, zoneOffset(spec.timeZone)),
  };
  const textOf = async (
    source: { readonly kind: string } | null,
    write: TextFunction | undefined,
  ): Promise<string | undefined> =>
    source?.kind === 'function' && write !== undefined ? write(input) : undefined;
  const [instructions, rules] = await Promise.all([
    textOf(spec.instructions, definition?.instructions),
    textOf(spec.rules, definition?.rules),
  ]);
  return {
    ...(instructions === undefined ? {} : { instructions }),
    ...(rules === undefined ? {} : { rules }),
  };
}
