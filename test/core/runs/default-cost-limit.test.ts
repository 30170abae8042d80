/** The limit of $1 that a root has when all its models have prices, and nobody set or lifted one. */
import { describe, expect, test } from 'vitest';
import type { Limit } from '../../../src/core/contract/limit.ts';
import type { LimitsInput } from '../../../src/core/contract/input.ts';
import { agentTool } from '../../../src/define/tool/agent-tool.ts';
import { defineAgent } from '../../../src/define/agent/define-agent.ts';
import { fanOut } from '../../../src/define/pipeline/define-fan-out.ts';
import { pipeline } from '../../../src/define/pipeline/define-pipeline.ts';
import type { AgentDefinition } from '../../../src/define/definition/definitions.ts';
import type { AgentOptions } from '../../../src/define/agent/agent-options.ts';
import type { ModelEntry } from '../../../src/define/model/model-entry.ts';
import type { ModelReply } from '../../../src/core/contract/model.ts';
import { startInMemory } from '../../../src/testing/run-in-memory.ts';
import type { MemoryRun } from '../../../src/testing/memory-run.ts';

const DEFAULT: Limit = {
  kind: 'exact',
  key: 'agent:cost_microusd',
  max: 1_000_000,
  byDefault: true,
};

/** A model of $1 for a million tokens; each of its replies costs `usd`. */
function priced(
  usd = 0,
  replies: readonly (ModelReply | string)[] = ['fine'],
  id = 'priced',
): ModelEntry {
  let calls = 0;
  return {
    id,
    price: { input: 1, output: 1 },
    model: async () => {
      const reply = replies[Math.min(calls++, replies.length - 1)] as ModelReply | string;
      const parts = typeof reply === 'string' ? { content: reply } : reply;
      return { ...parts, usage: { inputTokens: usd * 1_000_000, outputTokens: 0 } };
    },
  };
}

const unpriced: ModelEntry = { id: 'free', model: async () => 'fine' };

function agentOf(model: ModelEntry, options: Partial<AgentOptions> = {}): AgentDefinition {
  return defineAgent({ name: 'desk', mode: 'chat', description: 'Works.', model, ...options });
}

function costLimits(run: MemoryRun): readonly Limit[] {
  return run.state.limits.filter(({ key }) => key === 'agent:cost_microusd');
}

async function limitsWith(agent: AgentDefinition, limits?: LimitsInput): Promise<readonly Limit[]> {
  const run = startInMemory({ agent, task: 'Go', ...(limits !== undefined && { limits }) });
  await run.result;
  return costLimits(run);
}

