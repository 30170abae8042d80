/**
 * A graph of LangGraph with the checkpointer for PostgreSQL, which writes before the next step.
 *
 * `PEERS_VARIANT=delta` keeps the messages in a channel that stores only what is new. LangGraph
 * calls it beta; without it the whole conversation is written after each step.
 */
import { AIMessage, HumanMessage, ToolMessage, type BaseMessage } from '@langchain/core/messages';
import {
  Annotation,
  DeltaChannel,
  END,
  MessagesAnnotation,
  messagesDeltaReducer,
  START,
  StateGraph,
} from '@langchain/langgraph';
import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import { serveSide, type Side } from '../side.ts';
import { askModel, chatOf, readPart, type Order, type ReadArgs } from '../work.ts';

const isDelta = process.env['PEERS_VARIANT'] === 'delta';

const messages = isDelta
  ? (new DeltaChannel(messagesDeltaReducer) as never)
  : MessagesAnnotation.spec.messages;
const State = Annotation.Root({ messages, order: Annotation<Order> });

interface Values {
  readonly messages: BaseMessage[];
  readonly order: Order;
}

async function model(values: Values): Promise<Partial<Values>> {
  const turn = values.messages.filter((message) => message.getType() === 'tool').length + 1;
  const { text, call } = await askModel(values.order, turn);
  const calls = call === undefined ? [] : [{ id: call.id, name: 'read', args: { ...call.args } }];
  return { messages: [new AIMessage({ content: text, tool_calls: calls })] };
}

async function tool(values: Values): Promise<Partial<Values>> {
  const [call] = (values.messages.at(-1) as AIMessage).tool_calls ?? [];
  const content = await readPart(call?.args as ReadArgs);
  return { messages: [new ToolMessage({ content, tool_call_id: call?.id ?? '' })] };
}

await serveSide(async ({ postgres = '' }): Promise<Side> => {
  const name = isDelta ? 'langgraph_delta' : 'langgraph';
  const checkpointer = PostgresSaver.fromConnString(`${postgres}/${name}`);
  await checkpointer.setup();
  const graph = new StateGraph(State)
    .addNode('model', model as never)
    .addNode('tool', tool as never)
    .addEdge(START, 'model')
    .addConditionalEdges(
      'model',
      ((values: Values) =>
        (values.messages.at(-1) as AIMessage).tool_calls?.length ? 'tool' : END) as never,
      ['tool', END],
    )
    .addEdge('tool', 'model')
    .compile({ checkpointer });
  const config = ({ id, turns }: Order) => ({
    configurable: { thread_id: id },
    recursionLimit: 2 * turns + 10,
    durability: 'sync' as const,
  });
  return {
    play: async (order) => {
      const earlier = chatOf(order).map(({ role, text }) =>
        role === 'user' ? new HumanMessage(text) : new AIMessage(text),
      );
      await graph.invoke({ order, messages: earlier } as never, config(order));
    },
    // The application has to know which threads it left, and to call each of them again.
    resume: async (order) => {
      await graph.invoke(null, config(order));
    },
  };
});
