/** The rules of modes whose programs are tools of a turn: their values are never the answer. */
import { programFeedback } from '../program-text/feedback.ts';
import { hiddenTexts } from '../program-text/hidden-values.ts';
import type { ModeRules } from './mode.ts';
import type { Reply } from '../contract/model.ts';
import { cut } from '../text/cut.ts';
import { reactAgentOf } from './react-sections.ts';
import type { AgentSpec } from '../contract/spec.ts';
import { replyText } from '../contract/turn.ts';

/** What most modes answer alike. */
export const commonRules: Pick<
  ModeRules,
  | 'reasoning'
  | 'onProgram'
  | 'programFeedback'
  | 'requestsJson'
  | 'readsHistory'
  | 'readsDataByName'
> = {
  reasoning: (spec, _turn, reply) => reasoningOf(spec, reply),
  onProgram: () => ({ kind: 'continue', note: { problems: [] } }),
  programFeedback: ({ spec, context = {} }, report) =>
    programFeedback({
      report,
      feedbackChars: spec.program?.sizes.feedbackChars ?? Infinity,
      hidden: hiddenTexts([context, report.value ?? null], report.hidden),
      plan: [],
      turns: '',
    }),
  requestsJson: false,
  readsHistory: false,
  readsDataByName: false,
};

/** UTF-8 bytes of reasoning that a person sees beside a call. */
const MAX_REASONING_BYTES = 2 * 1024;

/**
 * What a model wrote beside its calls, for the person who decides about them: the thinking section
 * of a react agent, the text beside native calls, else the model's own reasoning. Empty when there is none.
 */
function reasoningOf(spec: AgentSpec, reply: Reply): string {
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
