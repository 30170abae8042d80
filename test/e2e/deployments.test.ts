/** A fleet with versions: promoting, draining, rescuing; and patches that are held back. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import { createDeployment } from '../../src/versioning/deployment.ts';
import { rescue } from '../../src/versioning/rescue.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { release, serveVersion } from '../../examples/docs/deployments.ts';
import { local } from '../../src/worker/serve/local.ts';
import type { WorkerReady } from '../../src/worker/serve/run-worker.ts';
import { eventually } from '../support/eventually.ts';
import { RUNS_ALL } from '../support/extent.ts';
import { openFleet, type Fleet } from '../support/fleets.ts';
import { peopleAgents } from '../support/people-agents.ts';
import { act, answer, bodiesOf, gate, hasNoGap, searchTool } from '../support/runs.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { asker } from '../support/tree-agents.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(() => stage?.close());

const [clerk, person] = peopleAgents();
if (clerk === undefined || person === undefined) throw new Error('Expected two agents.');

/** A program that waits for a person in its middle. */
const programmer = defineAgent({
  name: 'programmer',
  mode: 'lisp',
  model: {
    id: 'p',
    model: async () => '```clojure\n(def colour (ask "Which?"))\n(return {:colour colour})\n```',
  },
  askUser: true,
});

/** A run that waits for nothing. */
const quick = defineAgent({
  name: 'quick',
  mode: 'react',
  model: { id: 'q', model: async () => answer() },
});

const boss = asker(person, 1, 'boss');
const agents = [clerk, person, programmer, quick, boss];

async function started(fleet: Pick<Fleet, 'everloop'>, agent: string): Promise<RunHandle> {
  const run = await fleet.everloop.start(agent, { task: 'Work' });
  await eventually(`${agent} to wait`, async () => (await run.pending()).length > 0);
  return run;
}

/** Ids of what runs wait for themselves. */
async function itemsOf(run: RunHandle): Promise<readonly string[]> {
  return (await run.pending()).map(({ id }) => id);
}

describe('a version that is drained', () => {
  it(
    'has no open run, and its runs go on with the next version as if nothing had happened',
    { timeout: 180_000 },
    async () => {
      const fleet = openFleet(stage, agents);
      const old = await fleet.release('v1');
      const asking = await started(fleet, 'asker');
      const working = await started(fleet, 'clerk');
      const inProgram = await started(fleet, 'programmer');
      const parent = await started(fleet, 'boss');
      const child = await parent.child('1.1');
      const paused = await started(fleet, 'asker');
      await paused.send('also this', { id: 'queued-1' });
      await paused.pause();
      await fleet.release('v2');

      // New runs go to the new version, and no run has moved by itself.
      const fresh = await fleet.everloop.start('quick', { task: 'Now' });
      expect(await fresh.result()).toMatchObject({ status: 'success' });
      expect(await fleet.buildOf(fresh)).toBe('v2');
      expect(await fleet.buildOf(child)).toBe('v1');

      const first = await fleet.deployment.drain('v1', { waitMs: 6_000 });

      // The parent stays while its child is alive; everything else has moved.
      expect(first).toMatchObject({
        left: 1,
        staying: [{ reason: 'children', runs: 1, ids: [parent.id] }],
      });
      for (const run of [asking, working, inProgram, child, paused]) {
        expect(await fleet.buildOf(run)).toBe('v2');
      }
      expect(await fleet.buildOf(parent)).toBe('v1');

      await child.answer('q1', 'blue');
      expect(await parent.result()).toMatchObject({ status: 'success' });
      expect(await fleet.deployment.drain('v1', { waitMs: 60_000 })).toMatchObject({ left: 0 });
      await old.stop();

      for (const run of [asking, paused]) await run.answer('q1', 'blue');
      await inProgram.answer((await itemsOf(inProgram))[0] ?? '', 'blue');
      for (const item of await working.pending()) {
        if (item.kind === 'approval') await working.decide(item.id, { approve: true });
        else await working.answer(item.id, item.kind === 'question' ? 'John Doe' : 'built');
      }
      await paused.resume();
      const runs = [asking, working, inProgram, paused];
      for (const run of runs) expect(await run.result()).toMatchObject({ status: 'success' });
      expect((await inProgram.result()).value).toEqual({ colour: 'blue' });
      const read = bodiesOf(await paused.events(), 'agent:input');
      expect(read.map(({ inputId }) => inputId)).toEqual(['queued-1']);
      for (const run of [...runs, child]) {
        const events = await run.events();
        expect(hasNoGap(events)).toBe(true);
        expect(bodiesOf(events, 'agent:execution:handover')).toHaveLength(1);
        await stage.replay(run);
      }
    },
  );

  it('must get no new runs, and there must be workers to take its own', async () => {
    const fleet = openFleet(stage, agents);
    const old = await fleet.release('v1');

    await expect(fleet.deployment.drain('v1')).rejects.toMatchObject({
      code: 'worker_version',
      message:
        'Expected a version that gets no new runs, got `v1`, which is the current one. Promote another one first.',
    });
    await expect(fleet.deployment.drain('v0')).rejects.toMatchObject({ code: 'worker_version' });
    expect(await fleet.deployment.status()).toMatchObject({
      current: 'v1',
      versions: [
        { build: 'v1', state: 'current', workers: 1, queues: [fleet.taskQueue], openRuns: 0 },
      ],
      unversioned: { workers: [], openRuns: 0 },
    });
    await old.stop();
  });
});

