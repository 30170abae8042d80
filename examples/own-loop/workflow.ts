/** The workflow of 04-own-loop: it runs in the sandbox, so it imports only `everloop/workflow`. */
import {
  replyText,
  runAgentWorkflow,
  textMessage,
  type Next,
  type Step,
} from '../../src/workflow.ts';

const CRITIC = 'You judge texts. Reply OK, or say in one sentence what to change.';

// region own-loop
/** One iteration: the agent writes a draft, and another model judges it. */
const writeUntilLiked: Next = async (work) => {
  // The agent's own prompt and conversation.
  const draft = replyText(await work.ask());
  // A request in the loop's own words: another model, without the conversation.
  const { text } = work.state.head.task;
  const verdict = await work.ask({
    models: ['critic'],
    messages: [textMessage('system', CRITIC), textMessage('user', `${text}\n\n${draft}`)],
  });
  work.count('editor:rounds');
  const said = textMessage('assistant', draft);
  const remark = replyText(verdict);
  if (remark === 'OK') return { kind: 'end', value: draft, entry: { messages: [said] } };
  work.append({ messages: [said, textMessage('user', remark)] });
  return { kind: 'continue' };
};
// endregion

/** Replaces Everloop's own workflow of this name. */
export function agent(payload: unknown): Promise<Step> {
  return runAgentWorkflow(payload, () => writeUntilLiked);
}
