import type { Reply } from '../contract/model.ts';
import { cut } from '../text/cut.ts';
import { reactAgentOf } from './react-sections.ts';
import type { AgentSpec } from '../contract/spec.ts';
import { replyText } from '../contract/turn.ts';

/** UTF-8 bytes of reasoning that a person sees beside a call. */
const MAX_REASONING_BYTES = 2 * 1024;

/**
 * What a model wrote beside its calls, for the person who decides about them: the thinking section
 * of a react agent, the text beside native calls, else the model's own reasoning. Empty when there
 * is none.
 */
export function reasoningOf(spec: AgentSpec, reply: Reply): string {
  const written = spec.react === null ? replyText(reply) : thinkingIn(spec, reply);
  const reasoned = reply.parts.flatMap((part) => (part.type === 'reasoning' ? [part.text] : []));
  const text = written.trim() === '' ? reasoned.join('') : written;
  return cut(text.trim(), MAX_REASONING_BYTES);
}

function thinkingIn(spec: AgentSpec, reply: Reply): string {
  const name = spec.react?.thinking?.name;
  if (name === undefined) return '';
  const agent = reactAgentOf(spec);
  const reading = agent.format.parse(replyText(reply), agent.names.sections, { wasCut: false });
  if (reading.kind !== 'read') return '';
  return reading.blocks.flatMap((block) => (block.name === name ? [block.content] : [])).join('\n');
}
