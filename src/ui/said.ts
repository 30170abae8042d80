/**
 * What people say in the course of a turn. A page shows each of it as a message, and after it a message
 * of the agent: so a turn falls into as many replies as there were messages.
 *
 * I1  All ids come from the ids of people's messages. So each process, and a page that is opened again,
 *     gives the same message the same id.
 */
import { jsonDigest } from '../core/base/digest.ts';
import type { AgentEvent } from '../core/contract/events.ts';

const REPLY = '/reply';

/** The id of the agent's message after message `said` of a person. */
export function replyId(said: string): string {
  return `${said}${REPLY}`;
}

const ANSWER = 'said:';

/** The id under which message `said` answers a question. */
export function answerId(said: string): string {
  return `${ANSWER}${said}`;
}

/** The id of the message that a person has said with `event`; undefined: the event is another one. */
export function saidWith(event: AgentEvent): string | undefined {
  switch (event.type) {
    case 'agent:turn:before':
      return event.messageId;
    case 'agent:input':
      return event.inputId;
    case 'agent:question:answered':
      return event.updateId?.startsWith(ANSWER) === true
        ? event.updateId.slice(ANSWER.length)
        : undefined;
    default:
      return undefined;
  }
}

/**
 * The id under which message `id` of a page is said again, in place of turn `turn`. `content` is what it
 * says now: the same again has the same id.
 */
export function againId(id: string, turn: number, content: string): string {
  return `${id}/again-${turn}-${jsonDigest(content)}`;
}

const AGAIN = /\/again-\d+-[0-9a-f]{16}$/;

/** Whether `id` is one of a message that was said again. */
export function isAgain(id: string): boolean {
  return AGAIN.test(id);
}

/** The id that the page knows message `id` by. */
export function pageId(id: string): string {
  return id.replace(AGAIN, '');
}
