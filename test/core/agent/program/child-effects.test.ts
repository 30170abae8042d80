/** Programs that call agents: values, failures, budgets, and branches that nobody needs any more. */
import { describe, expect, test } from 'vitest';
import { agentTool } from '../../../../src/activities/agent-tool.ts';
import { defineAgent } from '../../../../src/activities/define-agent.ts';
import type { AgentOptions } from '../../../../src/activities/agent-options.ts';
import type { AgentDefinition } from '../../../../src/activities/definitions.ts';
import { startInMemory } from '../../../../src/testing/run-in-memory.ts';
import { ownSums, player, runsOf, taskOf, treeCounters } from '../../../support/trees.ts';

/** An agent whose model writes `program` in its only turn. */
function programmer(
  program: string,
  children: readonly AgentDefinition[],
  options: Partial<AgentOptions> = {},
): AgentDefinition {
  return defineAgent({
    name: 'boss',
    mode: 'lisp',
    maxTurns: 1,
    model: async () => ({ content: `\`\`\`clojure\n${program}\n\`\`\`` }),
    tools: children.map((agent) => agentTool({ agent })),
    ...options,
  });
}

/** Answers with its task in capitals; fails for `bad`, and never ends by itself for `slow`. */
const worker = player('worker', async (request, { signal }) => {
  const task = taskOf(request);
  if (task === 'slow') {
    await new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
    });
  }
  if (task === 'bad') throw new Error('no such thing');
  return `<answer>${task.toUpperCase()}</answer>`;
});

describe('a program that calls agents', () => {
  test('gets their values, side by side, and counts what they spend [sub 13]', async () => {
    const boss = programmer('(return (pmap #(tool/worker {:task %}) ["a" "b" "c"]))', [worker]);

    const run = startInMemory({ agent: boss, task: 'go' });
    const step = await run.result;

    expect(step).toMatchObject({ status: 'success', value: ['A', 'B', 'C'] });
    expect(step.children.map(({ status }) => status)).toEqual(['success', 'success', 'success']);
    expect(ownSums(runsOf(run).map(({ state }) => state.stats))).toEqual(treeCounters(step.stats));
  });

  test('recovers from one that fails, by `attempt` [sub 13]', async () => {
    const boss = programmer('(return (:reason (:error (attempt (tool/worker {:task "bad"})))))', [
      worker,
    ]);

    const step = await startInMemory({ agent: boss, task: 'go' }).result;

    expect(step).toMatchObject({ status: 'success', value: 'tool_error' });
    expect(step.children).toMatchObject([{ agent: 'worker', status: 'error' }]);
  });

  test('tells a child of a branch that nobody needs to end, and awaits it', async () => {
    const boss = programmer(
      '(return (:reason (:error (attempt (pmap #(tool/worker {:task %}) ["bad" "slow"])))))',
      [worker],
    );

    const run = startInMemory({ agent: boss, task: 'go' });
    const step = await run.result;

    expect(step).toMatchObject({ status: 'success', value: 'pmap_error' });
    expect(run.children.map(({ state }) => state.head.task.text)).toEqual(['bad', 'slow']);
    const ends = await Promise.all(run.children.map(({ result }) => result));
    expect(ends.map(({ status }) => status)).toEqual(['error', 'canceled']);
    expect(ends[1]?.message).toContain('its result is not needed any more');
  });

  test('asks for more of the limits above it, before a call does not fit', async () => {
    const look = defineAgent({
      name: 'look',
      mode: 'lisp',
      maxTurns: 1,
      model: async () => ({
        content:
          '```clojure\n(return (count (pmap #(tool/worker {:task (str %)}) (range 6))))\n```',
      }),
      tools: [agentTool({ agent: worker })],
    });
    const top = programmer('(return (tool/look {:task "go"}))', [look]);

    // The child gets a third of the calls that are left, and needs more of them than that.
    const run = startInMemory({ agent: top, task: 'go', limits: { toolCalls: 10 } });
    const step = await run.result;

    expect(step).toMatchObject({ status: 'success', value: 6 });
    expect(step.stats.counters['agent:tool_calls']).toBe(7);
    const asked = run.children[0]?.events.filter(({ type }) => type === 'agent:lease:asked');
    expect(asked?.length).toBeGreaterThan(0);
  });

  test('ends where a limit above it is used up, and names the ancestor', async () => {
    const look = defineAgent({
      name: 'look',
      mode: 'lisp',
      maxTurns: 1,
      model: async () => ({
        content:
          '```clojure\n(return (count (mapv #(tool/worker {:task (str %)}) (range 9))))\n```',
      }),
      tools: [agentTool({ agent: worker })],
    });
    const top = programmer('(return (:message (:error (attempt (tool/look {:task "go"})))))', [
      look,
    ]);

    const run = startInMemory({ agent: top, task: 'go', limits: { toolCalls: 5 } });
    const step = await run.result;

    // The limit is used up and not crossed, so the program above may still answer.
    expect(step.status).toBe('success');
    expect(step.value).toContain('look did not finish: limit_exceeded, agent:tool_calls.');
    expect(step.stats.counters['agent:tool_calls']).toBe(5);
    const [child] = run.children;
    expect(await child?.result).toMatchObject({
      status: 'limit_exceeded',
      exceededLimit: { origin: { agent: 'boss' } },
    });
  });
});
