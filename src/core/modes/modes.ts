/** The modes by name. A new one is a file of its own and a line here. */
import type { Message } from '../base/message.ts';
import type { Mode, ModelRequest, Reply } from '../contract/model.ts';
import type { TranscriptHead } from '../contract/transcript.ts';
import type { EarlierReplies, ModeRules, RequestOptions } from './mode.ts';
import type { AgentSpec } from '../contract/spec.ts';
import type { Turn } from '../contract/turn.ts';
import { chatMode } from './chat.ts';
import { jsonMode } from './json.ts';
import { lispMode } from './lisp.ts';
import { reactMode } from './react.ts';
import { textMode } from './text.ts';

const modes: { readonly [mode in Mode]: ModeRules } = {
  react: reactMode,
  chat: chatMode,
  json: jsonMode,
  text: textMode,
  lisp: lispMode,
};

/** The rules of the mode of an agent. */
export function modeOf(spec: Pick<AgentSpec, 'mode'>): ModeRules {
  return modes[spec.mode];
}

/** What the model wants done, by the mode of the agent. Never throws on what a model wrote. */
export function readTurn(
  spec: AgentSpec,
  reply: Reply,
  iteration: number,
  earlier?: EarlierReplies,
): Turn {
  return modeOf(spec).readTurn(spec, reply, iteration, earlier);
}

/** The request of one model call, by the mode of the agent. */
export function buildRequest(
  head: TranscriptHead,
  messages: readonly Message[],
  options: RequestOptions,
): ModelRequest {
  const request = modeOf(head.spec).buildRequest(head, messages, options);
  const { hosted } = head.spec;
  return hosted === undefined ? request : { ...request, hosted };
}
