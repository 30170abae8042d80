/**
 * Forks of runs that are deep or have loops of other kinds, on the real server: loops of your own, many
 * hand-overs, caches, pipelines and fan-outs, each from the first, a middle and the last boundary.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Everloop } from '../../src/client/everloop-client.ts';
import type { ForkStartOptions } from '../../src/client/forks.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { fanOut } from '../../src/define/pipeline/define-fan-out.ts';
import { pipeline } from '../../src/define/pipeline/define-pipeline.ts';
import { NO_PROTECTION } from '../../src/protection/protection.ts';
import { loadWorkflowBundle } from '../../src/worker/bundle/bundle.ts';
import { createDirectoryArchive } from '../../src/worker/files/directory-archive.ts';
import { createStateArchive } from '../../src/worker/states/archived-states.ts';
import { createReplayer } from '../../src/worker/states/replayer.ts';
import { createStateSource } from '../../src/worker/states/state-source.ts';
import { markOf } from '../../src/worker/bundle/bundle-mark.ts';
import { bundleFolder, TEST_LOOPS } from '../support/bundles.ts';
import { extent, RUNS_ALL, withinMs } from '../support/extent.ts';
import { act, answer, cachedSearch } from '../support/runs.ts';
import { openHandoverStage, type Served, type Stage } from '../support/stage.ts';

/** What the tool `look` has been asked. */
const looked: string[] = [];

/** Agents whose replies follow from the iteration and the task alone. */
function agents(turns: number): readonly AgentDefinition[] {
  const look = cachedSearch(looked);
  const playing = (id: string, of: (iteration: number, said: string) => string) => ({
    id,
    price: { input: 1, output: 1 },
    model: async (request: { readonly iteration: number; readonly messages: unknown }) =>
      of(request.iteration, JSON.stringify(request.messages)),
  });
  const trimmer = defineAgent({
    name: 'trimmer',
    mode: 'react',
    limits: { iterations: 5_000 },
    model: playing('t', (iteration) => (iteration < turns ? `reply ${iteration}` : 'end')),
  });
  const cacher = defineAgent({
    name: 'cacher',
    mode: 'react',
    tools: [look],
    model: playing('c', (iteration) =>
      iteration > 3 ? answer('seen') : ([act('a'), act('b'), act('a', 'b')][iteration - 1] ?? ''),
    ),
  });
  const text = (name: string) =>
    defineAgent({
      name,
      mode: 'text',
      // It tells what it was given, so a stage that got another input would say so.
      model: playing(name, (_, said) => `${name} of ${said.length}`),
    });
  const stages = [text('first'), text('second'), text('third')];
  const part = text('part');
  const all = [pipeline('chain', stages), fanOut('each', part)];
  return [trimmer, cacher, ...stages, part, ...all];
}

/** A fork with the statistics of its source, which is to end as the source did. */
async function repeated(
  { everloop }: { readonly everloop: Pick<Everloop, 'fork'> },
  run: RunHandle,
  iteration: number,
  options: ForkStartOptions = {},
): Promise<RunHandle> {
  const source = await run.result();
  const at = { iteration };
  const fork = await everloop.fork(
    { run: run.id, at },
    { effects: 'run', stats: 'keep', ...options },
  );
  const step = await fork.result();
  expect(step).toMatchObject({
    status: 'success',
    value: source.value,
    iterations: source.iterations,
    trace: { forkedFrom: { workflowId: run.id, iteration } },
  });
  expect(await fork.transcript()).toEqual(await run.transcript());
  return fork;
}

