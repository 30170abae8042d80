/** Trees of agents on a real server: children as workflows, budgets by signals, ends that reach down. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { fanOut } from '../../src/define/pipeline/define-fan-out.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import type { Everloop } from '../../src/client/everloop-client.ts';
import type { Step } from '../../src/core/contract/step.ts';
import { textOf } from '../../src/core/base/message.ts';
import { treeQuery } from '../../src/workflows/messages.ts';
import { eventually } from '../support/eventually.ts';
import { RUNS_ALL } from '../support/extent.ts';
import { abortOf, act, answer, bodiesOf, gate, hasNoGap, searchTool } from '../support/runs.ts';
import { openHandoverStage, openStage, type Stage } from '../support/stage.ts';
import { historiesOf } from '../support/replay.ts';
import { asker, worker } from '../support/tree-agents.ts';
import { partsTo, readerAgent } from '../support/fan-outs.ts';
import {
  delegate,
  endedRuns,
  ownSums,
  player,
  taskOf,
  treeCounters,
  type EndedRun,
} from '../support/trees.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(() => stage?.close());

/** How many children the history of a run tells of. */
async function childrenIn({ run }: EndedRun): Promise<number> {
  const { events } = await stage.client.workflow.getHandle(run.id).fetchHistory();
  const started = (events ?? []).filter(
    (event) => event.startChildWorkflowExecutionInitiatedEventAttributes != null,
  );
  return started.length;
}

/** Checks what every tree must show, and replays its histories. */
async function checked(everloop: Everloop, root: RunHandle): Promise<readonly Step[]> {
  const runs = await endedRuns(everloop, root);
  assertSums(runs);
  for (const { run } of runs) {
    expect(hasNoGap(await run.events())).toBe(true);
    await stage.replay(run);
  }
  return runs.map(({ step }) => step);
}

/** The counters of the root are what all runs have spent. */
function assertSums(runs: readonly EndedRun[]): void {
  const [root] = runs;
  if (root === undefined) throw new Error('Expected a root.');
  expect(treeCounters(root.step.stats)).toEqual(ownSums(runs.map(({ step }) => step.stats)));
}

describe('an agent as a tool', () => {
  it('is a child workflow with a stream and a Step of its own [row 55] [row 48] [sub 13]', async () => {
    const poet = player('poet', (request) => answer(`a poem on ${taskOf(request)}`));
    const heard: string[] = [];
    const { everloop } = await stage.serve([asker(poet, 2)], {
      listeners: [({ type, runId, seq }) => void heard.push(`${runId} ${seq} ${type}`)],
    });
    const run = await everloop.start('asker', { task: 'Go' });

    const step = await run.result();

    expect(step.value).toBe('<poet>\na poem on 0\n</poet>\n<poet>\na poem on 1\n</poet>');
    const [, first] = await checked(everloop, run);
    // In the order in which they ended.
    const ends = step.children.map(({ childId, status }) => `${childId} ${status}`);
    expect(ends.toSorted()).toEqual([`${run.id}/1.1 success`, `${run.id}/1.2 success`]);
    expect(first?.trace).toMatchObject({
      workflowId: `${run.id}/1.1`,
      parent: { workflowId: run.id, runId: step.runId, agent: 'asker', callId: '1.1' },
    });
    const child = everloop.attach(`${run.id}/1.1`);
    const events = await child.events();
    expect(events[0]).toMatchObject({ agentPath: 'asker/1/poet', depth: 1, seq: 1 });
    expect(new Set(heard.map((line) => line.split(' ')[0]))).toEqual(
      new Set([
        step.runId,
        ...(await endedRuns(everloop, run)).map(({ step: { runId } }) => runId),
      ]),
    );
    const view = await stage.client.workflow.getHandle(run.id).query(treeQuery);
    const ended = { agent: 'poet', status: 'success', reason: 'answered' };
    expect(view?.children.toSorted((a, b) => (a.id < b.id ? -1 : 1))).toMatchObject([
      { ...ended, id: `${run.id}/1.1` },
      { ...ended, id: `${run.id}/1.2` },
    ]);
    expect(view).toMatchObject({
      agent: 'asker',
      parent: null,
      budgets: [
        { key: 'agent:children', origin: 'self', max: 100, used: 2, reserved: 0, free: 98 },
        { key: 'agent:cost_microusd', origin: 'self', max: 1_000_000, byDefault: true },
      ],
    });
  });

  it('whose id another run has is a tool error, and costs nothing [row 55]', async () => {
    const opened = gate();
    const slow = player('slow', async () => {
      await opened.opened;
      return answer('mine');
    });
    const { everloop } = await stage.serve([asker(slow)]);
    const id = `taken-${Date.now()}`;
    // No client of ours takes such an id; another application may.
    const other = await stage.client.workflow.start('foreign', {
      workflowId: `${id}/1.1`,
      taskQueue: `nobody-${id}`,
    });
    const run = await everloop.start('asker', { id, task: 'Go', limits: { modelCalls: 9 } });

    const step = await run.result();
    opened.open();

    expect(step.value).toContain('Error: slow did not finish: error, internal.');
    expect(step.usage.modelCalls).toBe(2);
    expect(step.children.map(({ childId, status }) => [childId, status])).toEqual([
      [`${id}/1.1`, 'error'],
    ]);
    // The other workflow is not touched.
    expect((await other.describe()).status.name).toBe('RUNNING');
    await other.terminate();
    await stage.replay(run);
  });

  it('that cannot be loaded is a tool error', async () => {
    const { everloop } = await stage.serve([
      player(
        'asker',
        ({ iteration, messages }) =>
          iteration === 1
            ? delegate(['needy', 'x'])
            : answer(/Error: needy[^<]*/.exec(JSON.stringify(messages))?.[0] ?? ''),
        { children: [player('needy', () => answer(), { prompt: 'On {{topic}}' })] },
      ),
    ]);
    const run = await everloop.start('asker', { task: 'Go' });

    expect((await run.result()).value).toContain(
      'Error: needy did not finish: error, template_error. missing: {{topic}}',
    );
  });
});

