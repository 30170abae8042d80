/** Time travel and forks on the real server: states by replay, references, effects, what is refused. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WorkflowFailedError } from '@temporalio/client';
import { z } from 'zod';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { agentTool } from '../../src/define/tool/agent-tool.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import type { AgentDefinition, ToolDefinition } from '../../src/define/definition/definitions.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { AGENT_WORKFLOW, PROBE_WORKFLOW } from '../../src/core/contract/messages.ts';
import type { ModelRequest } from '../../src/core/contract/model.ts';
import type { RunState } from '../../src/core/run/run-state.ts';
import { compare } from '../../examples/docs/evals.ts';
import { correct, lookBack } from '../../examples/docs/forks.ts';
import { textOf } from '../../src/core/base/message.ts';
import { evalResult } from '../../src/client/evals.ts';
import { diffRuns } from '../../src/client/forks/run-diff.ts';
import { blocksOf, regionsOf } from '../support/doc-pages.ts';
import { openHandoverStage, type Served, type Stage } from '../support/stage.ts';
import { answer, act } from '../support/runs.ts';

/** A link hands over after so many events: a run of ten calls has some. */
const EVENTS = 60;

let stage: Stage;
let served: Served;
const paid: string[] = [];
let judged = '';
let reply: (request: ModelRequest & { readonly iteration: number }) => string;

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  parameters: z.object({ query: z.string() }),
  effect: 'once',
  execute: ({ query }) => {
    paid.push(query);
    return `paid ${query}, the ${paid.length}th`;
  },
}) as ToolDefinition;

const search = defineTool({
  name: 'search',
  description: 'Finds pages.',
  parameters: z.object({ query: z.string() }),
  effect: 'read',
  execute: ({ query }) => `hits for ${query}`,
}) as ToolDefinition;

function payFor(query: string): string {
  return act(query).replace('search', 'pay');
}

function agents(): readonly AgentDefinition[] {
  const model = { id: 'm', model: async (request: ModelRequest) => reply(request as never) };
  const clerk = defineAgent({
    name: 'clerk',
    mode: 'react',
    description: 'Works.',
    tools: [search, pay],
    model,
  });
  const boss = defineAgent({
    name: 'boss',
    mode: 'react',
    tools: [agentTool({ agent: clerk })],
    model,
  });
  const referee = defineAgent({
    name: 'referee',
    mode: 'text',
    model: {
      id: 'r',
      model: async ({ messages }) => {
        judged = messages.map(textOf).join('\n');
        return 'yes';
      },
    },
  });
  return [clerk, boss, referee];
}

/** Plays the turns of a clerk, by the number of its iteration. */
function plays(turns: readonly string[]): void {
  reply = ({ iteration }) => turns[iteration - 1] ?? answer('end');
}

async function ended(turns: readonly string[], id?: string): Promise<RunHandle> {
  plays(turns);
  paid.length = 0;
  const run = await served.everloop.start('clerk', {
    task: 'Go',
    ...(id === undefined ? {} : { id }),
  });
  await run.result();
  return run;
}

beforeAll(async () => {
  stage = await openHandoverStage(EVENTS);
  const large = { id: 'large', price: { input: 1, output: 1 }, model: async () => answer('done') };
  served = await stage.serve(agents(), { models: [large] });
});
afterAll(() => stage?.close());

const TURNS = [act('a'), payFor('b'), act('c'), answer('done')];

