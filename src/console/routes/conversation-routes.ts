/** Conversations with agents: each message begins the next turn, or goes to the one that runs. */
import { openConversation } from '../../client/conversation.ts';
import { readBody, textIn } from '../request-body.ts';
import { actorOf, type AddRoutes } from './route-parts.ts';

/** Adds `/conversations/:id/say`. */
export const addConversationRoutes: AddRoutes = (app, { everloop, act, feed }) => {
  app.post('/conversations/:id/say', async (c) => {
    const id = c.req.param('id');
    const body = await readBody(c.req.raw, ['requestId', 'agent', 'text']);
    const order = { name: 'say', asker: c.get('asker'), run: id, body };
    const answer = await act(order, async (requestId) => {
      const conversation = await openConversation(everloop, textIn(body, 'agent'), { id });
      const { run, how } = await conversation.say(textIn(body, 'text'), {
        id: requestId,
        ...actorOf(c.get('asker')),
      });
      return { run: run.id, how };
    });
    feed.hurry(answer.run);
    return c.json(answer);
  });
};