describe('a cancel of a root', () => {
  it('ends a grandchild in a model call, with all that was spent [row 2] [row 55]', async () => {
    const asked = gate();
    const leaf = player('leaf', async (_request, { signal }) => {
      asked.open();
      await abortOf(signal);
      throw Object.assign(new Error('stopped'), { usage: { inputTokens: 7, outputTokens: 0 } });
    });
    const { everloop } = await stage.serve([asker(asker(leaf, 1, 'middle'), 1, 'top')]);
    const run = await everloop.start('top', { task: 'Go' });
    await asked.opened;

    await run.cancel('changed my mind');
    await run.result();

    const steps = await checked(everloop, run);
    expect(steps.map(({ status, reason, message }) => [status, reason, message])).toEqual([
      ['canceled', 'canceled', 'changed my mind'],
      ['canceled', 'parent_canceled', 'changed my mind'],
      ['canceled', 'parent_canceled', 'changed my mind'],
    ]);
    // The 7 are told by the call itself when it is aborted: whoever ends at a deadline knows nothing of them.
    expect(steps[0]?.usage).toMatchObject({ modelCalls: 3, totalTokens: 207 });
  });

  it('through the service does the same [row 2] [row 55]', async () => {
    const asked = gate();
    const leaf = player('leaf', async (_request, { signal }) => {
      asked.open();
      await abortOf(signal);
      throw new Error('stopped');
    });
    const { everloop } = await stage.serve([asker(leaf)]);
    const run = await everloop.start('asker', { task: 'Go' });
    await asked.opened;

    await stage.client.workflow.getHandle(run.id).cancel();
    const step = await run.result();

    expect(step).toMatchObject({ status: 'canceled', children: [{ reason: 'parent_canceled' }] });
    expect((await everloop.attach(`${run.id}/1.1`).result()).status).toBe('canceled');
    await stage.replay(run);
  });
});

describe('a child that is ended from outside', () => {
  it.each([
    { how: 'terminate', charged: true, status: 'error', tokens: 5_050 },
    { how: 'cancel', charged: undefined, status: 'canceled', tokens: 300 },
  ] as const)(
    'by $how is charged when it says nothing [row 56]',
    async ({ how, charged, status, tokens }) => {
      const asked = gate();
      const leaf = player('leaf', async (_request, { signal }) => {
        asked.open();
        await abortOf(signal);
        throw Object.assign(new Error('stopped'), { usage: { inputTokens: 100, outputTokens: 0 } });
      });
      const { everloop } = await stage.serve([asker(leaf)]);
      const run = await everloop.start('asker', { task: 'Go', limits: { totalTokens: 10_000 } });
      await asked.opened;

      const child = stage.client.workflow.getHandle(`${run.id}/1.1`);
      await (how === 'terminate' ? child.terminate('by hand') : child.cancel());
      const step = await run.result();

      expect(step.status).toBe('success');
      expect(step.value).toContain(`Error: leaf did not finish: ${status}`);
      const [complete] = bodiesOf(await run.events(), 'agent:child:complete');
      expect([complete?.charged, complete?.status]).toEqual([charged, status]);
      // 100 before, half of the rest for the child or what it spent, 100 after.
      expect(step.usage.totalTokens).toBe(tokens + (how === 'terminate' ? 100 : 0));
      await stage.replay(run);
    },
  );
});

