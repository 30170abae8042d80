/** The mode `text`: one model call, whose reply is the value exactly as it came. */
import type { Message } from '../base/message.ts';
import type { ModelRequest, Reply } from '../contract/model.ts';
import type { TranscriptHead } from '../contract/transcript.ts';
import { answerFormat } from '../signature/answer-form.ts';
import { contextDescriptions, describeContext } from './context-text.ts';
import { commonRules } from './common-rules.ts';
import type { ModeRules, RequestOptions } from './mode.ts';
import { assistantMessage, messageOf } from './observation.ts';
import { plainMessages, textParts } from './plain-messages.ts';
import { requestOf, systemMessage, unusedContext } from './prompt.ts';
import type { AgentSpec } from '../contract/spec.ts';
import { malformedTurn, plainTurn, replyText, type Turn } from '../contract/turn.ts';

/** The rules of the mode `text`. */
export const textMode: ModeRules = {
  ...commonRules,
  buildRequest,
  readTurn,
  goesOn: () => true,
  turnMessages: (_spec, _turn, reply) => assistantMessage(reply),
  answerFeedback: () => [],
};

function buildRequest(
  head: TranscriptHead,
  messages: readonly Message[],
  options: RequestOptions,
): ModelRequest {
  const stable = [
    ...(options.prompt ?? systemMessage(head.spec, options)),
    ...startMessage(head),
    ...messages,
  ];
  return requestOf(head, options, plainMessages(stable), []);
}

function startMessage(head: TranscriptHead): readonly Message[] {
  const { text, media = [] } = head.task;
  const context = describeContext(unusedContext(head), contextDescriptions(head));
  const { answer } = head.spec;
  const form = answer.output === undefined ? '' : `# Output format\n${answerFormat(answer)}`;
  const full = [text, context, form].filter((block) => block !== '').join('\n');
  return messageOf('user', [...textParts(full), ...media]);
}

/** Nothing is parsed: every text is the answer, but a blank one says nothing. */
function readTurn(_spec: AgentSpec, reply: Reply): Turn {
  const text = replyText(reply);
  if (text.trim() === '') {
    const problem = { code: 'empty_reply', message: 'the reply is empty' };
    const turn = malformedTurn(plainTurn, 'termination', [problem], {});
    return { ...turn, ends: true, endsAs: 'empty_response' };
  }
  return {
    ...plainTurn,
    kind: 'answer',
    candidates: [{ kind: 'value', value: text }],
    attached: null,
  };
}
