import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { requestTokens } from '../../../src/core/ask/context-tokens.ts';
import { createFakeClock, type FakeClock } from '../../../src/testing/fake-clock.ts';
import type { Step } from '../../../src/core/contract/step.ts';
import { defineAgent } from '../../../src/define/agent/define-agent.ts';
import { llmTool } from '../../../src/define/tool/define-llm-tool.ts';
import { agentTool } from '../../../src/define/tool/agent-tool.ts';
import type { AgentDefinition } from '../../../src/define/definition/definitions.ts';
import type { Json } from '../../../src/core/base/json.ts';
import type { ModelFunction, ModelReply, Price } from '../../../src/core/contract/model.ts';
import type { LimitsInput } from '../../../src/core/contract/input.ts';
import type { MemoryRun } from '../../../src/testing/memory-run.ts';
import { startInMemory } from '../../../src/testing/run-in-memory.ts';
import {
  honestProvider,
  type HonestPlay,
  type HonestProvider,
} from '../../support/honest-provider.ts';
import { act, answer, bodiesOf, searchTool } from '../../support/runs.ts';
import { delegate, ownSums, runsOf } from '../../support/trees.ts';

const PRICE: Price = { input: 2.5, output: 10 };

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Runs a tree to its end; time goes on whenever nothing else does. */
async function endOf(run: MemoryRun, clock: FakeClock): Promise<Step> {
  let isOver = false;
  const result = run.result.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await nextTurn();
    clock.advance(1_000);
  }
  return result;
}

/** A tree: a run that calls `children` others at once, each with so many iterations. */
function tree(
  children: number,
  iterations: number,
  play: Omit<HonestPlay, 'content'>,
  entry: { readonly price?: Price; readonly maxOutputTokens?: number } = { price: PRICE },
): { readonly agent: AgentDefinition; readonly provider: HonestProvider } {
  const provider = honestProvider({
    pause: nextTurn,
    ...play,
    content: ({ agent, iteration }) => {
      if (agent === 'leaf') return iteration < iterations ? act('a', 'b') : answer();
      const calls = Array.from({ length: children }, (_, at) => ['leaf', `${at}`] as const);
      return iteration === 1 ? delegate(...calls) : answer();
    },
  });
  const model = { id: 'm', model: provider.model, ...entry };
  const leaf = defineAgent({ name: 'leaf', mode: 'react', model, tools: [searchTool()] });
  const agent = defineAgent({
    name: 'root',
    mode: 'react',
    model,
    tools: [agentTool({ agent: leaf })],
  });
  return { agent, provider };
}

function spent(run: MemoryRun, key: string): number {
  return ownSums(runsOf(run).map(({ state }) => state.stats))[key] ?? 0;
}

const KINDS = [
  { key: 'agent:total_tokens', limitsOf: (max: number): LimitsInput => ({ totalTokens: max }) },
  {
    key: 'agent:cost_microusd',
    limitsOf: (max: number): LimitsInput => ({ costUsd: (max * 4) / 1_000_000 }),
    of: 4,
  },
] as const;

