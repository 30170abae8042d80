/** The examples of docs/chat-ui.md: its code blocks are the regions of this file. */
import { Hono } from 'hono';
import type { Everloop } from '../../src/index.ts';
import {
  createChatHandler,
  toUIMessageStream,
  uiMessages,
  uiResponse,
  type UIMessage,
} from '../../src/ui.ts';

/** The server of a page with `useChat`. */
export function serverWith(
  everloop: Everloop,
  userOf: (request: Request) => string | null,
): { readonly fetch: (request: Request) => Response | Promise<Response> } {
  // #region handler
  const handler = createChatHandler({
    everloop,
    agent: 'host',
    // What the page sends proves nothing: say which conversations the person may use.
    conversation: (request, chatId) => {
      const user = userOf(request);
      return user === null ? null : `${user}:${chatId}`;
    },
  });
  // #endregion
  // #region hono
  const app = new Hono();
  app.post('/api/chat', (c) => handler(c.req.raw));
  app.get('/api/chat/:id/stream', (c) => handler(c.req.raw));
  app.delete('/api/chat/:id/stream', (c) => handler(c.req.raw));
  // #endregion
  return app;
}

/** A handler whose turns depend on who is signed in. */
export function handlerFor(
  everloop: Everloop,
  userOf: (request: Request) => { readonly name: string; readonly isPaying: boolean } | null,
): (request: Request) => Promise<Response> {
  // #region turn
  const handler = createChatHandler({
    everloop,
    agent: 'host',
    conversation: (request, chatId) => {
      const user = userOf(request);
      return user === null ? null : `${user.name}:${chatId}`;
    },
    turn: (request) => {
      const user = userOf(request);
      if (user === null) return null;
      const { name, isPaying } = user;
      return { by: name, context: { name }, limits: { costUsd: isPaying ? 1 : 0.1 } };
    },
  });
  // #endregion
  return handler;
}

/** The messages that a page begins with. */
export async function messagesOf(everloop: Everloop, id: string): Promise<UIMessage[]> {
  // #region messages
  const chat = everloop.conversation('host', { id });
  const messages = await uiMessages(chat, { last: 50 });
  // #endregion
  return messages;
}

/** One turn as the response to a request. */
export async function respond(everloop: Everloop, id: string, text: string): Promise<Response> {
  // #region run
  const turn = await everloop.conversation('host', { id }).say(text);
  return uiResponse(toUIMessageStream(turn));
  // #endregion
}