describe('a fork', () => {
  /** Links of so few events that a run of 60 iterations has more than five hand-overs. */
  const TURNS = 60;
  let stage: Stage;
  let served: Served;
  beforeAll(async () => {
    stage = await openHandoverStage(60);
    served = await stage.serve(agents(TURNS), { workflowsPath: TEST_LOOPS });
  });
  afterAll(() => stage?.close());

  it('of an agent with a loop of its own repeats its rest, also after five hand-overs', async () => {
    const run = await served.everloop.start('trimmer', { task: 'Go' });
    expect(await run.result()).toMatchObject({ value: { replies: TURNS } });
    const links = await run.links();
    expect(links.length).toBeGreaterThan(5);
    const late = await run.at('latest');
    expect(late).toMatchObject({ iteration: TURNS, link: links.length });

    for (const iteration of [1, TURNS / 2, TURNS]) {
      const fork = await repeated(served, run, iteration);
      await stage.replay(fork, { workflowsPath: TEST_LOOPS });
    }
  });

  it('of a run with `cached` results has them, but for those whose entry is dropped', async () => {
    const run = await served.everloop.start('cacher', { task: 'Go' });
    await run.result();
    expect(looked).toEqual(['a', 'b']);
    const ranIn = async (iteration: number, options: ForkStartOptions = {}) => {
      looked.length = 0;
      if (options.edits === undefined) await repeated(served, run, iteration, options);
      else {
        const fork = await served.everloop.fork({ run: run.id, at: { iteration } }, options);
        expect(await fork.result()).toMatchObject({ status: 'success', value: 'seen' });
      }
      return [...looked];
    };

    expect(await ranIn(1)).toEqual(['a', 'b']);
    expect(await ranIn(2)).toEqual(['b']);
    expect(await ranIn(4)).toEqual([]);
    expect(await ranIn(3)).toEqual([]);
    expect(await ranIn(3, { edits: [{ drop: 0 }] })).toEqual(['a']);
    expect(await ranIn(3, { edits: [{ entry: 1, text: 'Nothing' }] })).toEqual(['b']);
  });

  it('of a pipeline or a fan-out repeats its rest from each of its boundaries', async () => {
    const chain = await served.everloop.start('chain', { task: 'Go' });
    expect((await chain.result()).value).toMatch(/^third of/);
    for (const iteration of [1, 2, 3]) await repeated(served, chain, iteration);
    const each = await served.everloop.start('each', {
      task: 'Go',
      context: { items: ['x', 'yy', 'zzz'] },
    });
    expect((await each.result()).value).toHaveLength(3);
    const { iteration: last } = await each.at('latest');
    for (const iteration of new Set([1, last])) await repeated(served, each, iteration);
  });
});

describe.runIf(RUNS_ALL)('a run of many iterations', () => {
  const TURNS = extent(1_000, 200);
  let stage: Stage;
  let served: Served;
  beforeAll(async () => {
    stage = await openHandoverStage(extent(600, 120));
    served = await stage.serve(agents(TURNS), { workflowsPath: TEST_LOOPS });
  });
  afterAll(() => stage?.close());

  it('shows each of its moments, with one replay for each link', async () => {
    const run = await served.everloop.start('trimmer', { task: 'Go' });
    await run.result();
    const links = await run.links();
    expect(links.length).toBeGreaterThanOrEqual(10);

    const bundle = await loadWorkflowBundle({
      cacheDir: await bundleFolder(TEST_LOOPS),
      workflowsPath: TEST_LOOPS,
    });
    const replayer = createReplayer(bundle, NO_PROTECTION);
    let replays = 0;
    const source = createStateSource({
      client: stage.client,
      replayer: {
        ...replayer,
        replay: (...args) => {
          replays += 1;
          return replayer.replay(...args);
        },
      },
      workflows: await markOf(TEST_LOOPS),
      archive: createStateArchive(createDirectoryArchive(served.archiveDir)),
    });
    try {
      const { signal } = new AbortController();
      const begun = performance.now();
      let slowest = 0;
      for (let iteration = 1; iteration <= TURNS; iteration++) {
        const since = performance.now();
        const { state } = await source.at(
          { workflowId: run.id },
          { iteration },
          {
            withCalls: false,
            signal,
          },
        );
        slowest = Math.max(slowest, performance.now() - since);
        expect(state.iteration).toBe(iteration - 1);
        expect(state.data).toEqual(iteration === 1 ? null : { replies: iteration - 1 });
      }
      const tookMs = performance.now() - begun;
      expect(replays).toBe(links.length);
      // 600 events a link: a second for 300 of them. Seen beside other work: 6.6 s for all moments.
      expect(tookMs).toBeLessThan(withinMs(links.length * 2_000));
      expect(slowest).toBeLessThan(withinMs(2_000));
    } finally {
      await replayer.close();
    }
  });
});
