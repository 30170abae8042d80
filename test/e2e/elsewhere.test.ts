/** Workers of one queue that do not have the same: calls wait for one that has what they need. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { RunHandle } from '../../src/client/run-handle.ts';
import type { ModelFunction } from '../../src/core/contract/model.ts';
import { fixtureProcesses } from '../support/child-process.ts';
import { clerk, type ClerkParts } from '../support/elsewhere-agents.ts';
import { eventually } from '../support/eventually.ts';
import { extentOf, RUNS_ALL } from '../support/extent.ts';
import { actWith, answer, bodiesOf, gate } from '../support/runs.ts';
import { openStage, type Served, type Stage } from '../support/stage.ts';
import type { ElsewhereWorker } from '../support/fixtures/serve-elsewhere.ts';

let stage: Stage;
const processes = fixtureProcesses<ElsewhereWorker>('serve-elsewhere');
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(async () => {
  await processes.stop();
  await stage.close();
});

const WAIT = { elsewhereMs: 120_000 };
const other = clerk({ name: 'other' });

async function waitsFor(run: RunHandle, what: string): Promise<void> {
  await eventually(`a wait for ${what}`, async () => (await run.status()).waitsFor.includes(what));
}

async function warningsOf(run: RunHandle): Promise<readonly string[]> {
  const warnings = bodiesOf(await run.events(), 'agent:warning');
  return warnings.filter(({ code }) => code === 'elsewhere').map(({ message }) => message);
}

async function countOf(run: RunHandle, key: string): Promise<number> {
  return (await run.stats()).counters[key] ?? 0;
}

/** A worker for workflows and models with all parts; tools run on a queue of their own. */
async function serveBeside(
  parts: ClerkParts = {},
  options: { readonly elsewhereMs?: number } = WAIT,
): Promise<{ readonly served: Served; readonly tools: { taskQueue: string; toolQueue: string } }> {
  const taskQueue = `elsewhere-${randomUUID()}`;
  const tools = { taskQueue, toolQueue: `${taskQueue}-tools` };
  const roles = ['workflows', 'models'] as const;
  const served = await stage.serve([clerk(parts)], { ...tools, ...options, roles });
  return { served, tools };
}

describe('[R4] a run whose agent the first worker lacks', () => {
  it('waits for a worker that has it, and says so', async () => {
    const { everloop, taskQueue, stop } = await stage.serve([other], WAIT);
    const run = await everloop.start('clerk', { task: 'Go' });
    await waitsFor(run, 'worker with agent clerk');
    await stop();
    await stage.serve([clerk()], { taskQueue, ...WAIT });

    expect(await run.result()).toMatchObject({ status: 'success', value: 'done' });
    expect(await warningsOf(run)).toEqual(['waited for a worker with agent clerk']);
    await stage.replay(run);
  });

  it.runIf(RUNS_ALL)(
    'ends as `agent_not_found` with a near name when the time is over',
    async () => {
      const { everloop } = await stage.serve([other], { elsewhereMs: 3_000 });
      const run = await everloop.start('othre', { task: 'Go' });
      await waitsFor(run, 'worker with agent othre (did you mean other?)');

      expect(await run.result()).toMatchObject({
        reason: 'agent_not_found',
        message:
          'Expected an agent that the worker has (other), got `othre`. Did you mean `other`?',
      });
      await stage.replay(run);
    },
  );

  it('is named before its task is looked at', async () => {
    const { everloop } = await stage.serve([other]);
    const run = await everloop.start('clerk', {});

    expect(await run.result()).toMatchObject({ reason: 'agent_not_found' });
  });

  it.each(['cancel', 'native'] as const)('ends at once by a %s', async (how) => {
    const { everloop } = await stage.serve([other], { elsewhereMs: Infinity });
    const run = await everloop.start('clerk', { task: 'Go' });
    await waitsFor(run, 'worker with agent clerk');
    const handle = stage.client.workflow.getHandle(run.id);
    if (how === 'cancel') await run.cancel('no clerk');
    else await handle.cancel();

    expect(await run.result()).toMatchObject({ status: 'canceled', iterations: 0 });
    const { status } = await handle.describe();
    expect(status.name).toBe(how === 'cancel' ? 'COMPLETED' : 'CANCELLED');
    await stage.replay(run);
  });
});

