/** A bare workflow on Temporal. */
import { serveSide, type Side } from '../side.ts';
import { chatOf } from '../work.ts';
import { startTemporal } from './temporal/temporal-worker.ts';

await serveSide(async (places): Promise<Side> => {
  const taskQueue = 'bare-temporal';
  const client = await startTemporal(places, { workflows: './loop.ts', taskQueue });
  return {
    play: async (order) => {
      const args = [order, chatOf(order), 1];
      await client.workflow.execute('agentLoop', { workflowId: order.id, taskQueue, args });
    },
  };
});
