/** The workflow of 08-own-loop: runs in the sandbox, so it imports `everloop/workflow` alone. */
import {
  runAgentWorkflow,
  textMessage,
  type Next,
  type Reply,
  type Step,
} from '../../src/workflow.ts';

// region own-loop
/** One iteration: a draft in the first, the answer in the second. */
const draftAndShorten: Next = async (work) => {
  const text = textOfReply(await work.ask());
  if (work.iteration > 1) return { kind: 'end', value: text };
  work.append({
    messages: [
      textMessage('assistant', text),
      textMessage('user', 'Say the same in half as many words.'),
    ],
  });
  return { kind: 'continue' };
};
// endregion

function textOfReply(reply: Reply): string {
  return reply.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
}

/** Takes the place of Everloop's own workflow of this name. */
export function agent(payload: unknown): Promise<Step> {
  return runAgentWorkflow(payload, () => draftAndShorten);
}
