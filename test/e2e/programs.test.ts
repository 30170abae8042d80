/** Programs on a real server: each call is an activity, and a program outlives every process. */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { fixtureProcesses } from '../support/child-process.ts';
import { eventually } from '../support/eventually.ts';
import { RUNS_ALL } from '../support/extent.ts';
import type { ProgramsWorker } from '../support/fixtures/serve-programs.ts';
import { programAgent } from '../support/program-agents.ts';
import { bodiesOf, hasNoGap, typesOf } from '../support/runs.ts';
import { openHandoverStage, openStage, type Served, type Stage } from '../support/stage.ts';

const workflowsPath = fileURLToPath(
  new URL('../support/fixtures/workflows/programs-loop.ts', import.meta.url),
);

let stage: Stage;
let served: Served;
const stopped: string[] = [];
const workers = fixtureProcesses<ProgramsWorker>('serve-programs');
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
  const agent = programAgent({ onStopped: (callId) => stopped.push(callId) });
  served = await stage.serve([agent], { workflowsPath });
});
afterAll(async () => {
  await workers.stop();
  await stage?.close();
});

function start(everloop: Served['everloop'], ...programs: readonly string[]): Promise<RunHandle> {
  return everloop.start('programmer', { task: 'Go', context: { programs } });
}

async function untilWaiting(run: RunHandle): Promise<void> {
  await eventually(
    'a program that waits',
    async () => (await run.program())?.status?.state === 'waiting',
    30_000,
  );
}

describe('a program in a workflow [row 29]', () => {
  it('runs calls in parallel, sleeps on a timer, and remembers', async () => {
    const run = await start(
      served.everloop,
      `(def hits (pmap #(tool/search {:query (str "q" %)}) (range 12)))
       (sleep 300)
       (count (map #(tool/look {:at %}) hits))`,
      '(return {:n *1 :first (first hits)})',
    );

    const step = await run.result();

    expect(step).toMatchObject({ status: 'success', value: { n: 12, first: 'hits for q0' } });
    const events = await run.events();
    expect(hasNoGap(events)).toBe(true);
    const ids = bodiesOf(events, 'agent:tool_call:after').map(({ callId }) => callId);
    expect(ids.slice(0, 12).toSorted()).toEqual(
      Array.from({ length: 12 }, (_, index) => `1.p1/${index}/1`).toSorted(),
    );
    expect(ids.slice(12)).toEqual(Array.from({ length: 12 }, (_, index) => `1.p${index + 3}`));
    expect(await run.program()).toMatchObject({
      programId: '2.p',
      outcome: 'returned',
      status: { state: 'done', forms: [{ state: 'done' }] },
    });
    await stage.replay(run, { workflowsPath });
  });

  it('ends one call early, and goes on without it', async () => {
    const run = await start(
      served.everloop,
      `(attempt (pcalls #(tool/search {:query (inc 1)}) #(tool/hang) #(ask "Who?") #(sleep 60000)))
       (ask "Go on?")`,
    );
    await eventually('the second question', async () =>
      (await run.pending()).some(({ id }) => id === 'q2'),
    );
    expect((await run.pending()).map(({ id }) => id)).toEqual(['q2']);

    await run.answer('q2', 'yes');
    const step = await run.result();

    expect(step).toMatchObject({ status: 'success', value: 'yes' });
    expect(stopped).toContain('1.p1/1/1');
    expect(bodiesOf(await run.events(), 'agent:tool_call:after')).toMatchObject([
      { callId: '1.p1/0/1', outcome: 'rejected' },
      { callId: '1.p1/1/1', outcome: 'canceled' },
    ]);
    await stage.replay(run, { workflowsPath });
  });

  it('is canceled with the run, and by the service', async () => {
    const source = '(pcalls #(tool/hang) #(ask "Who?") #(sleep 60000))';
    const [asked, native] = await Promise.all([
      start(served.everloop, source),
      start(served.everloop, source),
    ]);
    await Promise.all([untilWaiting(asked), untilWaiting(native)]);

    await asked.cancel('enough');
    await stage.client.workflow.getHandle(native.id).cancel();

    expect(await asked.result()).toMatchObject({ status: 'canceled', message: 'enough' });
    expect(await native.result()).toMatchObject({ status: 'canceled' });
    expect(bodiesOf(await asked.events(), 'agent:program:after')).toMatchObject([
      { outcome: 'canceled', error: { reason: 'canceled' } },
    ]);
    await stage.replay(asked, { workflowsPath });
    await stage.replay(native, { workflowsPath });
  });

  it('begins nothing while the run is paused', async () => {
    const run = await start(
      served.everloop,
      `[(ask "Go on?") (tool/search {:query "a"}) (ask "Really?")]`,
    );
    await untilWaiting(run);
    await run.pause();
    await run.answer('q1', 'yes');
    await eventually('the answer', async () => (await run.status()).waitsFor.length === 0);
    expect(await run.status()).toMatchObject({ state: 'paused', waitsFor: [] });
    expect((await run.pending()).map(({ kind }) => kind)).toEqual(['pause']);
    expect(bodiesOf(await run.events(), 'agent:tool_call:before')).toEqual([]);

    await run.resume();
    await eventually('the second question', async () =>
      (await run.pending()).some(({ id }) => id === 'q2'),
    );
    await run.answer('q2', 'sure');
    const step = await run.result();

    expect(step.value).toEqual(['yes', 'hits for a', 'sure']);
    expect(typesOf(await run.events()).slice(3, -2)).toEqual([
      'question:asked',
      'waiting',
      'paused',
      'question:answered',
      'resumed',
      'tool_call:before',
      'tool_call:after',
      'question:asked',
      'waiting',
      'question:answered',
      'program:after',
    ]);
    await stage.replay(run, { workflowsPath });
  });

  it('that sleeps says until when', async () => {
    const run = await start(served.everloop, '(pcalls #(sleep 600000) #(ask "Who?"))');
    await untilWaiting(run);
    const { status } = (await run.program()) ?? {};
    const nap = status?.effects.find(({ kind }) => kind === 'sleep');
    const timer = `timer until ${new Date(nap?.until ?? 0).toISOString()}`;

    expect((await run.status()).waitsFor).toEqual([timer, 'question q1']);
    expect((await run.tree()).map(({ waitsFor }) => waitsFor)).toEqual([[timer, 'question q1']]);
    await run.cancel();

    expect(await run.result()).toMatchObject({ status: 'canceled' });
  });

  it.runIf(RUNS_ALL)('outlives its worker, which is killed [row 23]', async () => {
    const taskQueue = `programs-${randomUUID()}`;
    const { address, namespace } = stage;
    const work = { address, namespace, taskQueue, archiveDir: stage.folder };
    const victim = await workers.start(work);
    const run = await start(
      stage.everloopOf(taskQueue),
      `(def found (tool/search {:query "a"}))
       (map (fn [n] (pmap (fn [c] (ask (str c n) {:options [{:name "x" :id [c n]} "y"]})) ["a" "b"])) [1 2])`,
      '[found *1]',
    );
    await untilWaiting(run);

    await victim.kill('SIGKILL');
    await workers.start(work);
    for (const ids of [
      ['q1', 'q2'],
      ['q3', 'q4'],
    ]) {
      await eventually('two questions', async () => (await run.pending()).length === 2, 30_000);
      expect((await run.pending()).map(({ id }) => id)).toEqual(ids);
      await run.answer(ids[1] ?? '', 'y');
      await run.answer(ids[0] ?? '', 1);
    }
    const step = await run.result();

    expect(step.value).toEqual([
      'hits for a',
      [
        [{ name: 'x', id: ['a', 1] }, 'y'],
        [{ name: 'x', id: ['a', 2] }, 'y'],
      ],
    ]);
    expect(bodiesOf(await run.events(), 'agent:tool_call:after')).toHaveLength(1);
    await stage.replay(run, { workflowsPath });
  });
});

