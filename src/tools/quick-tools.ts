/** Which tools that a reply mentions are quick on this worker. */
import type { Reply } from '../core/contract/model.ts';
import { callsOf } from '../core/contract/turn.ts';
import type { AgentSpec } from '../core/contract/spec.ts';
import { nativeName } from '../core/toolchain/native-calls.ts';
import type { ToolFigures } from './tool-figures.ts';

/**
 * The names of the tools of `spec` that the reply mentions and whose calls the worker would run as
 * local activities; absent: none.
 */
export function quickTools(
  figures: ToolFigures,
  spec: AgentSpec,
  reply: Reply,
): readonly string[] | undefined {
  const quick = spec.tools.filter(
    ({ name, auto }) => auto === true && figures.isQuick(spec.name, name),
  );
  if (quick.length === 0) return undefined;
  const calls = callsOf(reply);
  const texts = reply.parts.flatMap((part) => ('text' in part ? [part.text] : []));
  const args = calls.map((call) => JSON.stringify(call.args));
  const written = [...texts, ...args].join('\n');
  const isMentioned = (name: string): boolean =>
    written.includes(name) || calls.some(({ tool }) => tool === name || tool === nativeName(name));
  const names = quick.map(({ name }) => name).filter(isMentioned);
  return names.length === 0 ? undefined : names;
}