describe('a tree whose provider counts prompts as they are estimated', () => {
  const shapes = fc.record({
    children: fc.integer({ min: 1, max: 5 }),
    iterations: fc.integer({ min: 1, max: 4 }),
    max: fc.integer({ min: 800, max: 30_000 }),
    outputs: fc.array(fc.integer({ min: 1, max: 4_000 }), { minLength: 3, maxLength: 9 }),
    kind: fc.constantFrom(...KINDS),
  });

  it('[R8] never overruns a limit on tokens or cost', async () => {
    let bound = 0;
    await fc.assert(
      fc.asyncProperty(shapes, async ({ children, iterations, max, outputs, kind }) => {
        let calls = 0;
        const output = (): number => outputs[calls++ % outputs.length] ?? 1;
        const { agent } = tree(children, iterations, { output });

        const run = startInMemory({ agent, task: 'Go', limits: kind.limitsOf(max) });
        const step = await run.result;

        expect(spent(run, kind.key)).toBeLessThanOrEqual('of' in kind ? max * kind.of : max);
        expect(['success', 'limit_exceeded']).toContain(step.status);
        if (step.status === 'limit_exceeded') {
          bound += 1;
          // Children that stop are failed calls of the root.
          expect([kind.key, 'agent:tool_calls_error_consecutive']).toContain(step.reason);
        }
      }),
      { numRuns: 60 },
    );
    expect(bound).toBeGreaterThan(10);
  });

  it('[R8] nor in mode chat, where the last turn and found tools make a prompt longer', async () => {
    const call = (name: string, args: Json): ModelReply => ({ toolCalls: [{ name, args }] });
    // The call of this number writes all that it may.
    for (const longest of [1, 2, 3]) {
      const found: number[] = [];
      const provider = honestProvider({
        output: () => (provider.calls.length === longest ? 50_000 : 1),
        content: ({ iteration, tools = [] }) => {
          found.push(tools.length);
          if (iteration === 3) return 'done';
          return iteration === 1
            ? call('tool_registry_search', { query: 'pages' })
            : call('t3', { query: 'x' });
        },
      });
      const model = { id: 'm', model: provider.model, price: PRICE };
      const tools = ['t1', 't2', 't3', 't4'].map((name) => searchTool(undefined, { name }));
      const leaf = defineAgent({ name: 'leaf', model, mode: 'text' });
      const agent = defineAgent({
        name: 'root',
        model,
        mode: 'chat',
        maxTurns: 3,
        toolSearch: {},
        tools: [...tools, agentTool({ agent: leaf })],
      });

      const run = startInMemory({ agent, task: 'Go', limits: { totalTokens: 9_000 } });
      await run.result;

      expect(spent(run, 'agent:total_tokens'), `${longest}`).toBeLessThanOrEqual(9_000);
      expect(spent(run, 'agent:total_tokens'), `${longest}`).toBeGreaterThan(8_800);
      expect(new Set(found).size).toBe(Math.min(longest, 2));
    }
  });

  it('[R8] overruns it by 0.3 of the prompts in flight when it counts 1.3 times as many', async () => {
    await fc.assert(
      fc.asyncProperty(shapes, async ({ children, iterations, max, outputs, kind }) => {
        let calls = 0;
        const output = (): number => outputs[calls++ % outputs.length] ?? 1;
        const { agent, provider } = tree(children, iterations, { output, ratio: 1.3 });

        const run = startInMemory({ agent, task: 'Go', limits: kind.limitsOf(max) });
        await run.result;

        const perToken = 'of' in kind ? PRICE.input : 1;
        const most = 0.3 * provider.mostInFlight() * perToken;
        const limit = 'of' in kind ? max * kind.of : max;
        expect(spent(run, kind.key) - limit).toBeLessThanOrEqual(most);
      }),
      { numRuns: 60 },
    );
  });
});