describe('a program that is handed over in its middle [row 6] [sub 17] [sub 18]', () => {
  let small: Stage;
  beforeAll(async () => {
    small = await openHandoverStage(40);
  });
  afterAll(() => small?.close());

  it('goes on exactly there, and repeats no call', async () => {
    const paid: number[] = [];
    const agent = programAgent({ onPay: (amount) => paid.push(amount) });
    const { everloop } = await small.serve([agent], { workflowsPath });
    const run = await start(
      everloop,
      `(def rows (map #(tool/search {:query (str %)}) (range 10)))
       (def both (pcalls #(ask "Who?" {:options [{:name "Ann" :id 7} "Bob"]}) #(tool/pay {:amount 5}) #(sleep 1)))
       (def more (map #(tool/search {:query (str %)}) (range 10)))
       [(count rows) (count more) both]`,
      '(return [(last more) *1])',
    );
    await eventually('two that wait', async () => (await run.pending()).length === 2, 30_000);
    const { link } = await run.status();
    expect(link).toBeGreaterThan(1);
    expect(await run.program()).toMatchObject({
      programId: '1.p',
      status: { state: 'waiting', forms: [{ state: 'done' }, { state: 'waiting' }, {}, {}] },
    });

    // Messages make the history long: a program that only waits hands over all the same.
    await eventually('another link', async () => {
      await run.send('still there?');
      return (await run.status()).link > link;
    });
    expect((await run.pending()).map(({ kind }) => kind).toSorted()).toEqual([
      'approval',
      'question',
    ]);
    await run.decide('1.p11/1/1', { approve: true });
    await run.answer('q1', 'ann');
    const step = await run.result();

    expect(step.value).toEqual(['hits for 9', [10, 10, [{ name: 'Ann', id: 7 }, 'paid 5', null]]]);
    expect(paid).toEqual([5]);
    const events = await run.events();
    expect(hasNoGap(events)).toBe(true);
    expect(bodiesOf(events, 'agent:tool_call:after')).toHaveLength(21);
    expect(bodiesOf(events, 'agent:program:before')).toHaveLength(2);
    expect(typesOf(events).filter((type) => type === 'execution:handover').length).toBeGreaterThan(
      1,
    );
    await small.replay(run, { workflowsPath });
  });
});
