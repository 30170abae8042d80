/** Programs that call agents: values, failures, budgets, and branches that nobody needs any more. */
import { describe, expect, test } from 'vitest';
import { agentTool } from '../../../src/define/tool/agent-tool.ts';
import { defineAgent } from '../../../src/define/agent/define-agent.ts';
import { jsonAnswer } from '../../../src/define/agent/reply-layout.ts';
import type {
  AgentDefinition,
  ToolDefinition,
} from '../../../src/define/definition/definitions.ts';
import { startInMemory } from '../../../src/testing/run-in-memory.ts';
import { eventually } from '../../support/eventually.ts';
import { abortOf, bodiesOf, gate, searchTool } from '../../support/runs.ts';
import { ownSums, player, runsOf, taskOf, treeCounters } from '../../support/trees.ts';

/** An agent whose model writes `program` in its only turn. */
function programmer(
  program: string,
  child: AgentDefinition | ToolDefinition,
  name = 'boss',
): AgentDefinition {
  const tool = child.kind === 'agent' ? agentTool({ agent: child }) : child;
  return defineAgent({
    name,
    mode: 'lisp',
    maxTurns: 1,
    model: {
      id: `${name}/m`,
      price: { input: 1, output: 1 },
      model: async () => ({ content: `\`\`\`clojure\n${program}\n\`\`\`` }),
    },
    tools: [tool],
  });
}

/** Answers with its task in capitals; fails for `bad`, and never ends by itself for `slow`. */
const worker = player('worker', async (request, { signal }) => {
  const task = taskOf(request);
  if (task === 'slow') {
    await abortOf(signal);
    throw new Error('aborted');
  }
  if (task === 'bad') throw new Error('no such thing');
  return `<answer>${task.toUpperCase()}</answer>`;
});