describe('a worker of the user', () => {
  it.runIf(RUNS_ALL)(
    'says that its version gets no new runs, and is released by a script',
    async () => {
      const fleet = openFleet(stage, agents);
      const { name } = fleet.deployment;
      const { address, namespace, folder } = stage;
      const place = { address, namespace, env: {} };
      const old = await fleet.release('v1');
      const run = await started(fleet, 'asker');
      const stop = new AbortController();
      const ready = gate<WorkerReady>();
      const serving = serveVersion(agents, 'v2', {
        ...place,
        deployment: { name, build: 'v2' },
        taskQueue: fleet.taskQueue,
        dataDir: folder,
        logLevel: 'ERROR',
        streamListen: 'off',
        signals: null,
        signal: stop.signal,
        onReady: (is) => ready.open(is),
      });

      expect((await ready.opened).version).toEqual({
        name,
        build: 'v2',
        newRuns: 'none',
        notice: `Version \`v2\` of deployment \`${name}\` is not current: it gets no new runs. Promote it: everloop deploy promote v2`,
      });
      expect(await release('v1', 'v2', { ...place, name })).toBe(0);
      await old.stop();
      await run.answer('q1', 'blue');
      expect(await run.result()).toMatchObject({ status: 'success' });

      stop.abort();
      await serving;
    },
  );

  it('is of no version with `local`, whatever the environment says', async () => {
    const { address, namespace, folder } = stage;
    const everloop = await local({
      agents: [quick],
      address,
      namespace,
      dataDir: folder,
      env: { EVERLOOP_BUILD_ID: 'v1' },
    });
    const run = await everloop.start('quick', { task: 'Now' });

    expect(await run.result()).toMatchObject({ status: 'success' });
    await everloop.close();
  });
});

describe('a run whose version has no workers', () => {
  it('is rescued in the middle of its turn, and stays where it was taken', async () => {
    const fleet = openFleet(stage, agents);
    const old = await fleet.release('v1');
    const run = await started(fleet, 'asker');
    await old.stop();
    await fleet.release('v2');

    expect(await fleet.deployment.rescue(run.id)).toEqual({ id: run.id, from: 'v1', to: 'v2' });

    await expect(fleet.deployment.rescue(run.id)).rejects.toMatchObject({
      code: 'worker_version',
    });
    await run.answer('q1', 'blue');
    expect(await run.result()).toMatchObject({ status: 'success' });
    const { raw } = await stage.client.workflow.getHandle(run.id).describe();
    expect(raw.workflowExecutionInfo?.versioningInfo).toMatchObject({
      deploymentVersion: { buildId: 'v2' },
      versioningOverride: null,
    });
    expect(bodiesOf(await run.events(), 'agent:execution:handover')).toEqual([]);
  });
});

