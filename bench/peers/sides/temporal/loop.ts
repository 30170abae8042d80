/** The loop that one writes first on Temporal: each model call gets the conversation so far. */
import { continueAsNew, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { ChatMessage, Order, ReadArgs, Reply } from '../../work.ts';

/** The activities of the loop. */
export interface Activities {
  askModel(order: Order, turn: number, messages: readonly ChatMessage[]): Promise<Reply>;
  readPart(args: ReadArgs): Promise<string>;
}

const { askModel, readPart } = proxyActivities<Activities>({
  startToCloseTimeout: '1m',
  heartbeatTimeout: '10s',
});

/** Asks the model until it answers; begins a new history when the service suggests it. */
export async function agentLoop(
  order: Order,
  earlier: readonly ChatMessage[],
  firstTurn: number,
): Promise<string> {
  const messages = [...earlier];
  for (let turn = firstTurn; ; turn++) {
    const { text, call } = await askModel(order, turn, messages);
    if (call === undefined) return text;
    messages.push({ role: 'assistant', text, call });
    messages.push({ role: 'tool', text: await readPart(call.args) });
    if (workflowInfo().continueAsNewSuggested) {
      await continueAsNew<typeof agentLoop>(order, messages, turn + 1);
    }
  }
}