describe('a program that calls agents', () => {
  test('gets their values side by side, with fair parts, and reads hidden fields [row 55] [sub 13] [sub 19]', async () => {
    const maker = player(
      'maker',
      (request) => `<answer>{"n": ${taskOf(request)}, "_raw": 7}</answer>`,
      { answer: jsonAnswer({ schema: { type: 'object' } }) },
    );
    const boss = programmer(
      '(return (map #(+ (:n %) (:_raw %)) (pmap #(tool/maker {:task (str %)}) [1 2 3])))',
      maker,
    );

    const run = startInMemory({
      agent: boss,
      task: 'Go',
      limits: { totalTokens: 8_000, onUnknownUsage: 'warn' },
    });
    const step = await run.result;

    expect(step).toMatchObject({ status: 'success', value: [8, 9, 10] });
    expect(step.children.map(({ status }) => status)).toEqual(['success', 'success', 'success']);
    // Three that start together get a quarter each of what is left.
    const granted = run.children.map(
      ({ state }) =>
        state.leases?.find(({ limit }) => limit.key === 'agent:total_tokens')?.granted ?? 0,
    );
    expect(granted).toHaveLength(3);
    expect(Math.min(...granted)).toBeGreaterThanOrEqual(1_990);
    expect(Math.max(...granted)).toBeLessThanOrEqual(2_000);
    expect(ownSums(runsOf(run).map(({ state }) => state.stats))).toEqual(treeCounters(step.stats));
  });

  test('recovers from one that fails, by `attempt` [sub 13]', async () => {
    const boss = programmer(
      '(return (:reason (:error (attempt (tool/worker {:task "bad"})))))',
      worker,
    );

    const step = await startInMemory({ agent: boss, task: 'Go' }).result;

    expect(step).toMatchObject({ status: 'success', value: 'tool_error' });
    expect(step.children).toMatchObject([{ agent: 'worker', status: 'error' }]);
  });

  test.each([
    {
      name: 'beside a child that failed',
      source: '(pmap #(tool/worker {:task %}) ["bad" "slow"])',
      tasks: ['bad', 'slow'],
      ends: ['error', 'canceled'],
    },
    {
      name: 'beside a call whose arguments do not fit',
      source: `(pcalls #(do (tool/worker {:task "ok"}) (tool/worker {:task (inc 1)}))
                       #(tool/worker {:task "slow"}))`,
      tasks: ['ok', 'slow'],
      ends: ['success', 'canceled'],
    },
  ])(
    'tells a child of a branch that nobody needs to end, and awaits it: $name',
    async ({ source, tasks, ends }) => {
      const boss = programmer(`(return (:reason (:error (attempt ${source}))))`, worker);

      const run = startInMemory({ agent: boss, task: 'Go' });
      const step = await run.result;

      expect(step.status).toBe('success');
      expect(run.children.map(({ state }) => state.head.task.text)).toEqual(tasks);
      const steps = await Promise.all(run.children.map(({ result }) => result));
      expect(steps.map(({ status }) => status)).toEqual(ends);
      expect(steps[1]?.message).toContain('not needed any more');
      const told = bodiesOf(run.events, 'agent:child:complete').map(({ status }) => status);
      expect(told.toSorted()).toEqual(ends.toSorted());
    },
  );

  /** A run between the root and its workers. */
  const look = (program: string): AgentDefinition =>
    programmer(`(return (count ${program}))`, worker, 'look');

  test('asks for more of the limits above it, before a call does not fit', async () => {
    const child = look('(pmap #(tool/worker {:task (str %)}) (range 6))');
    const top = programmer('(return (tool/look {:task "go"}))', child);

    // The child gets a third of the calls that are left, and needs more of them than that.
    const run = startInMemory({ agent: top, task: 'Go', limits: { toolCalls: 10 } });
    const step = await run.result;

    expect(step).toMatchObject({ status: 'success', value: 6 });
    expect(step.stats.counters['agent:tool_calls']).toBe(7);
    const asked = run.children[0]?.events.filter(({ type }) => type === 'agent:lease:asked');
    expect(asked?.length).toBeGreaterThan(0);
  });

  test('ends where a limit above it is used up, and names the ancestor', async () => {
    const child = look('(mapv #(tool/worker {:task (str %)}) (range 9))');
    const top = programmer(
      '(return (:message (:error (attempt (tool/look {:task "go"})))))',
      child,
    );

    const run = startInMemory({ agent: top, task: 'Go', limits: { toolCalls: 5 } });
    const step = await run.result;

    // The limit is used up and not crossed, so the program above may still answer.
    expect(step.status).toBe('success');
    expect(step.value).toContain('look did not finish: limit_exceeded, agent:tool_calls.');
    expect(step.stats.counters['agent:tool_calls']).toBe(5);
    expect(await run.children[0]?.result).toMatchObject({
      status: 'limit_exceeded',
      exceededLimit: { origin: { agent: 'boss' } },
    });
  });

  test('waits for what is in flight when it is answered while a hand-over is due', async () => {
    const slow = gate<string>();
    const search = searchTool((query) => (query === 'slow' ? slow.opened : query));
    const calls = (count: number): string =>
      `(mapv #(tool/search {:query (str %)}) (range ${count}))`;
    const child = programmer(
      `(return (pcalls #(tool/search {:query "slow"}) (fn [] ${calls(6)})))`,
      search,
      'look',
    );
    let looks = 0;
    let grant: (() => void) | undefined;
    const run = startInMemory({
      agent: programmer('(return (tool/look {:task "go"}))', child),
      task: 'Go',
      limits: { toolCalls: 12 },
      carry: (message, deliver) => {
        if (message.kind === 'lease-grant' && grant === undefined) grant = deliver;
        else deliver();
      },
      childHandoverDue: () => {
        // A program that turns on the spot lets nobody else run, so that no test would end.
        if (grant !== undefined && (looks += 1) > 1_000) throw new Error('it turns on the spot');
        return grant !== undefined;
      },
    });
    await eventually('a request for more', () => grant !== undefined);

    grant?.();
    await new Promise((resolve) => setImmediate(resolve));
    slow.open('slow');
    const step = await run.result;

    expect(step).toMatchObject({
      status: 'success',
      value: ['slow', ['0', '1', '2', '3', '4', '5']],
    });
    expect(run.children[0]?.state.link).toBeGreaterThan(1);
  });
});
