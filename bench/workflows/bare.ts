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
