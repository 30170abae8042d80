/** A tree of runs from outside, on a real server: seen as one thing, and spoken to as one. */
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import type { RunHandle } from '../../src/client/run-handle.ts';
import type { TreeRun } from '../../src/client/tree-run.ts';
import type { Chunk, ChunkMarker } from '../../src/core/streaming/chunk.ts';
import { cli, type CliResult } from '../cli/cli-fixture.ts';
import { eventually } from '../support/eventually.ts';
import { RUNS_ALL } from '../support/extent.ts';
import { answer, gate, hasNoGap, type Gate } from '../support/runs.ts';
import { openStage, type Served, type Stage } from '../support/stage.ts';
import { delegate, observed, player, taskOf } from '../support/trees.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(() => stage?.close());

const ASK = '<action>\n- tool: ask_user\n  args: {question: Which?}\n</action>';

/** A top of two parallel middles: below the first a leaf in a model call, below the second one that asks. */
async function serveTree(): Promise<Served & { readonly hold: Gate }> {
  const hold = gate();
  const busy = player('busy', async ({ iteration }) => {
    if (iteration === 1) await hold.opened;
    return answer('busy is done');
  });
  const shy = player(
    'shy',
    (request) => (request.iteration === 1 ? ASK : answer(observed(request))),
    { askUser: true },
  );
  const middle = player(
    'middle',
    (request) =>
      request.iteration === 1
        ? delegate([taskOf(request) === 'a' ? 'busy' : 'shy', 'x'])
        : answer(observed(request)),
    { children: [busy, shy] },
  );
  const top = player(
    'top',
    (request) =>
      request.iteration === 1
        ? delegate(['middle', 'a'], ['middle', 'b'])
        : answer(observed(request)),
    { children: [middle] },
  );
  return { ...(await stage.serve([top])), hold };
}

/** Waits until the leaf of each branch does what it is there for. */
async function settledTree(run: RunHandle): Promise<readonly TreeRun[]> {
  return eventually(
    'a tree of five runs',
    async () => {
      if ((await run.pending()).length === 0) return false;
      const runs = await run.tree();
      const leaves = runs.filter(({ depth }) => depth === 2);
      return leaves.length === 2 && leaves.every(({ waitsFor }) => isAtWork(waitsFor)) && runs;
    },
    SETTLED_MS,
  );
}

/** A machine that is busy takes its time to start five workflows. */
const SETTLED_MS = 40_000;

function isAtWork([first]: readonly string[]): boolean {
  return first === 'model busy/m' || first === 'question q1';
}

/** A run as a line: what of it is equal in each test. */
function lineOf({ path, depth, state, status, waitsFor, iteration }: TreeRun): string {
  return [depth, path, state, status ?? '-', `#${iteration}`, waitsFor.join(', ')].join(' ');
}

function everloopCli(argv: readonly string[], { everloop }: Served): Promise<CliResult> {
  return cli(argv, { everloop });
}

