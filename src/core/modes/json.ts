/**
 * The mode `json`: one JSON value that fits the output of the signature. What does not fit goes
 * back to the model with the reasons, while turns are left.
 */
import type { Message } from '../base/message.ts';
import type { ModelRequest, OutputStrategy, Reply } from '../contract/model.ts';
import { REPAIR_LIMITS } from '../limits/default-limits.ts';
import { answerFormat, answerJson, answerSchema, tellingAnswer } from '../signature/answer-form.ts';
import { readOutput, RESPOND_TOOL, sourceOf, writtenText } from '../signature/read-output.ts';
import type { Judgement } from '../contract/judgement.ts';
import { isCopy } from '../termination/copied-example.ts';
import { errorSection } from '../termination/feedback.ts';
import { clip, cut } from '../text/cut.ts';
import { untrusted, withoutFrames } from '../text/untrusted.ts';
import type { TranscriptHead } from '../contract/transcript.ts';
import { contextDescriptions, describeContext } from './context-text.ts';
import { commonRules } from './common-rules.ts';
import type { Exhaustion, ModeRules, RequestOptions, TurnPosition } from './mode.ts';
import { cutAssistantMessage, maxMalformedBytes, messageOf } from './observation.ts';
import { plainMessages, plainParts, plainText, textPart, textParts } from './plain-messages.ts';
import { requestOf, systemMessage, unusedContext } from './prompt.ts';
import type { AgentSpec } from '../contract/spec.ts';
import { callsOf, plainTurn, type Turn } from '../contract/turn.ts';

/**
 * Characters of a rejected reply that the model reads again and that the details of a Step keep.
 */
const MAX_QUOTED = 1_000;

const FORMAT_ONLY = 'You answer with one JSON value and nothing else.';

/** The last line of the first message: how the value is to be given. */
const LAST_LINES: Readonly<Record<OutputStrategy, string>> = {
  schema: 'Return only the JSON, without explanation and without other text.',
  tool: `Give it by calling \`${RESPOND_TOOL}\`.`,
  prompt: 'Return only the JSON, without explanation and without other text.',
};

/** The rules of the mode `json`. */
export const jsonMode: ModeRules = {
  ...commonRules,
  defaultLimits: REPAIR_LIMITS,
  requestsJson: true,
  buildRequest,
  readTurn,
  turnMessages: (_spec, _turn, reply, outcome) => [
    ...writtenMessages(reply),
    ...messageOf('user', plainParts(outcome.feedback)),
  ],
  answerMessages: writtenMessages,
  answerFeedback: (spec, _turn, judgement, reply, position) =>
    judgement.kind === 'accepted'
      ? []
      : [errorSection(repairText(spec.answer, judgement, reply, position))],
  exampleOf: (spec) => tellingAnswer(spec.answer),
  whenExhausted,
};

function buildRequest(
  head: TranscriptHead,
  messages: readonly Message[],
  options: RequestOptions,
): ModelRequest {
  const { spec } = head;
  const strategy = options.structuredOutput ?? 'prompt';
  const stable = [
    ...(options.prompt ?? systemMessage(spec, options, [FORMAT_ONLY])),
    ...startMessage(head, strategy),
    ...messages,
  ];
  const schema = answerSchema(spec.answer);
  const request = { ...requestOf(head, options, plainMessages(stable), []), schema };
  if (strategy !== 'tool') return request;
  const respond = { name: RESPOND_TOOL, description: 'Gives the answer.', parameters: schema };
  return { ...request, tools: [respond], toolChoice: { tool: RESPOND_TOOL } };
}

function startMessage(head: TranscriptHead, strategy: OutputStrategy): readonly Message[] {
  const { text, media = [] } = head.task;
  const lines = [
    describeContext(unusedContext(head), contextDescriptions(head)),
    text === '' ? '' : `# Task\n${text}`,
    `# Output format\n${answerFormat(head.spec.answer)}`,
    LAST_LINES[strategy],
  ].filter((block) => block !== '');
  return messageOf('user', [textPart(lines.join('\n')), ...media]);
}

function readTurn(spec: AgentSpec, reply: Reply): Turn {
  const candidate = readOutput(spec.answer, sourceOf(reply));
  return { ...plainTurn, kind: 'answer', candidates: [candidate], attached: null };
}

/**
 * The reply as it stays in the conversation: always text, even if it came as a forced call. If
 * output is later requested in another way, text is still accepted, but a call without its tool is
 * refused.
 */
function writtenMessages(reply: Reply): readonly Message[] {
  if (callsOf(reply).length === 0) return cutAssistantMessage(reply);
  const text = cut(writtenText(sourceOf(reply)), maxMalformedBytes);
  return messageOf('assistant', textParts(text), reply.by);
}

function repairText(
  answer: AgentSpec['answer'],
  judgement: Judgement,
  reply: Reply,
  { attempt, of }: TurnPosition,
): string {
  const tries = of === null ? `attempt ${attempt}` : `attempt ${attempt} of ${of}`;
  const head =
    judgement.kind === 'rejected' || isCopy(judgement)
      ? `Your answer was not accepted (${tries}).`
      : `Your answer did not fit the output format (${tries}).`;
  const quote = clip(writtenText(sourceOf(reply)), MAX_QUOTED);
  return [
    head,
    ...problemsOf(judgement).map((line) => `- ${withoutFrames(line)}`),
    ...(quote.trim() === '' ? [] : ['You wrote:', untrusted('answer', quote)]),
    'Answer again with one JSON object of this form:',
    answerJson(answer),
    'Return only the JSON.',
  ].join('\n');
}

function problemsOf(judgement: Judgement): readonly string[] {
  switch (judgement.kind) {
    case 'unfit':
      return judgement.lines;
    case 'rejected':
      return judgement.feedback.length === 0 ? [] : [plainText(judgement.feedback)];
    case 'continue':
    case 'accepted':
      return [];
  }
}

/** JSON that does not fit was still found. Only a reply without JSON could not be read. */
function whenExhausted(judgement: Judgement, reply: Reply): Exhaustion {
  const problems = problemsOf(judgement);
  const hasJson =
    judgement.kind !== 'unfit' ||
    judgement.problems.every(({ code }) => code === 'schema' || code === 'json_root');
  const code = hasJson ? 'validation_error' : 'json_parse_error';
  const written = clip(writtenText(sourceOf(reply)), MAX_QUOTED);
  const [first = 'the answer was not accepted'] = problems;
  return {
    code,
    cause: `no answer could be used: ${first}`,
    details: { problems, reply: written },
  };
}
