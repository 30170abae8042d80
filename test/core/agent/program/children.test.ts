/** Programs that call agents: a child run for each call, under the same budgets. */
import { expect, it } from 'vitest';
import { agentTool } from '../../../../src/activities/agent-tool.ts';
import { defineAgent } from '../../../../src/activities/define-agent.ts';
import { jsonAnswer } from '../../../../src/activities/define-text.ts';
import type { AgentDefinition } from '../../../../src/activities/definitions.ts';
import { startInMemory } from '../../../../src/testing/run-in-memory.ts';
import { abortOf, answer, bodiesOf } from '../../../support/runs.ts';
import { ownSums, player, runsOf, taskOf, treeCounters } from '../../../support/trees.ts';

function programmer(source: string, child: AgentDefinition): AgentDefinition {
  return defineAgent({
    name: 'programmer',
    mode: 'lisp',
    model: { id: 'p/m', price: { input: 1, output: 1 }, model: async () => source },
    tools: [agentTool({ agent: child })],
  });
}

it('runs children in parallel, with fair parts, and reads hidden fields [row 55] [sub 13] [sub 19]', async () => {
  const maker = player(
    'maker',
    (request) => `<answer>{"n": ${taskOf(request)}, "_raw": 7}</answer>`,
    {
      answer: jsonAnswer({ schema: { type: 'object' } }),
    },
  );
  const source =
    '(return (reduce + (map #(+ (:n %) (:_raw %)) (pmap #(tool/maker {:task (str %)}) [1 2 3]))))';
  const run = startInMemory({
    agent: programmer(source, maker),
    task: 'Go',
    limits: { totalTokens: 8_000 },
  });

  const step = await run.result;

  expect([step.status, step.value]).toEqual(['success', 27]);
  expect(run.children).toHaveLength(3);
  // Three that start together get a quarter each of what is left.
  const [first] = run.children;
  const granted = first?.state.leases?.find(({ limit }) => limit.key === 'agent:total_tokens');
  expect(granted?.granted).toBeGreaterThanOrEqual(1_990);
  expect(granted?.granted).toBeLessThanOrEqual(2_000);
  expect(treeCounters(step.stats)).toEqual(ownSums(runsOf(run).map(({ state }) => state.stats)));
});

it('ends the child of a branch that is not needed any more', async () => {
  const slow = player('slow', async (request, { signal }) => {
    if (taskOf(request) === 'ok') return answer('fine');
    await abortOf(signal);
    throw new Error('stopped');
  });
  // The first branch fails in its second call; that drops the other.
  const source =
    '(attempt (pcalls #(do (tool/slow {:task "ok"}) (tool/slow {:task (inc 1)})) #(tool/slow {:task "hangs"}))) (return "on")';
  const run = startInMemory({
    agent: programmer(source, slow),
    task: 'Go',
    limits: { iterations: 1 },
  });

  const step = await run.result;

  expect([step.status, step.value]).toEqual(['success', 'on']);
  const ends = bodiesOf(run.events, 'agent:child:complete').map(({ status }) => status);
  expect(ends.toSorted()).toEqual(['canceled', 'success']);
});