describe('a fork on the service', () => {
  it('repeats the rest of its source byte for byte, and shows its beginning as its own', async () => {
    const run = await ended(TURNS);
    const [entries, events, step] = [
      await run.transcript(),
      await run.events(),
      await run.result(),
    ];
    for (const iteration of [1, 3, 4]) {
      const fork = await served.everloop.fork(
        { run: run.id, at: { iteration } },
        { effects: 'reuse', stats: 'keep' },
      );
      const forked = await fork.result();

      expect(forked).toMatchObject({
        status: 'success',
        value: step.value,
        iterations: step.iterations,
      });
      expect(forked.trace.forkedFrom).toEqual({
        workflowId: run.id,
        runId: step.runId,
        executionId: step.trace.executionId,
        iteration,
      });
      expect(await fork.transcript()).toEqual(entries);
      const own = await fork.events();
      expect(own.map(({ seq }) => seq)).toEqual(own.map((_, at) => at + 1));
      const shared = own.filter(({ runId }) => runId === step.runId);
      expect(shared).toEqual(events.slice(0, shared.length));
      await stage.replay(fork);
    }
    expect(paid).toEqual(['b']);
  });

  it('is looked at and forked in an earlier link, and forked again', async () => {
    const turns = [...Array.from({ length: 24 }, (_, at) => act(`q${at}`)), answer('long')];
    const run = await ended(turns);
    const links = await run.links();
    expect(links.length).toBeGreaterThan(2);

    const first = await run.at('start');
    const third = await run.at({ iteration: 3 });
    const latest = await run.at('latest');
    expect([first.iteration, third.iteration, latest.iteration]).toEqual([1, 3, 25]);
    expect([first.link, third.link, latest.link]).toEqual([1, 1, links.length]);
    expect(third.entries.map(({ index }) => index)).toEqual([0, 1]);
    expect(third.callsAfter).toHaveLength(22);
    expect((await run.at({ event: third.event + 1 })).iteration).toBe(3);

    plays([...turns.slice(0, 4), answer('short')]);
    const fork = await served.everloop.fork({ run: run.id, at: { iteration: 3 } });
    expect(await fork.result()).toMatchObject({ value: 'short', iterations: 3 });
    plays([...turns.slice(0, 3), answer('shorter')]);
    const again = await served.everloop.fork(
      { run: fork.id, at: { iteration: 4 } },
      { edits: [{ append: 'Be quick' }, { entry: 2, text: 'Nothing' }] },
    );
    expect(await again.result()).toMatchObject({ value: 'shorter' });
    const transcript = await again.transcript();
    expect(transcript.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4]);
    expect(JSON.stringify(transcript[3])).toContain('Be quick');
    expect(await again.summary()).toMatchObject({ forkedFrom: fork.id });
  }, 120_000);

  it('of a child is a root', async () => {
    let isFirst = true;
    reply = ({ messages }) => {
      const said = JSON.stringify(messages);
      if (said.includes('Help out')) return answer('helped');
      if (!isFirst) return answer('all done');
      isFirst = false;
      return '<action>\n- tool: clerk\n  args:\n    task: Help out\n</action>';
    };
    const run = await served.everloop.start('boss', { task: 'Lead' });
    await run.result();
    reply = () => answer('helped again');
    const fork = await served.everloop.fork(
      { run: `${run.id}/1.1`, at: 'start' },
      { limits: { iterations: 4 } },
    );

    expect(fork.id).toMatch(new RegExp(`^${run.id}-fork-`));
    const step = await fork.result();
    expect(step).toMatchObject({ agent: 'clerk', status: 'success', value: 'helped again' });
    expect(step.trace.parent).toBeUndefined();
  });
});