describe('a rescue that no worker answers', () => {
  it.runIf(RUNS_ALL)('is taken back, so that no later worker moves the run', async () => {
    const fleet = openFleet(stage, agents);
    const old = await fleet.release('v1');
    const run = await started(fleet, 'asker');
    await old.stop();
    const next = await fleet.release('v2');
    await next.stop();
    const { name } = fleet.deployment;
    const overrideOf = async () => {
      const { raw } = await stage.client.workflow.getHandle(run.id).describe();
      return raw.workflowExecutionInfo?.versioningInfo?.versioningOverride ?? null;
    };

    expect(await rescue({ client: stage.client, name }, run.id, 2_000)).toEqual({
      id: run.id,
      from: 'v1',
      to: null,
    });
    expect(await overrideOf()).toBeNull();
    await fleet.serve('v2');
    await sleep(3_000);
    expect(await fleet.buildOf(run)).toBe('v1');
    // Its own version takes it, and then hands it over as ever.
    await fleet.serve('v1');
    await run.answer('q1', 'blue');
    expect(await run.result()).toMatchObject({ status: 'success' });
    expect(bodiesOf(await run.events(), 'agent:execution:handover')).toHaveLength(1);
  });
});

describe('the first promotion', () => {
  it.runIf(RUNS_ALL)(
    'takes over runs without a version, once no worker without one is left',
    async () => {
      const fleet = openFleet(stage, agents);
      const plain = await stage.serve(agents, { taskQueue: fleet.taskQueue });
      const run = await started(fleet, 'asker');
      await fleet.serve('v1');

      await expect(fleet.deployment.promote('v1')).rejects.toMatchObject({
        code: 'unversioned_workers',
      });
      expect(await fleet.buildOf(run)).toBeNull();
      const { unversioned } = await fleet.deployment.status();
      expect(unversioned.workers).toHaveLength(1);

      await fleet.deployment.promote('v1', { force: true });
      await plain.stop();
      await run.answer('q1', 'blue');
      expect(await run.result()).toMatchObject({ status: 'success' });
      expect(await fleet.buildOf(run)).toBe('v1');
    },
  );
});

describe.runIf(RUNS_ALL)('a run with work in flight', () => {
  it('hands over by itself when its calls have ended', async () => {
    const mayEnd = gate();
    const slow = defineAgent({
      name: 'slow',
      mode: 'react',
      model: { id: 's', model: async ({ iteration }) => (iteration < 3 ? act('x') : answer()) },
      tools: [searchTool(() => mayEnd.opened.then(() => 'found'))],
    });
    const fleet = openFleet(stage, [slow]);
    await fleet.release('v1');
    const run = await fleet.everloop.start('slow', { task: 'Work' });
    await eventually('the call', async () => (await run.status()).waitsFor[0] === 'tool search');
    await fleet.release('v2');

    expect(await fleet.deployment.drain('v1', { waitMs: 3_000 })).toMatchObject({
      left: 1,
      staying: [{ reason: 'calls', runs: 1, ids: [run.id] }],
    });
    mayEnd.open();

    expect(await run.result()).toMatchObject({ status: 'success', iterations: 3 });
    expect(await fleet.buildOf(run)).toBe('v2');
  });
});

