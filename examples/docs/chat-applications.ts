/** The examples of docs/chat-applications.md, and its agent for `everloop chat`. */
import { z } from 'zod';
import {
  defineAgent,
  defineTool,
  type AgentDefinition,
  type AgentModel,
  type Conversation,
  type ConversationTurn,
  type Everloop,
  type Json,
  type PendingItem,
  type RunUpdate,
  type Step,
} from '../../src/index.ts';
import { exampleDialogue } from '../example-model.ts';

const book = defineTool({
  name: 'book',
  description: 'Books a table.',
  parameters: z.object({ guests: z.number(), place: z.string() }),
  effect: 'once',
  approval: 'always',
  execute: ({ guests, place }) => `Table 7, ${place}, for ${guests}.`,
});

/** An agent that asks guests, and books after approval. */
export function hostWith(model: AgentModel): AgentDefinition {
  // #region agent
  const host = defineAgent({
    name: 'host',
    mode: 'chat',
    model,
    instructions: 'You are the host of a restaurant. Ask guests for what you cannot know.',
    tools: [book],
    askUser: true,
  });
  // #endregion
  return host;
}

/** `POST /chats/{id}`: sends a person's message and follows the turn, as server-sent events. */
export async function say(
  everloop: Everloop,
  {
    id,
    text,
    messageId,
  }: { readonly id: string; readonly text: string; readonly messageId: string },
  send: (update: RunUpdate) => void,
  signal: AbortSignal,
): Promise<void> {
  // #region say
  const chat = everloop.conversation('host', { id });
  // The same message has the same id, so a request that is sent twice counts once.
  const turn = await chat.say(text, { id: messageId });
  // The signal aborts when the browser goes away; the turn continues.
  for await (const update of turn.follow({ signal })) send(update);
  // #endregion
}

/** `POST /chats/{id}/answers/{itemId}`: an answer to a question. */
export async function answer(
  everloop: Everloop,
  id: string,
  itemId: string,
  value: Json,
  updateId: string,
): Promise<void> {
  // #region answer
  const chat = everloop.conversation('host', { id });
  await chat.run.answer(itemId, value, { updateId });
  // #endregion
}

/** `GET /chats/{id}`: everything that a reopened page needs, perhaps on another machine. */
export async function open(
  everloop: Everloop,
  id: string,
  send: (update: RunUpdate) => void,
  signal: AbortSignal,
): Promise<readonly ConversationTurn[]> {
  // #region open
  const chat = everloop.conversation('host', { id });
  const turns = await chat.turns({ last: 50 });
  const last = turns.at(-1);
  if (last?.step === null) {
    // A turn is open: first comes what already waits, then what happens next.
    void (async () => {
      const turn = chat.turn(last.messageId);
      for await (const update of turn.follow({ signal })) send(update);
    })();
  }
  // #endregion
  return turns;
}

/** `POST /chats/{id}/stop`: ends what goes on, and nothing else. */
export async function stop(everloop: Everloop, id: string): Promise<void> {
  // #region stop
  const chat = everloop.conversation('host', { id });
  const turn = await chat.newest();
  await turn?.cancel('The guest pressed stop.');
  // #endregion
}

/** `PUT /chats/{id}/messages/{messageId}`: what was said is replaced, and all after it. */
export async function edit(
  everloop: Everloop,
  id: string,
  messageId: string,
  text: string,
): Promise<Step> {
  // #region edit
  const chat = everloop.conversation('host', { id });
  const turn = await chat.say(text, { instead: messageId });
  return turn.result();
  // #endregion
}

/** A conversation of a customer's, with limits for each turn and for all of them. */
export function limited(everloop: Everloop, id: string): Conversation {
  // #region limits
  const chat = everloop.conversation('host', {
    id,
    tenant: 'acme',
    limits: { costUsd: 0.2, iterations: 20 },
    totalLimits: { costUsd: 5 },
    idleMs: 7 * 86_400_000,
  });
  // #endregion
  return chat;
}

/** What a page shows for the newest turn. */
export interface Shown {
  readonly draft: string;
  readonly waiting: readonly PendingItem[];
  readonly answer: Json;
}

/** The page after a run update. */
export function shownAfter(shown: Shown, update: RunUpdate): Shown {
  // #region show
  switch (update.kind) {
    case 'text':
      return { ...shown, draft: shown.draft + update.delta };
    case 'restart':
      return { ...shown, draft: '' };
    case 'pending':
      return { ...shown, waiting: [...shown.waiting, update.item] };
    case 'settled':
      return { ...shown, waiting: shown.waiting.filter(({ id }) => id !== update.id) };
    case 'step': {
      // The durable answer replaces everything that streamed.
      const { status, value, message = status } = update.step;
      return { draft: '', waiting: [], answer: status === 'success' ? value : message };
    }
    default:
      return shown;
  }
  // #endregion
}

/** The agent with a scripted model, for `everloop chat host`. */
export const host: AgentDefinition = hostWith(
  exampleDialogue([
    {
      said: /table for two/i,
      results: 0,
      reply: {
        toolCalls: [
          {
            name: 'ask_user',
            args: { question: 'Inside or outside?', options: ['inside', 'outside'] },
          },
        ],
      },
    },
    {
      said: /table for two/i,
      results: 1,
      reply: {
        content: 'I have what I need.',
        toolCalls: [{ name: 'book', args: { guests: 2, place: 'outside' } }],
      },
    },
    {
      said: /table for two/i,
      results: 2,
      reply: { content: 'Booked: table 7, outside, for two.' },
    },
    { said: /which table/i, results: 0, reply: { content: 'Table 7, outside.' } },
    { said: /./, results: 0, reply: { content: 'Good evening! How can I help?' } },
  ]),
);