describe('the effects of a fork', () => {
  it('are asked for before it starts, and by the worker of a client that does not', async () => {
    const run = await ended(TURNS);
    const text =
      'Expected `effects` to be one of run, approve, reuse, replay-only, got none, and the source made calls from iteration 1 on that the fork may repeat: pay (once) ×1. Choose one.';

    await expect(served.everloop.fork({ run: run.id, at: 'start' })).rejects.toThrow(text);
    const raw = await stage.client.workflow.start(AGENT_WORKFLOW, {
      workflowId: `raw-${randomUUID()}`,
      taskQueue: served.taskQueue,
      args: [
        {
          v: 1,
          agent: 'clerk',
          task: { text: '' },
          fork: { source: { workflowId: run.id }, at: 'start' },
        },
      ],
    });
    await expect(raw.result()).rejects.toMatchObject({
      cause: { type: 'fork_effects', message: text },
    });
  });

  it('count executions: run repeats them, approve asks, replay-only refuses', async () => {
    const run = await ended(TURNS);
    const fork = async (effects: 'run' | 'approve' | 'replay-only') => {
      paid.length = 0;
      return served.everloop.fork({ run: run.id, at: { iteration: 2 } }, { effects });
    };

    await (await fork('run')).result();
    expect(paid).toEqual(['b']);

    plays([act('a'), payFor('other'), answer('tried')]);
    await (await fork('replay-only')).result();
    expect(paid).toEqual([]);

    const asking = await fork('approve');
    const seen = await asking.resultOrPending();
    if (seen.kind !== 'pending') throw new Error('Expected it to wait.');
    await asking.decide(seen.pending[0]?.id ?? '', { deny: 'not again' });
    await asking.result();
    expect(paid).toEqual([]);
  });
});

it('docs/forks.md quotes examples that run', async () => {
  expect(blocksOf('forks')).toEqual(regionsOf('forks'));
  const run = await ended(TURNS);
  const shown: number[] = [];
  const then = await lookBack(served.everloop, run.id, ({ index }) => shown.push(index));
  expect(shown).toEqual([0]);
  expect(then.callsAfter.map(({ tool }) => tool)).toEqual(['pay']);
  paid.length = 0;
  const fork = await correct(served.everloop, run.id);
  expect(await fork.result()).toMatchObject({ status: 'success' });
  expect(paid).toEqual([]);
  const { from, sharedEntries, left, right } = await diffRuns(run, fork);
  expect([from, sharedEntries]).toEqual([2, 1]);
  expect(left.iterations).toBe(3);
  expect(right.calls.filter(({ isShared }) => isShared).map(({ tool }) => tool)).toEqual([
    'pay',
    'search',
  ]);
});

it('an eval goes on from moments with each model, and changes nothing [docs/evals.md]', async () => {
  expect(blocksOf('evals')).toEqual(regionsOf('evals'));
  const ids = [(await ended(TURNS)).id, (await ended(TURNS)).id];
  paid.length = 0;
  const lines: string[] = [];
  await compare(served.everloop, ids, (line) => lines.push(line));

  expect(lines).toEqual(['today: 4 of 4', 'large: 4 of 4']);
  expect(paid).toEqual([]);
  const same = [{ name: 'a' }, { name: 'b' }];
  await expect(
    served.everloop.evaluate({ moments: [{ run: ids[0] ?? '' }], variants: same }),
  ).rejects.toThrow('which differ in nothing but their names');
  await expect(
    served.everloop.evaluate({ moments: [null as never], variants: [{ name: 'a' }] }),
  ).rejects.toThrow('Expected `moments[0]` to be { run, at? }, got null. Name a run and a moment.');
});

it('the judge of an eval is told what the run was to do', async () => {
  plays([act('a'), answer('done')]);
  const run = await served.everloop.start('clerk', { task: 'Find the cheapest flight' });
  await run.result();
  const evaluated = await served.everloop.evaluate({
    moments: [{ run: run.id, at: { iteration: 2 } }],
    variants: [{ name: 'as it was' }],
    judge: 'referee',
  });
  const { rows } = evalResult(await evaluated.result());

  expect(rows).toMatchObject([{ passed: true }]);
  expect(judged).toContain('Find the cheapest flight');
  expect(judged).toContain('done');
});

it('an eval that meets its budget keeps the table of what was tried [docs/evals.md]', async () => {
  const { id } = await ended(TURNS);
  const evaluated = await served.everloop.evaluate(
    {
      moments: [{ run: id, at: { iteration: 3 } }],
      variants: [{ name: 'as it was' }],
      times: 8,
      judge: 'referee',
    },
    { limits: { modelCalls: 13 } },
  );
  const step = await evaluated.result();
  const { rows, tries } = evalResult(step);

  expect(step).toMatchObject({ status: 'limit_exceeded', reason: 'agent:model_calls' });
  expect(tries).toBe(8);
  // Two calls for a try, and one for its judge, which came too late for some.
  expect(rows.length).toBeGreaterThan(0);
  expect(rows.length).toBeLessThanOrEqual(6);
  for (const { status, passed, isJudged, turns } of rows) {
    expect(status).toBe('success');
    expect(passed).toBe(isJudged !== false);
    expect(turns).toBe(2);
  }
  await stage.replay(evaluated);
});