describe.runIf(RUNS_ALL)('a version with a queue for tools', () => {
  it('has its calls run by workers of the same version', async () => {
    const name = `fleet-${randomUUID()}`;
    const deployment = createDeployment({ client: stage.client, name });
    const [taskQueue, toolQueue] = [`e2e-${randomUUID()}`, `e2e-${randomUUID()}`];
    const finder = (build: string): AgentDefinition =>
      defineAgent({
        name: 'finder',
        mode: 'react',
        model: {
          id: 'f',
          model: async ({ iteration, messages }) => {
            if (iteration === 1) return act('x');
            const [found = 'nothing'] = /hits of v\d/.exec(JSON.stringify(messages)) ?? [];
            return answer(found);
          },
        },
        tools: [searchTool(() => `hits of ${build}`)],
      });
    for (const build of ['v1', 'v2']) {
      const options = { taskQueue, toolQueue, version: { name, build } };
      await stage.serve([finder(build)], { ...options, roles: ['workflows', 'models'] });
      await stage.serve([finder(build)], { ...options, roles: ['tools'] });
    }
    const everloop = stage.everloopOf(taskQueue);

    for (const build of ['v1', 'v2']) {
      await deployment.promote(build);
      const run = await everloop.start('finder', { task: 'Find' });
      expect((await run.result()).value).toBe(`hits of ${build}`);
    }

    const { versions } = await deployment.status();
    expect(versions.map(({ queues }) => new Set(queues))).toEqual(
      ['v2', 'v1'].map(() => new Set([taskQueue, toolQueue])),
    );
  });
});

describe.runIf(RUNS_ALL)('a ramp', () => {
  it('gives a part of the new runs to a version, and can be taken back', async () => {
    const fleet = openFleet(stage, agents);
    await fleet.release('v1');
    await fleet.serve('v2');

    await fleet.deployment.promote('v2', { ramp: 50 });

    const share = async (): Promise<readonly string[]> => {
      const builds: string[] = [];
      for (let count = 0; count < 24; count++) {
        const run = await fleet.everloop.start('quick', { task: 'Now' });
        await run.result();
        builds.push((await fleet.buildOf(run)) ?? '');
      }
      return builds;
    };
    expect(new Set(await share())).toEqual(new Set(['v1', 'v2']));
    expect((await fleet.deployment.status()).versions).toMatchObject([
      { build: 'v2', state: 'ramping', percent: 50 },
      { build: 'v1', state: 'current' },
    ]);

    await fleet.deployment.promote('v2', { ramp: 0 });
    await eventually('no new run on v2', async () => !(await share()).includes('v2'));
    await expect(fleet.deployment.promote('v1', { ramp: 10 })).rejects.toMatchObject({
      code: 'worker_version',
    });
  });
});

describe('a patch that is held back', () => {
  const workflowsPath = fileURLToPath(
    new URL('../support/fixtures/workflows/patched.ts', import.meta.url),
  );

  it('is used by no run of this worker, and replays so elsewhere', async () => {
    const patchesOf = async (run: RunHandle): Promise<number> => {
      const { events } = await stage.client.workflow.getHandle(run.id).fetchHistory();
      return (events ?? []).filter(
        ({ markerRecordedEventAttributes }) =>
          markerRecordedEventAttributes?.markerName === 'core_patch',
      ).length;
    };
    const holding = await stage.serve(agents, { holdPatches: 'all', workflowsPath });
    const held = await holding.everloop.start('quick', { task: 'Now' });
    const late = await started({ everloop: holding.everloop }, 'asker');
    expect(await held.result()).toMatchObject({ status: 'success' });
    await holding.stop();

    const free = await stage.serve(agents, { taskQueue: holding.taskQueue, workflowsPath });
    const used = await free.everloop.start('quick', { task: 'Now' });
    expect(await used.result()).toMatchObject({ status: 'success' });
    // What began without the patch goes on without it.
    await late.answer('q1', 'blue');
    expect(await late.result()).toMatchObject({ status: 'success' });

    expect(await Promise.all([held, late, used].map(patchesOf))).toEqual([0, 0, 1]);
    for (const run of [held, late, used]) await stage.replay(run, { workflowsPath });
  });
});