describe('the default limit on cost', () => {
  test('is said at the start, is last, and goes when a limit is set or lifted', async () => {
    const run = startInMemory({ agent: agentOf(priced()), task: 'Go' });
    await run.result;

    expect(run.events[0]).toMatchObject({
      type: 'agent:execution:before',
      defaultLimits: [DEFAULT],
    });
    expect(run.state.limits.at(-1)).toEqual(DEFAULT);
    const set = [{ kind: 'exact', key: 'agent:cost_microusd', max: 2_000_000 }];
    expect(await limitsWith(agentOf(priced(), { limits: { costUsd: 2 } }))).toEqual(set);
    expect(await limitsWith(agentOf(priced()), { costUsd: 2 })).toEqual(set);
    expect(await limitsWith(agentOf(priced()), { costUsd: null })).toEqual([]);
    expect(await limitsWith(agentOf(priced(), { limits: { costUsd: null } }))).toEqual([]);
    expect(await limitsWith(agentOf(priced(), { limits: { costUsd: 'unlimited' } }))).toEqual([]);
    expect(await limitsWith(agentOf(priced(), { limits: 'unlimited' }))).toEqual([]);
    expect(
      await limitsWith(agentOf(priced(), { limits: { costUsd: null } }), { costUsd: 2 }),
    ).toEqual(set);
    expect(await limitsWith(agentOf(priced()), { iterations: 3 })).toEqual([DEFAULT]);
  });

  test('is there only if every model of the family has a price', async () => {
    const helper = (model: ModelEntry): AgentDefinition =>
      defineAgent({ name: 'helper', mode: 'chat', description: 'Helps.', model });
    const over = (agent: AgentDefinition): AgentDefinition =>
      agentOf(priced(), { tools: [agentTool({ agent })] });

    expect(await limitsWith(agentOf(unpriced))).toEqual([]);
    expect(await limitsWith(over(helper(priced(0, ['fine'], 'other'))))).toEqual([DEFAULT]);
    expect(await limitsWith(over(helper(unpriced)))).toEqual([]);
    const middle = defineAgent({
      name: 'middle',
      mode: 'chat',
      description: 'Stands between.',
      model: priced(0, ['fine'], 'other'),
      tools: [agentTool({ agent: helper(unpriced) })],
    });
    expect(await limitsWith(over(middle))).toEqual([]);
    expect(await limitsWith(pipeline('line', [helper(priced())]))).toEqual([DEFAULT]);
    expect(await limitsWith(pipeline('line', [helper(unpriced)]))).toEqual([]);
    const items = { context: { items: [1] } };
    const fan = startInMemory({ agent: fanOut('fan', helper(priced())), ...items });
    await fan.result;
    expect(costLimits(fan)).toEqual([DEFAULT]);
  });

  test('is not there if a tool may ask any model and one of them has no price', async () => {
    const agent = agentOf(priced(), { llmQuery: true });
    const started = (models: readonly ModelEntry[]): MemoryRun =>
      startInMemory({ agent, task: 'Go', models });
    const [all, some] = [started([priced(0, ['x'], 'b')]), started([unpriced])];
    await Promise.all([all.result, some.result]);

    expect(costLimits(all)).toEqual([DEFAULT]);
    expect(costLimits(some)).toEqual([]);
  });

  test('ends a run with a message that says how to set or lift it', async () => {
    const step = await startInMemory({ agent: agentOf(priced(1.5)), task: 'Go' }).result;

    // The answer was in hand when the limit was crossed.
    expect(step).toMatchObject({ status: 'success', exceededLimit: { limit: DEFAULT } });
    const calls: ModelReply = { toolCalls: [{ name: 'nothing', args: {} }] };
    const long = await startInMemory({ agent: agentOf(priced(0.6, [calls])), task: 'Go' }).result;
    expect(long).toMatchObject({ status: 'limit_exceeded', reason: 'agent:cost_microusd' });
    expect(long.message).toBe(
      'limit exceeded: agent:cost_microusd is 1200000, the limit is 1000000, a default of $1 a run. ' +
        'Set another in the definition or at the start, `limits: { costUsd: 5 }`, or lift it: `limits: { costUsd: null }`',
    );
  });

  test('can be raised or lifted while the run goes on, also after a hand-over', async () => {
    const calls: ModelReply = { toolCalls: [{ name: 'nothing', args: {} }] };
    const model = (): ModelEntry => priced(0.6, [calls, calls, calls, 'fine']);
    for (const limits of [{ costUsd: 5 }, { costUsd: null }]) {
      const run = startInMemory({
        agent: agentOf(model(), { limits: { custom: [] } }),
        task: 'Go',
        handoverDue: (_iteration, place) => place === 'boundary',
        onEvent: (event, own) => {
          if (event.type === 'agent:iteration:before' && event.iteration === 2) own.adjust(limits);
        },
      });

      expect(await run.result).toMatchObject({ status: 'success' });
      expect(costLimits(run).map(({ max, byDefault }) => [max, byDefault])).toEqual(
        limits.costUsd === null ? [] : [[5_000_000, undefined]],
      );
    }
  });

  test('of a root holds for its children, which have none of their own', async () => {
    const calls: ModelReply = { toolCalls: [{ name: 'nothing', args: {} }] };
    const helper = defineAgent({
      name: 'helper',
      mode: 'chat',
      description: 'Helps.',
      model: priced(0.6, [calls], 'other'),
    });
    const ask: ModelReply = { toolCalls: [{ name: 'helper', args: { task: 'Help.' } }] };
    const agent = agentOf(priced(0, [ask]), { tools: [agentTool({ agent: helper })] });
    const run = startInMemory({ agent, task: 'Go' });
    const step = await run.result;

    expect(run.children[0]?.state.limits.some(({ byDefault }) => byDefault === true)).toBe(false);
    expect(run.children[0]?.state.leases?.map(({ limit }) => limit)).toContainEqual(DEFAULT);
    expect(step).toMatchObject({ status: 'limit_exceeded' });
    expect(step.message).toContain('`limits: { costUsd: null }`');
    expect(step.usage.costMicroUsd).toBeLessThanOrEqual(1_200_000);
  });

  test('is no claim that users can make', async () => {
    const claimed = { ...DEFAULT, max: 3_000_000 };
    const run = startInMemory({
      agent: agentOf(priced()),
      task: 'Go',
      limits: { custom: [claimed] },
    });
    await run.result;

    expect(costLimits(run)).toEqual([
      { kind: 'exact', key: 'agent:cost_microusd', max: 3_000_000 },
    ]);
  });
});