describe('a model call of a tree', () => {
  it('[R8] is sent with what its lease still pays', async () => {
    const { agent, provider } = tree(1, 1, { output: () => 10 });

    await startInMemory({ agent, task: 'Go', limits: { totalTokens: 9_000 } }).result;

    const [root, leaf] = provider.calls;
    expect(root?.cap).toBe(9_000 - (root?.promptTokens ?? 0));
    const granted = Math.floor((9_000 - (root?.promptTokens ?? 0) - 10) / 2);
    expect(leaf?.cap).toBeLessThanOrEqual(9_000);
    expect(leaf?.cap).toBeGreaterThanOrEqual(granted - (leaf?.promptTokens ?? 0));
  });

  it('[R8] is never sent with more than its entry allows', async () => {
    const { agent, provider } = tree(1, 1, { output: () => 10 }, { maxOutputTokens: 700 });

    await startInMemory({ agent, task: 'Go', limits: { totalTokens: 90_000 } }).result;

    // The entry has a cap of its own, so the order needs none.
    expect(provider.calls.map(({ cap }) => cap)).toEqual([null, null, null]);
  });

  it('[R8] ends the run when a budget cuts its reply', async () => {
    const { agent } = tree(1, 1, { output: ({ agent: name }) => (name === 'leaf' ? 50_000 : 10) });
    const run = startInMemory({ agent, task: 'Go', limits: { totalTokens: 9_000 } });

    const step = await run.result;

    const [leaf] = run.children;
    expect((await leaf?.result)?.status).toBe('limit_exceeded');
    expect((await leaf?.result)?.exceededLimit?.origin).toMatchObject({ agent: 'root' });
    expect(spent(run, 'agent:total_tokens')).toBeLessThanOrEqual(9_000);
    expect(step.exceededLimit ?? step.status).toBeDefined();
    // What was written is paid for, and stays in the history.
    expect(leaf?.entries.at(-1)?.messages[0]?.role).toBe('assistant');
  });

  it.each([
    ['root', 'limit_exceeded', 'agent:total_tokens'],
    ['leaf', 'success', 'answered'],
  ])('[R8] of the %s whose failed attempt used up its cover: %s', async (who, status, reason) => {
    const failed = new Set<string>();
    const provider = honestProvider({
      output: () => 10,
      content: ({ agent, iteration }) =>
        agent === 'root' && iteration === 1 ? delegate(['leaf', '1']) : answer(),
    });
    const flaky: ModelFunction = async (request, io) => {
      const { maxOutputTokens } = request.settings;
      if (request.agent === who && failed.size === 0) {
        failed.add(request.runId);
        // All but a little of what the call may use.
        const outputTokens = Number(maxOutputTokens) - 100;
        const usage = { inputTokens: requestTokens(request), outputTokens };
        throw Object.assign(new Error('overloaded'), { status: 503, usage });
      }
      return provider.model(request, io);
    };
    const model = { id: 'm', model: flaky, price: PRICE };
    const leaf = defineAgent({ name: 'leaf', mode: 'react', model, tools: [searchTool()] });
    const agent = defineAgent({
      name: 'root',
      mode: 'react',
      model,
      tools: [agentTool({ agent: leaf })],
    });
    const clock = createFakeClock();
    const run = startInMemory({ agent, task: 'Go', clock, limits: { totalTokens: 9_000 } });
    const step = await endOf(run, clock);

    expect(failed.size).toBe(1);
    expect(step).toMatchObject({ status, reason });
    // The leaf got more from the root, and asked again.
    for (const child of run.children)
      expect(await child.result).toMatchObject({ status: 'success' });
    expect(spent(run, 'agent:total_tokens')).toBeLessThanOrEqual(9_000);
  });

  it('[R8] does not start when its prompt and a little output do not fit', async () => {
    const { agent, provider } = tree(1, 1, { output: () => 10 });
    const run = startInMemory({ agent, task: 'Go', limits: { totalTokens: 200 } });

    const step = await run.result;

    expect(step).toMatchObject({ status: 'limit_exceeded', reason: 'agent:total_tokens' });
    expect(provider.calls).toEqual([]);
    expect(bodiesOf(run.events, 'agent:model_call:before')).toEqual([]);
  });

  it('[R8] beside another of its run waits for what that one leaves', async () => {
    const provider = honestProvider({
      pause: nextTurn,
      output: () => 400,
      content: ({ messages, iteration }) => {
        const text = JSON.stringify(messages);
        if (text.includes('Sum up')) return '{"short": "x"}';
        const calls = ['a', 'b', 'c'].map((at) => `- tool: sum\n  args: { text: ${at} }`);
        return iteration === 1 ? `<action>\n${calls.join('\n')}\n</action>` : answer();
      },
    });
    const model = { id: 'm', model: provider.model, price: PRICE };
    const sum = llmTool({
      name: 'sum',
      description: 'Sums up.',
      prompt: 'Sum up {{text}}',
      signature: '(text :string) -> {short :string}',
    });
    const leaf = defineAgent({ name: 'leaf', mode: 'react', model, tools: [searchTool()] });
    const agent = defineAgent({
      name: 'root',
      mode: 'react',
      model,
      tools: [sum, agentTool({ agent: leaf })],
    });
    const run = startInMemory({ agent, task: 'Go', limits: { totalTokens: 6_000 } });

    const step = await run.result;

    expect(step.status).toBe('success');
    expect(step.usage.modelCalls).toBe(5);
    expect(spent(run, 'agent:total_tokens')).toBeLessThanOrEqual(6_000);
  });
});