// Trees of five workflows, on a machine that may be busy with other tests.
describe('a tree', { timeout: 150_000 }, () => {
  it('is seen whole while runs work, wait and have ended, and from a child down', async () => {
    const served = await serveTree();
    const run = await served.everloop.start('top', { task: 'Go', limits: { modelCalls: 50 } });

    await settledTree(run);
    // A run that nothing waits in tells its parent how it stands after ten seconds; then nothing changes.
    const before = await eventually(
      'the root to know of all calls',
      async () => {
        const runs = await run.tree();
        return runs[0]?.usage.modelCalls === 4 && runs;
      },
      SETTLED_MS,
    );
    expect(before.map(lineOf)).toEqual([
      '0 top running - #1 agent middle, agent middle',
      '1 top/1/middle running - #1 agent busy',
      '2 top/1/middle/1/busy running - #1 model busy/m',
      '1 top/1/middle running - #1 agent shy',
      '2 top/1/middle/1/shy waiting - #1 question q1',
    ]);
    expect(before.map(({ id, parent, children }) => [id, parent, children])).toEqual([
      [run.id, null, [`${run.id}/1.1`, `${run.id}/1.2`]],
      [`${run.id}/1.1`, run.id, [`${run.id}/1.1/1.1`]],
      [`${run.id}/1.1/1.1`, `${run.id}/1.1`, []],
      [`${run.id}/1.2`, run.id, [`${run.id}/1.2/1.1`]],
      [`${run.id}/1.2/1.1`, `${run.id}/1.2`, []],
    ]);
    expect(before.map(({ stats }) => stats?.counters['$self:agent:model_calls'] ?? 0)).toEqual([
      1, 1, 0, 1, 1,
    ]);
    const [rootBudget] = before[0]?.budgets.filter(({ key }) => key === 'agent:model_calls') ?? [];
    // 49 were left, a third for each middle: what one has told is used, the rest of it reserved.
    expect(rootBudget).toEqual({
      key: 'agent:model_calls',
      origin: 'self',
      max: 50,
      used: 4,
      reserved: 29,
      free: 17,
    });

    const shown = await everloopCli(['tree', run.id], served);
    expect(shown.stdout.split('\n').map((line) => line.trimEnd().split(/ {2,}/))).toEqual([
      ['RUN', 'ADDRESS', 'STATE', 'ITERATION', 'TOKENS', 'COST', 'WAITS FOR'],
      ['top', run.id, 'running', '1', '400', '$0.0004', '2 × agent middle'],
      ['├─ middle', '1.1', 'running', '1', '100', '$0.0001', 'agent busy'],
      ['│', '└─ busy', '1.1/1.1', 'running', '1', '0', '$0.0000', 'model busy/m'],
      ['└─ middle', '1.2', 'running', '1', '200', '$0.0002', 'agent shy'],
      ['', '└─ shy', '1.2/1.1', 'waiting', '1', '100', '$0.0001', 'question q1'],
      [''],
    ]);
    const budgets = await everloopCli(['budget', run.id, '--json'], served);
    expect(JSON.parse(budgets.stdout)).toEqual(
      before.map(({ id, agent, path, budgets: lines }) => ({ id, agent, path, budgets: lines })),
    );
    expect((await run.tree({ depth: 0 })).map(({ id }) => id)).toEqual([run.id]);
    expect(await (await run.child('1.2')).tree()).toEqual(
      // Its times go on.
      before.slice(3).map((each) => ({
        ...each,
        usage: expect.objectContaining({ modelCalls: each.usage.modelCalls }),
        stats: { counters: each.stats?.counters, gauges: expect.anything() },
      })),
    );

    await run.answer('1.2/1.1/q1', 'blue');
    await eventually(
      'the second branch to end',
      async () => (await run.tree()).at(-2)?.state === 'ended',
      SETTLED_MS,
    );
    expect((await run.tree()).map(lineOf).slice(-2)).toEqual([
      '1 top/1/middle ended success #2 ',
      '2 top/1/middle/1/shy ended success #2 ',
    ]);
    served.hold.open();
    await run.result();
    const after = await run.tree();
    expect(after.map(({ state, status }) => [state, status])).toEqual(
      after.map(() => ['ended', 'success']),
    );
    expect(after.map(({ path, id }) => [path, id])).toEqual(
      before.map(({ path, id }) => [path, id]),
    );
    const [child] = await (await run.child(`${run.id}/1.2/1.1`)).tree();
    expect(child).toMatchObject({ path: 'top/1/middle/1/shy', depth: 2, parent: `${run.id}/1.2` });
  });

  it('is answered through its root, and each item is in the inbox once [sub 17]', async () => {
    const served = await serveTree();
    const { everloop } = served;
    const run = await everloop.start('top', { task: 'Go' });
    await settledTree(run);

    const [item] = await run.pending();
    expect(item).toMatchObject({
      id: '1.2/1.1/q1',
      kind: 'question',
      agent: 'shy',
      path: 'top/1/middle/1/shy',
      run: `${run.id}/1.2/1.1`,
    });
    const waiting = await eventually('the question in the inbox', async () => {
      const { items } = await everloop.inbox();
      const own = items.filter((each) => each.run.startsWith(run.id));
      return own.length > 0 && own;
    });
    expect(waiting.map(({ run: id, item: { id: itemId, path } }) => [id, itemId, path])).toEqual([
      [`${run.id}/1.2/1.1`, 'q1', 'top/1/middle/1/shy'],
    ]);
    await expect(run.answer('1.2/1.1/q7', 'x')).rejects.toMatchObject({ code: 'item_unknown' });
    await expect(run.answer('1.9/q1', 'x')).rejects.toMatchObject({ code: 'run_not_found' });

    const told = await everloopCli(
      ['answer', run.id, 'q1', 'blue', '--path', 'top/1/middle/1/shy'],
      served,
    );
    expect(told).toMatchObject({
      exitCode: 0,
      stdout: `Answered q1 of run ${run.id}/1.2/1.1.\n`,
    });
    served.hold.open();

    expect((await run.result()).value).toContain('blue');
  });

  it('takes input as a whole, or one run of it by its path', async () => {
    const served = await serveTree();
    const run = await served.everloop.start('top', { task: 'Go' });
    await settledTree(run);

    await run.send('to all', { tree: true, id: 'all-1' });
    const busy = await run.child('top/1/middle/1/busy');
    await busy.send('to one');
    await expect(run.child('top/1/middle')).rejects.toMatchObject({
      code: 'no_such_path',
      message: `Expected the path of one run below \`${run.id}\`, got \`top/1/middle\`, which 2 runs have. Name one by its calls: 1.1, 1.2.`,
    });
    expect(await everloopCli(['send', run.id, 'x', '--path', 'top/2/none'], served)).toMatchObject({
      exitCode: 2,
      stdout: '',
    });
    await run.answer('1.2/1.1/q1', 'blue');
    served.hold.open();
    await run.result();

    const runs = await run.tree();
    const heard = await Promise.all(
      runs.map(async ({ id, agent }) => {
        const entries = await served.everloop.attach(id).transcript();
        const said = JSON.stringify(entries);
        return [agent, said.includes('to all'), said.includes('to one')];
      }),
    );
    expect(heard).toEqual([
      ['top', true, false],
      ['middle', true, false],
      ['busy', true, true],
      ['middle', true, false],
      ['shy', true, false],
    ]);
  });

  it('is paused and goes on as a whole; its events are one list', async () => {
    const served = await serveTree();
    const run = await served.everloop.start('top', { task: 'Go' });
    await settledTree(run);

    await run.pause({ tree: true });
    expect((await run.tree()).map(({ state }) => state)).toEqual(
      Array.from({ length: 5 }, () => 'paused'),
    );
    expect((await run.pending()).map(({ id, kind }) => `${kind} ${id}`)).toContain('pause pause');
    // The pause of a child does not end with that of its parent.
    await run.resume();
    expect((await run.tree()).map(({ state }) => state === 'paused')).toEqual([
      false,
      true,
      true,
      true,
      true,
    ]);
    await run.resume({ tree: true });
    await run.answer('1.2/1.1/q1', 'blue');
    served.hold.open();
    const step = await run.result();

    expect(step.status).toBe('success');
    const events = await run.events({ tree: true });
    expect(events.map(({ at }) => at)).toEqual(
      events.map(({ at }) => at).toSorted((a, b) => a - b),
    );
    const runIds = [...new Set(events.map(({ runId }) => runId))];
    expect(runIds.map((id) => hasNoGap(events.filter(({ runId }) => runId === id)))).toEqual([
      true,
      true,
      true,
      true,
      true,
    ]);
    expect(events.filter(({ runId }) => runId === step.runId)).toEqual(await run.events());
    await expect(run.events({ tree: true, from: 3 })).rejects.toMatchObject({ code: 'number' });
  });

  it('streams what all of its runs write, from its root', async () => {
    const served = await serveTree();
    const run = await served.everloop.start('top', { task: 'Go' });
    await settledTree(run);
    const items: (Chunk | ChunkMarker)[] = [];
    const subscribed = vi.spyOn(served.chunks, 'subscribe');
    const reading = (async () => {
      for await (const item of run.stream({ tree: true })) items.push(item);
    })();
    // It asks the run first, and there is no replay.
    await eventually('the reader', () => subscribed.mock.calls.length === 1);
    const child = await run.child('1.1');
    await expect(child.stream({ tree: true })[Symbol.asyncIterator]().next()).rejects.toMatchObject(
      { code: 'no_stream' },
    );

    await run.answer('1.2/1.1/q1', 'blue');
    served.hold.open();
    await run.result();
    await reading;

    const paths = new Set(items.map(({ agentPath }) => agentPath));
    expect([...paths].toSorted()).toEqual([
      'top',
      'top/1/middle',
      'top/1/middle/1/busy',
      'top/1/middle/1/shy',
    ]);
  });

  it.runIf(RUNS_ALL)('shows runs that nobody serves, and what was ended by force', async () => {
    const served = await serveTree();
    const run = await served.everloop.start('top', { task: 'Go' });
    await settledTree(run);
    await stage.client.workflow.getHandle(`${run.id}/1.2/1.1`).terminate('by hand');
    await eventually('the branch to end', async () => (await run.tree()).at(-2)?.state === 'ended');
    expect((await run.tree()).map(lineOf).at(-1)).toBe('2 top/1/middle/1/shy ended error #0 ');

    served.hold.open();
    await run.result();
    await served.stop();
    const lonely = await served.everloop.start('top', { task: 'Nobody is there' });
    const runs = await lonely.tree();

    expect(runs.map(({ state, agent, parent }) => [state, agent, parent])).toEqual([
      ['silent', 'top', null],
    ]);
    expect((await everloopCli(['tree', lonely.id], served)).stdout).toContain('silent');
    await stage.client.workflow.getHandle(lonely.id).terminate();
  });
});
