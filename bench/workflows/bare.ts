/** The baseline: workflows that only call the same activities with the same payloads. */
import {
  condition,
  defineSignal,
  executeChild,
  proxyActivities,
  setHandler,
} from '@temporalio/workflow';

/** The activities of the baseline. */
export interface BareActivities {
  bareModel(order: unknown): Promise<unknown>;
  bareTool(order: unknown): Promise<unknown>;
}

/** Payloads that both sides send. */
export interface BareInput {
  readonly turns: number;
  readonly heartbeatMs: number;
  readonly modelOrder: unknown;
  readonly toolOrder: unknown;
  /** Tool calls of a turn, one after another. */
  readonly calls: number;
}

/** Makes a model call and then tool calls, `turns` times. */
export async function bare(input: BareInput): Promise<string> {
  const { turns, heartbeatMs, modelOrder, toolOrder, calls } = input;
  const { bareModel, bareTool } = proxyActivities<BareActivities>({
    startToCloseTimeout: '1m',
    heartbeatTimeout: heartbeatMs,
  });
  for (let turn = 0; turn < turns; turn++) {
    await bareModel(modelOrder);
    for (let call = 0; call < calls; call++) await bareTool(toolOrder);
  }
  return 'done';
}

/** Runs many workflows of the kind above at once, between two model calls. */
export async function bareTree(input: BareInput & { readonly children: number }): Promise<string> {
  const { children, heartbeatMs, modelOrder } = input;
  const { bareModel } = proxyActivities<BareActivities>({
    startToCloseTimeout: '1m',
    heartbeatTimeout: heartbeatMs,
  });
  await bareModel(modelOrder);
  await Promise.all(Array.from({ length: children }, () => executeChild(bare, { args: [input] })));
  await bareModel(modelOrder);
  return 'done';
}

const go = defineSignal('go');

/** Waits for a signal: the baseline of an idle agent. */
export async function bareIdle(): Promise<void> {
  let gone = false;
  setHandler(go, () => {
    gone = true;
  });
  await condition(() => gone);
}

const said = defineSignal<[string]>('said');

/** Calls an activity for each signal: the baseline of a conversation. */
export async function bareListener(): Promise<void> {
  const { bareModel } = proxyActivities<BareActivities>({
    startToCloseTimeout: '1m',
    heartbeatTimeout: '5s',
  });
  const waiting: string[] = [];
  setHandler(said, (text) => void waiting.push(text));
  for (;;) {
    await condition(() => waiting.length > 0);
    await bareModel(waiting.shift());
  }
}

/** A message of a chat, as the AI SDK has it. */
export type ChatMessage = Readonly<Record<string, unknown>>;

/** The activities of {@link bareChat}. */
export interface ChatActivities {
  chatModel(messages: readonly ChatMessage[]): Promise<{
    readonly messages: readonly unknown[];
    readonly calls: readonly {
      readonly id: string;
      readonly name: string;
      readonly input: unknown;
    }[];
  }>;
  chatTool(input: unknown): Promise<string>;
}

/** A chat agent as anyone would write it: it sends its messages, until a reply calls no tool. */
export async function bareChat(task: string, heartbeatMs: number): Promise<string> {
  const { chatModel, chatTool } = proxyActivities<ChatActivities>({
    startToCloseTimeout: '5m',
    heartbeatTimeout: heartbeatMs,
  });
  const messages: ChatMessage[] = [{ role: 'user', content: task }];
  for (;;) {
    const { messages: added, calls } = await chatModel(messages);
    messages.push(...(added as readonly ChatMessage[]));
    if (calls.length === 0) return 'done';
    for (const { id: toolCallId, name: toolName, input } of calls) {
      const output = { type: 'text', value: await chatTool(input) };
      messages.push({
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId, toolName, output }],
      });
    }
  }
}