describe('a limit over a tree', () => {
  it('of 1,000 tokens ends a child in the name of its parent [row 57]', async () => {
    const { everloop } = await stage.serve([asker(worker(20))]);
    const run = await everloop.start('asker', { task: 'Go', limits: { totalTokens: 1_000 } });

    const [root, child] = await checked(everloop, run);

    expect(child).toMatchObject({
      status: 'limit_exceeded',
      reason: 'agent:total_tokens',
      usage: { totalTokens: 600 },
    });
    // The next prompt of the child and 256 tokens did not fit, nor do those of its parent.
    expect(child?.message?.replace(/be \d+/, 'be more')).toBe(
      `limit reached: agent:total_tokens of asker (run ${root?.runId}) would be more, the limit is 1000`,
    );
    expect(root).toMatchObject({ status: 'limit_exceeded', usage: { totalTokens: 700 } });
  });
});

describe('a limit that is lowered in the midst of a tree', () => {
  it('takes back what was reserved on three levels [row 57]', { timeout: 90_000 }, async () => {
    const opened = gate();
    let waiting = 0;
    const leaf = player(
      'leaf',
      async ({ iteration }) => {
        if (iteration === 2) {
          waiting += 1;
          await opened.opened;
        }
        return iteration <= 20 ? act(`step ${iteration}`) : answer('done');
      },
      { tools: [searchTool()] },
    );
    const { everloop } = await stage.serve([asker(asker(leaf, 2, 'middle'), 2, 'top')]);
    const run = await everloop.start('top', { task: 'Go', limits: { modelCalls: 90 } });
    await eventually('four leaves in a model call', () => waiting === 4, 30_000);

    // One of the root, one of each middle, two of each leaf.
    await run.adjust({ modelCalls: 16 });
    const { free } = await eventually(
      'all to have said what they keep',
      async () => {
        const [root] = await run.tree();
        const line = root?.budgets.find(({ key }) => key === 'agent:model_calls');
        return line !== undefined && line.used + line.reserved <= 16 && line;
      },
      30_000,
    );
    opened.open();
    const [root] = await checked(everloop, run);

    expect(free).toBe(5);
    expect(root?.usage.modelCalls).toBeGreaterThan(11);
    expect(root?.usage.modelCalls).toBeLessThanOrEqual(16);
  });
});

describe('a deadline of a root', () => {
  it('that is moved is moved for all below it [row 46]', async () => {
    const asked = gate();
    const opened = gate();
    const leaf = player('leaf', async (_request, { signal }) => {
      asked.open();
      await Promise.race([abortOf(signal), opened.opened]);
      return answer('late');
    });
    const { everloop } = await stage.serve([asker(asker(leaf, 1, 'middle'))]);
    const run = await everloop.start('asker', { task: 'Go', limits: { wallClockMs: 600_000 } });
    await asked.opened;

    await run.adjust({ wallClockMs: 900_000 });
    const told = await eventually('the leaf to be told', async () => {
      const events = await everloop.attach(`${run.id}/1.1/1.1`).events();
      return bodiesOf(events, 'agent:deadlines:changed')[0];
    });
    opened.open();

    const steps = await checked(everloop, run);
    expect(told.deadlines.map(({ origin, limit }) => [origin.agent, limit.max])).toEqual([
      ['asker', 900_000],
    ]);
    expect(steps.map(({ status }) => status)).toEqual(['success', 'success', 'success']);
  });
});

