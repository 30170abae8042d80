/** Sums and budgets of a tree on the memory host: what comes of messages that get lost. */
import { describe, expect, it } from 'vitest';
import { agentTool } from '../../../src/define/tool/agent-tool.ts';
import { defineAgent } from '../../../src/define/agent/define-agent.ts';
import { llmTool } from '../../../src/define/tool/define-llm-tool.ts';
import type { AgentDefinition } from '../../../src/define/definition/definitions.ts';
import type { LimitsInput } from '../../../src/core/contract/input.ts';
import type { Step } from '../../../src/core/contract/step.ts';
import { treeView } from '../../../src/core/run/tree-view.ts';
import { createFakeClock, type FakeClock } from '../../../src/testing/fake-clock.ts';
import type { MemoryRun, TreeMessage } from '../../../src/testing/memory-run.ts';
import { startInMemory } from '../../../src/testing/run-in-memory.ts';
import { act, answer, bodiesOf, gate, searchTool } from '../../support/runs.ts';
import {
  delegate,
  observed,
  ownSums,
  player,
  runsOf,
  taskOf,
  TOKENS,
  treeCounters,
} from '../../support/trees.ts';

/** A run that works for so many iterations, with a tool call in each, then answers. */
function worker(iterations: number, name = 'worker'): AgentDefinition {
  return player(
    name,
    ({ iteration }) => (iteration <= iterations ? act(`step ${iteration}`) : answer('done')),
    { tools: [searchTool()] },
  );
}

function asker(child: AgentDefinition, count = 1, name = 'asker'): AgentDefinition {
  const calls = Array.from({ length: count }, (_, index) => [child.name, `${index}`] as const);
  return player(
    name,
    (request) => (request.iteration === 1 ? delegate(...calls) : answer(observed(request))),
    { children: [child] },
  );
}

/** Runs a tree to its end; time goes on whenever nothing else does. */
async function endOf(run: MemoryRun, clock: FakeClock): Promise<Step> {
  let isOver = false;
  const result = run.result.finally(() => {
    isOver = true;
  });
  for (let turns = 0; !isOver; turns++) {
    // Several turns of the event loop without an end: somebody waits for time.
    await new Promise((resolve) => setImmediate(resolve));
    if (turns % 50 === 49) clock.advance(10_000);
  }
  return result;
}

/** The steps of all runs, the root's first. */
async function stepsOf(run: MemoryRun): Promise<readonly Step[]> {
  return Promise.all(runsOf(run).map(({ result }) => result));
}

