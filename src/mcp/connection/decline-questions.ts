/** What a server of the older era asks within a call: a request without the id of that call. */
import type { Client } from '@modelcontextprotocol/client';
import { clip } from '../../core/text/cut.ts';

/** Questions of one call that are kept. */
const MAX_QUESTIONS = 5;

/** Characters of a question. */
const MAX_QUESTION = 500;

/**
 * Notes what the server asks until the returned function is called, which gives the questions. One
 * without text may belong to another call. `isAnswered`: false if the server may still be working
 * on the call.
 */
export type NoteQuestions = () => (isAnswered: boolean) => readonly string[];

/**
 * Declines what the server asks, and notes it for the calls that are open. The text is noted only
 * for a call that is alone: beside other calls, stopped ones included, it may be about another run.
 */
export function declineQuestions(client: Pick<Client, 'setRequestHandler'>): NoteQuestions {
  const listeners = new Set<string[]>();
  let unanswered = 0;
  client.setRequestHandler('elicitation/create', ({ params }) => {
    const isAlone = listeners.size + unanswered === 1;
    const question = isAlone ? clip(params.message, MAX_QUESTION) : '';
    for (const asked of listeners) if (asked.length < MAX_QUESTIONS) asked.push(question);
    return { action: 'decline' };
  });
  return () => {
    const asked: string[] = [];
    listeners.add(asked);
    return (isAnswered) => {
      if (listeners.delete(asked) && !isAnswered) unanswered += 1;
      return asked;
    };
  };
}
