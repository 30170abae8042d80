/** docs/trees.md: its code is that of examples which run here. */
import { expect, test } from 'vitest';
import {
  longerOf,
  lookAt,
  planner,
  readAll,
  readersOf,
  splitter,
  steer,
} from '../../examples/docs/trees.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { Everloop } from '../../src/client/everloop-client.ts';
import { textOf } from '../../src/core/base/message.ts';
import type { MemoryRun } from '../../src/testing/memory-run.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { fakeRun, STEP } from '../cli/cli-fixture.ts';
import { blocksOf, regionsOf } from '../support/doc-pages.ts';
import { treeRun } from '../support/tree-runs.ts';
import { answer } from '../support/runs.ts';
import { partsTo, readerAgent } from '../support/fan-outs.ts';
import { ownSums, runsOf, taskOf, treeCounters } from '../support/trees.ts';

test('docs/trees.md quotes its examples', () => {
  expect(blocksOf('trees').size).toBe(7);
  expect(blocksOf('trees')).toEqual(regionsOf('trees'));
});

test('a planner with researchers', async () => {
  const toolCalls = ['frogs', 'rain'].map((task) => ({ name: 'researcher', args: { task } }));
  const plan = scriptedModel([{ toolCalls }, 'both']);
  const price = { input: 1, output: 1 };
  const agent = planner(
    { id: 'plan', model: plan.model, price },
    { id: 'cheap', price, model: async ({ messages }) => `on ${messages.map(textOf).join('')}` },
  );

  const step = await startInMemory({ agent, task: 'Why do frogs like rain?' }).result;

  expect(step).toMatchObject({ status: 'success', value: 'both' });
  expect(step.children.map(({ agent: name, status }) => [name, status])).toEqual([
    ['researcher', 'success'],
    ['researcher', 'success'],
  ]);
  const [, last] = plan.requests;
  if (last === undefined) throw new Error('Expected a second request.');
  const read = last.messages.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === 'tool_result' ? part.parts : [])),
  );
  expect(read.map((part) => textOf({ role: 'tool', parts: [part] }))).toEqual([
    'on frogs',
    'on rain',
  ]);
});

test('an agent that calls itself', async () => {
  const halves = ['Ann and Bob', 'and Eve'];
  const agent = splitter({
    id: 'm',
    model: async ({ messages, iteration }) => {
      const prompt = JSON.stringify(messages);
      if (prompt.includes('Ann and Bob and Eve') && iteration === 1) {
        return { toolCalls: halves.map((text) => ({ name: 'self', args: { text } })) };
      }
      const found = iteration > 1 ? 3 : prompt.includes('Ann') ? 2 : 1;
      return JSON.stringify({ names: found });
    },
  });

  const run = startInMemory({ agent, task: 'Count', context: { text: 'Ann and Bob and Eve' } });
  const step = await run.result;

  expect(step.value).toEqual({ names: 3 });
  expect(run.children.map(({ state }) => state.head.context)).toEqual([
    { text: 'Ann and Bob' },
    { text: 'and Eve' },
  ]);
});

test('hundreds of readers, thirty to a batch', async () => {
  const pages = partsTo(300);
  const agent = readersOf(
    readerAgent(({ messages }) => {
      const text = messages.map(textOf).join('');
      if (text.endsWith('part 7')) throw new Error('torn');
      return text;
    }),
  );
  const runs: MemoryRun[] = [];
  const everloop = {
    start: async (
      _name: string,
      start: { task: string; context: { items: readonly string[] } },
    ) => {
      const run = startInMemory({ agent, ...start });
      runs.push(run);
      return fakeRun('r', { result: () => run.result });
    },
  } as unknown as Everloop;

  const { read, failed } = await readAll(everloop, pages);

  expect([read.length, read[0], read.at(-1), failed]).toEqual([
    299,
    'Sum up:\n\npart 1',
    'Sum up:\n\npart 300',
    1,
  ]);
  const [run] = runs;
  if (run === undefined) throw new Error('Expected a run.');
  const { stats } = await run.result;
  expect(run.children.map(({ children }) => children.length)).toEqual(Array(10).fill(30));
  expect(stats.counters['agent:children']).toBe(310);
  expect(treeCounters(stats)).toEqual(ownSums(runsOf(run).map(({ state }) => state.stats)));
  // The root records its ten children, whatever is below them.
  expect(run.events.length).toBeLessThan(150);
});

test('a loop that starts agents', async () => {
  const researcher = defineAgent({
    name: 'researcher',
    mode: 'react',
    model: { id: 'm', model: async (request) => answer(taskOf(request)) },
  });
  const agent = defineAgent({ name: 'judge', mode: 'react', model: 'm' });

  const step = await startInMemory({
    agent,
    agents: [researcher],
    task: 'Is it so?',
    next: longerOf,
  }).result;

  expect(step.value).toBe('Is it so? Look for what speaks against it.');
});

test('a look at a tree, and words to one run in it', async () => {
  const path = 'planner/1/researcher/1/reader';
  const base = { agent: 'reader', path, since: 0 };
  const said: unknown[] = [];
  const run = fakeRun('planner-7', {
    tree: async () => [
      treeRun('planner-7', { path: 'planner', waitsFor: ['agent researcher'] }),
      treeRun('planner-7/1.1', { path: 'planner/1/researcher', state: 'ended' }),
    ],
    pending: async () => [
      { ...base, id: '1.2/1.1/q1', kind: 'question', question: 'Which?', free: true },
      { ...base, id: '1.2/1.1/pause', kind: 'pause' },
    ],
    answer: async (id, value) => (said.push([id, value]), { id }),
    child: async (wanted) =>
      fakeRun(wanted, { send: async (text, options) => said.push([wanted, text, options]) }),
    pause: async (options) => (said.push(options), { limits: [], paused: true }),
  });

  expect(await lookAt(run)).toEqual([
    `planner running: agent researcher (${STEP.usage.totalTokens} tokens)`,
    `planner/1/researcher ended (${STEP.usage.totalTokens} tokens)`,
  ]);
  await steer(run);
  expect(said).toEqual([
    ['1.2/1.1/q1', 'blue'],
    [path, 'Look at the second source only.', { kind: 'steer' }],
    { tree: true },
  ]);
});