describe('a limit over a tree', () => {
  it('of 1,000 tokens ends a child in the name of its parent [row 57]', async () => {
    const clock = createFakeClock();
    const parent = asker(worker(20));
    const run = startInMemory({ agent: parent, task: 'Go', clock, limits: { totalTokens: 1_000 } });

    await endOf(run, clock);
    const [root, child] = await stepsOf(run);

    // 100 of the parent; the child asked until its next prompt and 256 tokens no longer fitted.
    expect(child).toMatchObject({
      status: 'limit_exceeded',
      reason: 'agent:total_tokens',
      usage: { totalTokens: 600 },
      exceededLimit: { origin: { runId: 'run-1', agent: 'asker' } },
    });
    expect(child?.message).toMatch(
      /^limit reached: agent:total_tokens of asker \(run run-1\) would be \d+, the limit is 1000$/,
    );
    // Nor does the next call of the parent fit.
    expect(root?.status).toBe('limit_exceeded');
    expect(root?.usage.totalTokens).toBe(700);
  });

  it.each<{
    name: string;
    limits: LimitsInput;
    children: number;
    most: number;
    key: 'totalTokens' | 'modelCalls' | 'toolCalls' | 'costMicroUsd';
  }>([
    {
      name: 'tokens',
      limits: { totalTokens: 4_000 },
      children: 3,
      most: 4_000,
      key: 'totalTokens',
    },
    { name: 'model calls', limits: { modelCalls: 20 }, children: 3, most: 20, key: 'modelCalls' },
    { name: 'tool calls', limits: { toolCalls: 23 }, children: 4, most: 23, key: 'toolCalls' },
    {
      name: 'cost',
      limits: { costUsd: 0.004 },
      children: 3,
      most: 4_000,
      key: 'costMicroUsd',
    },
  ])(
    'on $name is used up as far as the next piece of work fits, and not crossed [row 57]',
    async ({ limits, children, most, key }) => {
      const clock = createFakeClock();
      const agent = asker(worker(30), children);
      const run = startInMemory({ agent, task: 'Go', clock, limits });

      const step = await endOf(run, clock);
      const [, ...below] = await stepsOf(run);

      expect(step.usage[key]).toBeLessThanOrEqual(most);
      // A model call needs its prompt and 256 tokens, in each branch and in the root.
      const isSpending = key === 'totalTokens' || key === 'costMicroUsd';
      expect(step.usage[key]).toBeGreaterThanOrEqual(most - (isSpending ? 4 * 500 : 1));
      expect(new Set(below.map(({ status }) => status))).toEqual(new Set(['limit_exceeded']));
      expect(below.every(({ exceededLimit }) => exceededLimit?.origin !== 'self')).toBe(true);
    },
  );

  it('on model calls keeps those of LLM tools in flight from its children [row 57]', async () => {
    const clock = createFakeClock();
    const opened = gate();
    const classify = llmTool({
      name: 'classify',
      prompt: 'What is {{text}}?',
      signature: '(text :string) -> :string',
      model: {
        id: 'slow',
        model: async () => {
          await opened.opened;
          return { content: 'x', usage: TOKENS };
        },
      },
    });
    const agent = player(
      'asker',
      () => {
        const asked = ['a', 'b', 'c'].map((text) => `- tool: classify\n  args: {text: ${text}}`);
        return `<action>\n${asked.join('\n')}\n- tool: worker\n  args: {task: Work}\n</action>`;
      },
      { tools: [classify, agentTool({ agent: worker(20) })] },
    );
    const run = startInMemory({
      agent,
      task: 'Go',
      clock,
      limits: { modelCalls: 8 },
      onEvent: ({ type }) => {
        if (type === 'agent:child:complete') opened.open();
      },
    });

    const step = await endOf(run, clock);
    const [, child] = await stepsOf(run);

    // One of the parent and three in flight leave four.
    expect(child?.usage.modelCalls).toBe(4);
    expect(child?.message).toBe(
      'limit reached: agent:model_calls of asker (run run-1) would be 9, the limit is 8',
    );
    expect(step.usage.modelCalls).toBe(8);
  });

  it('on cost keeps a child from running on a model without a price [row 57]', async () => {
    const child = defineAgent({ name: 'child', mode: 'react', model: async () => answer('never') });
    const agent = asker(child);
    const run = startInMemory({ agent, task: 'Go', limits: { costUsd: 1 } });

    expect((await run.result).value).toBe(
      '<child>\nError: child did not finish: error, invalid_input. Expected a `price` for every model ' +
        "under a cost limit, got none for `child/model`. Add it to the model's entry, such as `{ id, model, price: { input: 0.25, output: 2 } }` in dollars per million tokens, or remove the limit.\n</child>",
    );
  });

  it('reaches down two levels, and what is not spent returns [row 57]', async () => {
    const clock = createFakeClock();
    const middle = asker(worker(10), 2, 'middle');
    const agent = player(
      'top',
      (request) =>
        request.iteration <= 2 ? delegate(['middle', 'x']) : answer(`${request.iteration}`),
      { children: [middle] },
    );
    const run = startInMemory({ agent, task: 'Go', clock, limits: { modelCalls: 52 } });

    const step = await endOf(run, clock);
    const steps = await stepsOf(run);

    // Each middle needs 2, each worker 11: 3 + 2 * (2 + 22) is 51.
    expect(new Set(steps.map(({ status }) => status))).toEqual(new Set(['success']));
    expect(step.usage.modelCalls).toBe(51);
    expect(treeCounters(step.stats)).toEqual(ownSums(steps.map(({ stats }) => stats)));
  });

  it('of a refusing kind is told to the model of a grandchild', async () => {
    const clock = createFakeClock();
    const leaf = player('leaf', () => answer('leaf'));
    const middle = asker(leaf, 3, 'middle');
    const agent = asker(middle, 1, 'top');
    const run = startInMemory({ agent, task: 'Go', clock, limits: { children: 3 } });

    const step = await endOf(run, clock);

    expect(step.usage.modelCalls).toBe(2 + 2 + 2);
    expect(step.value).toContain('Error: not run, the limit of 3 for agent:children is reached.');
    expect(step.stats.counters['agent:children']).toBe(3);
  });

  it('that was raised gives more to a child that asks', async () => {
    const clock = createFakeClock();
    const run = startInMemory({
      agent: asker(worker(8)),
      task: 'Go',
      clock,
      limits: { modelCalls: 5 },
      onEvent: (event, { address }) => {
        if (event.type === 'agent:lease:asked' && address !== 'run-1')
          run.adjust({ modelCalls: 40 });
      },
    });

    const step = await endOf(run, clock);

    expect(step.status).toBe('success');
    expect(step.children).toMatchObject([{ status: 'success' }]);
  });

  it('that was lowered holds for all that was reserved before [row 57]', async () => {
    const clock = createFakeClock();
    const calls: string[] = [];
    const run = startInMemory({
      agent: asker(asker(worker(20), 3, 'middle'), 2, 'top'),
      task: 'Go',
      clock,
      limits: { modelCalls: 40 },
      onEvent: ({ type }, { address }) => {
        if (type !== 'agent:model_call:before') return;
        calls.push(address);
        if (calls.length === 6) run.adjust({ modelCalls: 12 });
      },
    });

    const step = await endOf(run, clock);
    const steps = await stepsOf(run);

    expect([step.status, step.usage.modelCalls, calls.length]).toEqual(['limit_exceeded', 12, 12]);
    expect(treeCounters(step.stats)).toEqual(ownSums(steps.map(({ stats }) => stats)));
    // What it is now, wherever it was crossed.
    expect(steps.map(({ exceededLimit }) => exceededLimit?.limit.max)).toEqual(steps.map(() => 12));
  });

  it('that was lowered and raised again gives more to all who ask', async () => {
    const clock = createFakeClock();
    let calls = 0;
    const run = startInMemory({
      agent: asker(asker(worker(8), 2, 'middle'), 2, 'top'),
      task: 'Go',
      clock,
      limits: { modelCalls: 41 },
      onEvent: ({ type }) => {
        if (type !== 'agent:model_call:before') return;
        calls += 1;
        if (calls === 6) run.adjust({ modelCalls: 20 });
        if (calls === 12) run.adjust({ modelCalls: 42 });
      },
    });

    const step = await endOf(run, clock);
    const steps = await stepsOf(run);

    // Two of the root, two of each middle, nine of each worker.
    expect([...new Set(steps.map(({ status }) => status)), step.usage.modelCalls]).toEqual([
      'success',
      42,
    ]);
  });

  it('that was lowered refuses nothing while a child has yet to say what it keeps [row 57]', async () => {
    const clock = createFakeClock();
    const held = gate();
    const asked = gate();
    const recalls: (() => void)[] = [];
    const child = player(
      'child',
      async (request) => {
        if (request.iteration === 2 && taskOf(request) === '1') await held.opened;
        return request.iteration < 3 ? act('x') : answer('done');
      },
      { tools: [searchTool()] },
    );
    const run = startInMemory({
      agent: asker(child, 2),
      task: 'Go',
      clock,
      limits: { modelCalls: 100 },
      carry: (message, deliver) => {
        const isRecall = message.kind === 'lease-grant' && message.number === 0;
        // The first child hears of it at once, the second later.
        if (isRecall && recalls.push(deliver) > 1) return;
        deliver();
      },
      onEvent: ({ type, iteration }, { address }) => {
        if (type === 'agent:lease:asked') asked.open();
        if (type !== 'agent:model_call:before' || iteration !== 2 || address !== 'run-1/1.2')
          return;
        run.adjust({ modelCalls: 8 });
      },
    });
    await asked.opened;
    await new Promise((resolve) => setImmediate(resolve));

    const [first] = run.children;
    const { leaseAsked = 0, leaseAnswered = 0 } = first?.state ?? {};
    const { budgets } = treeView(run.state, clock.now());
    recalls.at(-1)?.();
    held.open();
    const step = await endOf(run, clock);

    expect(recalls).toHaveLength(2);
    expect(leaseAsked).toBeGreaterThan(leaseAnswered);
    expect(budgets.find(({ key }) => key === 'agent:model_calls')).toMatchObject({
      max: 8,
      free: 0,
    });
    expect(step).toMatchObject({ status: 'success', usage: { modelCalls: 8 } });
  });

  it('that was lifted leaves a child that asks without it', async () => {
    const clock = createFakeClock();
    const run = startInMemory({
      agent: asker(worker(8)),
      task: 'Go',
      clock,
      limits: { modelCalls: 5 },
      onEvent: (event, { address }) => {
        if (event.type === 'agent:lease:asked' && address !== 'run-1') {
          run.adjust({ modelCalls: 'unlimited' });
        }
      },
    });

    expect((await endOf(run, clock)).children).toMatchObject([{ status: 'success' }]);
    expect(run.children[0]?.state.leases?.map(({ limit }) => limit.key)).toEqual([
      'agent:children',
      'agent:cost_microusd',
    ]);
  });
});