describe('[R4] a call whose worker lacks', () => {
  it.each([
    ['the tool', clerk({ lacks: ['tool'] }), 'tool refund'],
    ['the agent', other, 'agent clerk'],
  ])('%s runs once on another, with no attempt used', async (_name, unfit, what) => {
    const effects: string[] = [];
    const { served, tools } = await serveBeside();
    const first = await stage.serve([unfit], { ...tools, roles: ['tools'] });
    const run = await served.everloop.start('clerk', { task: 'Go' });
    await waitsFor(run, `worker with ${what}`);
    await first.stop();
    const full = clerk({ onRefund: (key) => effects.push(key) });
    await stage.serve([full], { ...tools, roles: ['tools'] });

    expect(await run.result()).toMatchObject({ status: 'success', value: 'done' });
    expect(effects).toHaveLength(1);
    expect(bodiesOf(await run.events(), 'agent:tool_call:after')).toMatchObject([
      { tool: 'refund', outcome: 'ok', attempts: 1 },
    ]);
    expect(await warningsOf(run)).toHaveLength(1);
    await stage.replay(run);
  });

  it('the tool is told to the model when the time is over: it never began', async () => {
    const told: string[] = [];
    const model: ModelFunction = async (request) => {
      if (request.iteration === 1) return actWith(['refund', 'x']);
      told.push(JSON.stringify(request.messages));
      return answer();
    };
    const { served, tools } = await serveBeside({ model, elsewhereMs: 1_500 });
    await stage.serve([clerk({ lacks: ['tool'] })], { ...tools, roles: ['tools'] });
    const run = await served.everloop.start('clerk', { task: 'Go' });

    expect(await run.result()).toMatchObject({ status: 'success' });
    expect(told.join()).toContain('Error: no worker has the tool refund of agent clerk.');
    expect(await countOf(run, 'agent:tool_calls')).toBe(0);
    await stage.replay(run);
  });

  it('the tool waits while the run is paused, and goes on at once when it resumes', async () => {
    const { served, tools } = await serveBeside({ elsewhereMs: Infinity });
    const first = await stage.serve([clerk({ lacks: ['tool'] })], { ...tools, roles: ['tools'] });
    const run = await served.everloop.start('clerk', { task: 'Go' });
    await waitsFor(run, 'worker with tool refund');
    await run.pause();
    await first.stop();
    await stage.serve([clerk()], { ...tools, roles: ['tools'] });
    expect((await run.status()).state).toBe('paused');
    await run.resume();

    expect(await run.result()).toMatchObject({ status: 'success', value: 'done' });
    await stage.replay(run);
  });

  it.each(extentOf(['cancel', 'wallClockMs'] as const))('the tool ends by %s', async (how) => {
    const { served, tools } = await serveBeside({ elsewhereMs: Infinity });
    await stage.serve([clerk({ lacks: ['tool'] })], { ...tools, roles: ['tools'] });
    const limits = how === 'cancel' ? {} : { wallClockMs: 8_000 };
    const run = await served.everloop.start('clerk', { task: 'Go', limits });
    await waitsFor(run, 'worker with tool refund');
    if (how === 'cancel') await run.cancel();

    const { status } = await run.result();
    expect(status).toBe(how === 'cancel' ? 'canceled' : 'limit_exceeded');
    await stage.replay(run);
  });

  it('a validator has the answer judged elsewhere', async () => {
    const release = gate();
    const model: ModelFunction = async () => {
      await release.opened;
      return answer();
    };
    const taskQueue = `elsewhere-${randomUUID()}`;
    const queues = { taskQueue, modelQueue: `${taskQueue}-models`, ...WAIT };
    await stage.serve([clerk({ model })], { ...queues, roles: ['models'] });
    const roles = ['workflows', 'tools'] as const;
    const first = await stage.serve([clerk()], { ...queues, roles });
    const run = await first.everloop.start('clerk', { task: 'Go' });
    await waitsFor(run, 'model m');
    await first.stop();
    const unfit = await stage.serve([clerk({ lacks: ['validator'] })], { ...queues, roles });
    release.open();
    await waitsFor(run, 'worker with validator polite');
    await unfit.stop();
    await stage.serve([clerk()], { ...queues, roles });

    expect(await run.result()).toMatchObject({ status: 'success', value: 'done' });
    await stage.replay(run);
  });

  it('a quick local read has it run as an activity of another worker', async () => {
    const release = gate();
    const model: ModelFunction = async ({ iteration }) => {
      await release.opened;
      return iteration === 1 ? actWith(['refund', 'x']) : answer();
    };
    const taskQueue = `elsewhere-${randomUUID()}`;
    const queues = {
      taskQueue,
      modelQueue: `${taskQueue}-models`,
      toolQueue: `${taskQueue}-tools`,
      ...WAIT,
    };
    const full = clerk({ isLocal: true, model });
    await stage.serve([full], { ...queues, roles: ['models', 'tools'] });
    const first = await stage.serve([full], { ...queues, roles: ['workflows'] });
    const run = await first.everloop.start('clerk', { task: 'Go' });
    await waitsFor(run, 'model m');
    await first.stop();
    const unfit = clerk({ isLocal: true, model, lacks: ['tool'] });
    await stage.serve([unfit], { ...queues, roles: ['workflows'] });
    release.open();

    expect(await run.result()).toMatchObject({ status: 'success', value: 'done' });
    expect(await warningsOf(run)).toHaveLength(1);
    await stage.replay(run);
  });

  it('the model has it asked elsewhere', async () => {
    const taskQueue = `elsewhere-${randomUUID()}`;
    const queues = { taskQueue, modelQueue: `${taskQueue}-models`, ...WAIT };
    const spare = { id: 'spare', model: async () => answer('spared') };
    const roles = ['workflows', 'tools'] as const;
    const { everloop } = await stage.serve([clerk()], { ...queues, roles, models: [spare] });
    const unfit = await stage.serve([clerk()], { ...queues, roles: ['models'] });
    const run = await everloop.start('clerk', { task: 'Go', model: 'spare' });
    await waitsFor(run, 'worker with model spare');
    await unfit.stop();
    await stage.serve([clerk()], { ...queues, roles: ['models'], models: [spare] });

    expect(await run.result()).toMatchObject({ status: 'success', value: 'spared' });
    expect(await countOf(run, 'agent:model_call_retries')).toBe(0);
    await stage.replay(run);
  });
});

