/** A service of Restate: each model call and each tool is a `ctx.run`, whose result is journaled. */
import * as restate from '@restatedev/restate-sdk';
import { connect } from '@restatedev/restate-sdk-clients';
import { serveSide, type Side } from '../side.ts';
import { askModel, chatOf, readPart, type ChatMessage, type Order } from '../work.ts';

const agent = restate.service({
  name: 'agent',
  handlers: {
    loop: async (
      ctx: restate.Context,
      { order, earlier }: { order: Order; earlier: readonly ChatMessage[] },
    ): Promise<string> => {
      const messages = [...earlier];
      for (let turn = 1; ; turn++) {
        const { text, call } = await ctx.run('model', () => askModel(order, turn));
        if (call === undefined) return text;
        messages.push({ role: 'assistant', text, call });
        messages.push({ role: 'tool', text: await ctx.run('tool', () => readPart(call.args)) });
      }
    },
  },
});

await serveSide(async ({ restate: places }): Promise<Side> => {
  if (places === undefined) throw new Error('Expected the addresses of Restate, got none.');
  await restate.serve({ services: [agent], port: places.port, logger: () => undefined });
  const uri = `http://127.0.0.1:${places.port}`;
  const answer = await fetch(`${places.admin}/deployments`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ uri, force: true }),
  });
  if (!answer.ok) throw new Error(`Expected to register ${uri}, got ${await answer.text()}`);
  const client = connect({ url: places.ingress }).serviceClient<typeof agent>({ name: 'agent' });
  return {
    play: async (order) => {
      await client.loop({ order, earlier: chatOf(order) });
    },
  };
});
