/** The examples of docs/chat-ui.md: its code blocks are the regions of this file. */
import { Hono } from 'hono';
import type { Everloop } from '../../src/index.ts';
import { createChatHandler, toUIMessageStream, uiResponse } from '../../src/ui.ts';

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
      return user === null ? null : `${user}/${chatId}`;
    },
  });
  // #endregion
  // #region hono
  const app = new Hono();
  app.post('/api/chat', (c) => handler(c.req.raw));
  app.get('/api/chat/:id/stream', (c) => handler(c.req.raw));
  // #endregion
  return app;
}

/** One run as the response to a request. */
export async function respond(everloop: Everloop, task: string): Promise<Response> {
  // #region run
  const run = await everloop.start('host', { task, stream: true });
  return uiResponse(toUIMessageStream(run));
  // #endregion
}
