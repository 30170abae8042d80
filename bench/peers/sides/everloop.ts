/** Everloop from the sources beside it, with the settings of a production worker. */
import { connect, defineAgent, defineTool, type Everloop } from '../../../src/index.ts';
import { runWorker } from '../../../src/worker.ts';
import { serveSide, type Side } from '../side.ts';
import { askModel, chatOf, readPart, type Order, type ReadArgs } from '../work.ts';

const WORD = 'order ';

const orders = new Map<string, Order>();

function agentOf(name: string, effect: 'idempotent' | 'once') {
  const read = defineTool({
    name: 'read',
    description: 'Reads a part.',
    parameters: { type: 'object', properties: { part: { type: 'integer' } } },
    effect,
    execute: (args: unknown) => readPart(args as ReadArgs),
  });
  return defineAgent({
    name,
    mode: 'chat',
    tools: [read],
    model: async ({ runId, iteration, messages }) => {
      const order = orders.get(runId) ?? orderIn(messages);
      orders.set(runId, order);
      const { text, call } = await askModel(order, iteration);
      const usage = { inputTokens: 100, outputTokens: 10 };
      if (call === undefined) return { content: text, usage };
      return { content: text, toolCalls: [{ ...call, name: 'read' }], usage };
    },
  });
}

/** The order is in the task, since a worker that starts anew knows nothing else. */
function orderIn(messages: readonly { readonly parts: readonly object[] }[]): Order {
  for (const part of messages.flatMap(({ parts }) => parts)) {
    const text = 'text' in part ? String(part.text) : '';
    const at = text.indexOf(WORD);
    if (at >= 0) return JSON.parse(text.slice(at + WORD.length)) as Order;
  }
  throw new Error('Expected a task with an order, got none.');
}

await serveSide(async ({ folder, temporal }): Promise<Side> => {
  const place = { dataDir: folder, address: temporal ?? '', taskQueue: 'everloop' };
  const agents = [agentOf('idempotent', 'idempotent'), agentOf('once', 'once')];
  await new Promise<void>((resolve, reject) => {
    runWorker({ ...place, agents, onReady: () => resolve() }).catch(reject);
  });
  const everloop: Everloop = await connect(place);
  return {
    play: async (order) => {
      const run = await everloop.start(order.id.startsWith('once') ? 'once' : 'idempotent', {
        task: `${WORD}${JSON.stringify(order)}`,
        history: chatOf(order)
          .slice(0, -1)
          .map(({ role, text }) => ({ role: role === 'user' ? 'user' : 'assistant', text })),
        limits: 'unlimited',
      });
      const { status, message } = await run.result();
      if (status !== 'success') throw new Error(`Expected success, got ${status}: ${message}`);
    },
  };
});