describe('a child that hands over', () => {
  let small: Stage;
  beforeAll(async () => {
    small = await openHandoverStage(60);
  });
  afterAll(() => small?.close());

  it.runIf(RUNS_ALL)('goes on while its parent waits, which does not [row 6]', async () => {
    const { everloop } = await small.serve([asker(worker(20), 2)]);
    // They need 44. A child that is ahead holds more than it needs, and the other must have enough.
    const run = await everloop.start('asker', { task: 'Go', limits: { modelCalls: 60 } });

    const step = await run.result();

    expect(step.status).toBe('success');
    expect(step.value).toBe('<worker>\ndone\n</worker>\n<worker>\ndone\n</worker>');
    const runs = await endedRuns(everloop, run);
    const links = await Promise.all(runs.map((one) => historiesOf(small.client, one.run.id)));
    expect(links.slice(1).every(({ length }) => length > 2)).toBe(true);
    assertSums(runs);
    expect(hasNoGap(await everloop.attach(`${run.id}/1.1`).events())).toBe(true);
    for (const one of runs) await small.replay(one.run);
  });

  it('waits for a person below, and shows it above [sub 17]', async () => {
    const shy = player(
      'shy',
      ({ iteration }) =>
        iteration === 1
          ? '<action>\n- tool: ask_user\n  args: {question: Which?}\n</action>'
          : answer('thanks'),
      { askUser: true },
    );
    const { everloop } = await small.serve([asker(asker(shy, 1, 'middle'), 1, 'top')]);
    const run = await everloop.start('top', { task: 'Go' });

    const [item] = await eventually('a question two levels below', async () => {
      const pending = await run.pending();
      return pending.length > 0 && pending;
    });
    expect(item).toMatchObject({
      id: '1.1/1.1/q1',
      kind: 'question',
      agent: 'shy',
      path: 'top/1/middle/1/shy',
      run: `${run.id}/1.1/1.1`,
    });
    await run.answer(item?.id ?? '', 'blue');

    expect((await run.result()).status).toBe('success');
    await small.replay(run);
  });
});

describe('a fan-out of more than a hundred', () => {
  it('goes through a child for each batch, and no history holds them all [row 55]', async () => {
    const parts = partsTo(120);
    const { everloop } = await stage.serve([fanOut('readers', readerAgent())]);

    const run = await everloop.start('readers', { context: { items: parts } });
    const step = await run.result();

    expect(step).toMatchObject({ status: 'success', value: parts.map((part) => `read ${part}`) });
    expect(step.stats.counters['agent:children']).toBe(124);
    const runs = await endedRuns(everloop, run);
    assertSums(runs);
    // What a child costs the history of its parent is bounded: nobody has more than thirty.
    const children = await Promise.all(runs.map(childrenIn));
    expect(children.toSorted((a, b) => b - a).slice(0, 6)).toEqual([30, 30, 30, 30, 4, 0]);
    // Each part is above its items, each item in its place.
    const tree = await run.tree();
    expect(tree.map(({ id }) => id.slice(run.id.length))).toEqual([
      '',
      ...[1, 2, 3, 4].flatMap((part) => [
        `/1.spawn-${part}`,
        ...partsTo(30).map((_, item) => `/1.spawn-${part}/1.spawn-${item + 1}`),
      ]),
    ]);
    expect(new Set(tree.map(({ state, status }) => `${state} ${status}`))).toEqual(
      new Set(['ended success']),
    );
  }, 300_000);

  it('goes on without an item that fails, and is canceled as one [row 2] [row 55]', async () => {
    const torn = readerAgent(async ({ messages }, { signal }) => {
      const text = textOf(messages.at(-1) ?? { role: 'user', parts: [] });
      if (text.startsWith('part')) return text;
      if (text === 'torn') throw Object.assign(new Error('torn'), { statusCode: 400 });
      await abortOf(signal);
      throw signal.reason;
    });
    const { everloop } = await stage.serve([
      fanOut('readers', torn, { batch: 3, onFailure: 'null' }),
    ]);

    const lossy = await everloop.start('readers', {
      context: { items: ['part 1', 'torn', 'part 2', 'part 3'] },
    });
    const [step] = await checked(everloop, lossy);
    const held = await everloop.start('readers', {
      context: { items: ['held', 'held', 'held', 'held'] },
    });
    const areAtWork = async (): Promise<boolean> => {
      const tree = await held.tree();
      return tree.filter(({ waitsFor }) => waitsFor.includes('model reader/m')).length === 4;
    };
    await eventually('four readers', areAtWork, 60_000);
    await held.cancel('enough');
    const ends = await checked(everloop, held);

    expect([step?.status, step?.value]).toEqual(['success', ['part 1', null, 'part 2', 'part 3']]);
    expect(ends.map(({ agent, reason }) => `${agent} ${reason}`)).toEqual([
      'readers canceled',
      ...[1, 2].flatMap(() => [
        'readers parent_canceled',
        'reader parent_canceled',
        'reader parent_canceled',
      ]),
    ]);
  }, 300_000);
});