/** A number from 0 up to 1, the same in each run of a test. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    // Numerical Recipes: a linear congruence modulo 2^32.
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

describe('a run that asks for a child', () => {
  it('stops asking when an input interrupts it', async () => {
    const clock = createFakeClock();
    const working = gate();
    const asked = gate();
    const opened = gate();
    let isInterrupted = false;
    const leaf = player(
      'leaf',
      async (request) => {
        if (taskOf(request) === '1') {
          working.open();
          await opened.opened;
        } else await working.opened;
        return request.iteration < 9 ? act('x') : answer('done');
      },
      { tools: [searchTool()] },
    );
    const middle = player(
      'middle',
      ({ iteration }) => (iteration === 1 ? delegate(['leaf', '0'], ['leaf', '1']) : answer('ok')),
      { children: [leaf] },
    );
    const run = startInMemory({
      agent: asker(middle, 1, 'top'),
      task: 'Go',
      clock,
      limits: { modelCalls: 12 },
      carry: (message, deliver) => {
        // What the middle asks for does not come before the input.
        const isOfMiddle = message.kind === 'lease-request' && message.childId === 'run-1/1.1';
        if (isOfMiddle && !isInterrupted) return asked.open();
        deliver();
      },
    });
    await asked.opened;

    const [below] = run.children;
    const before = bodiesOf(below?.events ?? [], 'agent:lease:asked').length;
    isInterrupted = true;
    below?.send('Stop that.', { kind: 'interrupt' });
    await new Promise((resolve) => setImmediate(resolve));
    const after = bodiesOf(below?.events ?? [], 'agent:lease:asked').length;
    opened.open();
    const step = await endOf(run, clock);

    expect(after).toBe(before);
    expect(step).toMatchObject({ status: 'success', children: [{ status: 'success' }] });
    expect((await stepsOf(run)).slice(2).map(({ status, message }) => [status, message])).toEqual([
      ['canceled', 'interrupted by an input'],
      ['canceled', 'interrupted by an input'],
    ]);
  });
});

describe('messages between runs', () => {
  it('that are lost, doubled or late change no sum and no budget [row 56] [row 57]', async () => {
    for (let seed = 1; seed <= 12; seed++) {
      const random = randomOf(seed);
      const clock = createFakeClock();
      const late: (() => void)[] = [];
      const carry = (message: TreeMessage, deliver: () => void): void => {
        const chance = random();
        // A cancel is a signal that the service has accepted: it is not lost.
        if (message.kind === 'cancel' || chance < 0.4) return deliver();
        if (chance < 0.55) return;
        if (chance < 0.7) deliver();
        late.push(deliver);
        if (random() < 0.5) for (const one of late.splice(0).toReversed()) one();
      };
      const middle = asker(worker(6), 2, 'middle');
      const agent = asker(middle, 2, 'top');
      const limits = seed % 2 === 0 ? { modelCalls: 25, totalTokens: 2_200 } : { toolCalls: 300 };
      const run = startInMemory({ agent, task: 'Go', clock, limits, carry });

      const step = await endOf(run, clock);
      const steps = await stepsOf(run);

      expect(treeCounters(step.stats)).toEqual(ownSums(steps.map(({ stats }) => stats)));
      if (seed % 2 === 0) {
        expect(step.usage.modelCalls).toBeLessThanOrEqual(25);
        expect(step.usage.totalTokens).toBeLessThanOrEqual(2_200 + 400);
      } else expect(new Set(steps.map(({ status }) => status))).toEqual(new Set(['success']));
    }
  });

  it('may all be lost: a child that needs more waits and says so [row 56]', async () => {
    const clock = createFakeClock();
    let asked = 0;
    const run = startInMemory({
      agent: asker(worker(9)),
      task: 'Go',
      clock,
      limits: { modelCalls: 10 },
      carry: (message, deliver) => {
        if (message.kind !== 'lease-request') return deliver();
        // The third time the same request comes through.
        asked += 1;
        if (asked % 3 === 0) deliver();
      },
    });

    const step = await endOf(run, clock);

    expect(step.children).toMatchObject([
      { status: 'limit_exceeded', reason: 'agent:model_calls' },
    ]);
    expect(step.usage.modelCalls).toBe(10);
  });

  it('tell how a child stands after 10 s, then ever more rarely', async () => {
    const clock = createFakeClock();
    const slow = player(
      'slow',
      async ({ iteration }) => {
        await clock.sleep(4_000);
        return iteration < 30 ? act(`x ${iteration}`) : answer('done');
      },
      { tools: [searchTool()] },
    );
    const run = startInMemory({ agent: asker(slow), task: 'Go', clock });

    await endOf(run, clock);

    const reports = bodiesOf(run.events, 'agent:child:report');
    // 120 s: at 10, 30 and 70.
    expect(reports.map(({ totals }) => totals['agent:model_calls'])).toEqual([2, 7, 17]);
  });
});
