/** The mode `text`: one model call, whose reply is the value exactly as it came. */
import { type Message, textMessage } from '../base/message.ts';
import type { ModelRequest, Reply } from '../contract/model.ts';
import type { TranscriptHead } from '../contract/transcript.ts';
import { contextDescriptions, describeContext } from './context-text.ts';
import { commonRules } from './common-rules.ts';
import type { ModeRules, RequestOptions } from './mode.ts';
import { assistantMessage, messageOf } from './observation.ts';
import { plainInput, plainMessages, textPart } from './plain-messages.ts';
import { requestOf, sourceText, unusedContext } from './prompt.ts';
import type { AgentSpec } from '../contract/spec.ts';
import { plainTurn, replyText, wasCut, type Turn } from '../contract/turn.ts';

/** The rules of the mode `text`. */
export const textMode: ModeRules = {
  ...commonRules,
  buildRequest,
  writeMessages: (_spec, messages) => plainMessages(messages),
  readTurn,
  turnMessages: (_spec, _turn, reply) => assistantMessage(reply),
  answerMessages: (reply) => assistantMessage(reply),
  inputMessages: plainInput,
  answerFeedback: () => [],
};

function buildRequest(
  head: TranscriptHead,
  messages: readonly Message[],
  options: RequestOptions,
): ModelRequest {
  const { spec } = head;
  const system = [
    sourceText(spec.instructions, options.instructions),
    sourceText(spec.rules, options.rules),
  ].filter((block) => block !== '');
  const stable = [
    ...(options.prompt ??
      (system.length === 0 ? [] : [textMessage('system', system.join('\n\n'))])),
    ...startMessage(head),
    ...messages,
  ];
  return requestOf(head, options, plainMessages(stable), []);
}

function startMessage(head: TranscriptHead): readonly Message[] {
  const { text, media = [] } = head.task;
  const context = describeContext(unusedContext(head), contextDescriptions(head));
  const full = [text, context].filter((block) => block !== '').join('\n');
  return messageOf('user', [...(full === '' ? [] : [textPart(full)]), ...media]);
}

/** Nothing is parsed: every text is the answer, but a blank one says nothing. */
function readTurn(_spec: AgentSpec, reply: Reply): Turn {
  const text = replyText(reply);
  if (text.trim() === '') {
    return {
      ...plainTurn,
      kind: 'malformed',
      family: 'termination',
      problems: [{ code: 'empty_reply', message: 'the reply is empty' }],
      feedback: [],
      callAnswers: [],
      ends: true,
      endsAs: 'empty_response',
    };
  }
  const warnings = wasCut(reply)
    ? [{ code: 'truncated_reply', message: 'The reply was cut off by the length limit.' }]
    : [];
  return {
    ...plainTurn,
    warnings,
    kind: 'answer',
    candidates: [{ kind: 'value', value: text }],
    attached: null,
  };
}
