/** A workflow of DBOS: each model call and each tool is a step, whose result is a row of PostgreSQL. */
import { DBOS } from '@dbos-inc/dbos-sdk';
import { serveSide, type Side } from '../side.ts';
import { askModel, chatOf, readPart, type ChatMessage, type Order } from '../work.ts';

const agentLoop = DBOS.registerWorkflow(
  async (order: Order, earlier: readonly ChatMessage[]): Promise<string> => {
    const messages = [...earlier];
    for (let turn = 1; ; turn++) {
      const { text, call } = await DBOS.runStep(() => askModel(order, turn), { name: 'model' });
      if (call === undefined) return text;
      messages.push({ role: 'assistant', text, call });
      const result = await DBOS.runStep(() => readPart(call.args), { name: 'tool' });
      messages.push({ role: 'tool', text: result });
    }
  },
  { name: 'agentLoop' },
);

await serveSide(async ({ postgres = '' }): Promise<Side> => {
  const systemDatabaseUrl = `${postgres}/dbos`;
  // Without a version of its own, only the very same code takes up what another process left.
  DBOS.setConfig({ name: 'peers', systemDatabaseUrl, applicationVersion: '1', logLevel: 'error' });
  await DBOS.launch();
  return {
    play: async (order) => {
      const handle = await DBOS.startWorkflow(agentLoop, { workflowID: order.id })(
        order,
        chatOf(order),
      );
      await handle.getResult();
    },
  };
});
