/** What the routes of `app/api/chat` share: one connection to the service, and the handler. */
import { connect, type ConnectedEverloop } from 'everloop/client';
import { createChatHandler } from 'everloop/ui';

let connected: Promise<ConnectedEverloop> | undefined;

/** Connects with the first request: there is no service while Next builds. */
function everloop(): Promise<ConnectedEverloop> {
  connected ??= connect();
  // The next request tries again.
  connected.catch(() => (connected = undefined));
  return connected;
}

/** Answers a request of `useChat`. */
export async function chat(request: Request): Promise<Response> {
  const handler = createChatHandler({
    everloop: await everloop(),
    agent: 'clerk',
    // Whoever knows the address of a chat may use it. Say here who may, as soon as people sign in:
    // conversation: async (request, chatId) => `${await userOf(request)}/${chatId}`,
  });
  return handler(request);
}