describe('what cannot be', () => {
  it('a moment that is not there, in `at` and in a fork', async () => {
    const run = await ended([answer('at once')]);
    const text = `Expected an iteration from 1 to 1 of run \`${run.id}\`, got 40. Choose one.`;

    await expect(run.at({ iteration: 40 })).rejects.toMatchObject({
      code: 'fork_moment',
      message: text,
    });
    const fork = await served.everloop.fork(
      { run: run.id, at: { iteration: 40 } },
      { effects: 'run' },
    );
    expect(await fork.result()).toMatchObject({
      status: 'error',
      reason: 'fork_moment',
      message: text,
    });
    await expect(served.everloop.fork({ run: 'nobody' })).rejects.toMatchObject({
      code: 'run_not_found',
    });
  });

  it('a forged state, parent or hand-over: none is believed', async () => {
    const run = await ended(TURNS);
    const forged = { limits: [], head: { spec: { name: 'evil' } } } as unknown as RunState;
    const start = (input: object) =>
      stage.client.workflow.start(AGENT_WORKFLOW, {
        workflowId: `forged-${randomUUID()}`,
        taskQueue: served.taskQueue,
        args: [{ v: 1, agent: 'clerk', task: { text: '' }, state: forged, ...input }],
      });
    plays([answer('mine')]);
    const fork = { source: { workflowId: run.id }, at: 'start', effects: 'run', state: forged };
    const parent = { v: 1, workflowId: 'elsewhere', leases: [], path: 'evil', depth: 0 };

    for (const input of [
      { fork, parent },
      { fork, kind: 'handover' },
    ]) {
      const handle = await start(input);
      expect(await handle.result()).toMatchObject({
        agent: 'clerk',
        value: 'mine',
        status: 'success',
      });
    }
    for (const bad of [
      'x',
      { source: 3, at: 'start' },
      { source: { workflowId: run.id }, at: 'then' },
    ]) {
      const handle = await start({ fork: bad });
      await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'invalid_input' } });
    }
  });

  it('a run of the probe, which is for replays', async () => {
    const handle = await stage.client.workflow.start(PROBE_WORKFLOW, {
      workflowId: `probe-${randomUUID()}`,
      taskQueue: served.taskQueue,
      args: [{ v: 1, agent: 'clerk', task: { text: 'Go' } }],
    });
    const error = await handle.result().catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(WorkflowFailedError);
    expect(error).toMatchObject({ cause: { type: 'invalid_input' } });
  });
});

describe('a source', () => {
  it('may be alive, or terminated, and is not touched', async () => {
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    plays([act('a'), act('b'), answer('late')]);
    const turns = reply;
    const model = {
      id: 'm',
      model: async (request: ModelRequest) => {
        const { iteration } = request as ModelRequest & { readonly iteration: number };
        if (iteration === 3) await gate;
        return turns(request as never);
      },
    };
    const slow = await stage.serve([
      defineAgent({ name: 'slow', mode: 'react', tools: [search], model }),
    ]);
    const run = await slow.everloop.start('slow', { task: 'Go' });
    await expect.poll(async () => (await run.status()).iteration, { timeout: 20_000 }).toBe(3);

    expect(await run.at('latest')).toMatchObject({ iteration: 3 });
    const fork = await slow.everloop.fork({ run: run.id, at: 'latest' });
    open();
    expect(await fork.result()).toMatchObject({ value: 'late' });
    expect(await run.result()).toMatchObject({ value: 'late', iterations: 3 });
  });
});