/** What a provider answers: a status and words. */
function refused(statusCode: number, code: string): ModelFunction {
  return async () => {
    throw Object.assign(new Error('no'), { statusCode, code });
  };
}

describe('[R4] credentials that the provider refuses', () => {
  it.each(
    extentOf([
      [401, 'invalid_api_key'],
      [402, 'billing_error'],
      [403, 'permission_error'],
      [429, 'insufficient_quota'],
    ]),
  )('with %i %s: the call waits for others', async (status, code) => {
    let tries = 0;
    const model: ModelFunction = async (request, io) => {
      tries += 1;
      return tries === 1 ? refused(status, code)(request, io) : answer();
    };
    const { everloop } = await stage.serve([clerk({ model })], WAIT);
    const run = await everloop.start('clerk', { task: 'Go' });

    expect(await run.result()).toMatchObject({ status: 'success', value: 'done' });
    expect(await warningsOf(run)).toEqual([
      `waits for a worker with credentials of model m: HTTP ${status}: no`,
    ]);
    expect(await countOf(run, 'agent:model_call_retries')).toBe(0);
    await stage.replay(run);
  });

  it.runIf(RUNS_ALL)('end the run as `model_auth` when the time is over', async () => {
    const model = refused(401, 'invalid_api_key');
    const { everloop } = await stage.serve([clerk({ model, elsewhereMs: 1_500 })]);
    const run = await everloop.start('clerk', { task: 'Go' });

    expect(await run.result()).toMatchObject({ reason: 'model_auth' });
    await stage.replay(run);
  });

  it('with a fallback have it asked at once, and the operator told', async () => {
    const agent = clerk();
    const models = [
      { id: 'first', model: refused(401, 'invalid_api_key'), fallbacks: ['second'] },
      { id: 'second', model: async () => answer('second') },
    ];
    const { everloop } = await stage.serve([agent], { models, elsewhereMs: Infinity });
    const run = await everloop.start('clerk', { task: 'Go', model: 'first' });

    expect(await run.result()).toMatchObject({ status: 'success', value: 'second' });
    expect(await warningsOf(run)).toEqual([
      'asks the next model and not a worker with credentials of model first: HTTP 401: no',
    ]);
    await stage.replay(run);
  });
});

/** Where a call goes is chance, and each miss makes the pause longer. */
const TIMEOUT = { timeout: 240_000 };

it.runIf(RUNS_ALL)(
  '[R4] runs of two agents end on two processes that have one each',
  TIMEOUT,
  async () => {
    const taskQueue = `elsewhere-${randomUUID()}`;
    const { address, namespace } = stage;
    const effects = join(stage.folder, `${taskQueue}.txt`);
    const agents = ['left', 'right'];
    for (const agent of agents) {
      const archiveDir = join(stage.folder, agent);
      await processes.start({ address, namespace, archiveDir, taskQueue, agent, effects });
    }
    const everloop = stage.everloopOf(taskQueue);
    // At once: without a spread of the pauses, calls come in turns that suit neither process.
    const runs = await Promise.all(
      [...agents, ...agents, ...agents].map((agent) => everloop.start(agent, { task: 'Go' })),
    );
    const steps = await Promise.all(runs.map((run) => run.result()));

    expect(steps.map(({ status, value }) => [status, value])).toEqual(
      steps.map(() => ['success', 'done']),
    );
    const keys = readFileSync(effects, 'utf8').trim().split('\n');
    expect(keys.toSorted()).toEqual(steps.map(({ runId }) => `${runId}/1.1`).toSorted());
    for (const run of runs) await stage.replay(run);
  },
);
