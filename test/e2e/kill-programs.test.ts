/**
 * Kill tests of programs: the worker of a survey, and the server under it, are killed with SIGKILL at
 * moments that follow from a seed, and replaced at once. Sixty calls, one after another, in nested maps
 * and in a `pmap` of ten, with hand-overs in their middle. `npm run test:kills` takes all moments.
 */
import { mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fixtureProcesses } from '../support/child-process.ts';
import { eventually } from '../support/eventually.ts';
import type { SurveyWorker } from '../support/fixtures/serve-survey.ts';
import { killMoments, killWatch, PROGRAM_KINDS, type KillMoment } from '../support/kill-moments.ts';
import { extent, extentOf, KILL_SEED, RUNS_ALL } from '../support/extent.ts';
import { bodiesOf, hasNoGap } from '../support/runs.ts';
import { openStage, type Stage } from '../support/stage.ts';
import {
  confusedCalls,
  enteredCalls,
  programOutcomeOf,
  SURVEY_CALLS,
  surveyAgent,
  surveyValue,
  SURVEYOR,
  type ProgramOutcome,
} from '../support/survey.ts';
import {
  CLI_FOLDER,
  handoverAfter,
  startTestServer,
  type TestServer,
} from '../support/test-server.ts';
import { isRunning } from '../../src/worker/server/server-lock.ts';
import { startOrFindServer, type EmbeddedServer } from '../../src/worker/server/embedded-server.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import type { Step } from '../../src/core/contract/step.ts';

/** A hand-over every dozen calls. */
const SETTINGS = handoverAfter(70);
const LATENCY_MS = 25;

let server: TestServer;
let stage: Stage;
let undisturbed: ProgramOutcome;
const workers = fixtureProcesses<SurveyWorker>('serve-survey');

beforeAll(async () => {
  server = await startTestServer({ dynamicConfig: SETTINGS });
  stage = await openStage(server);
  undisturbed = await playUndisturbed(stage);
});
afterAll(async () => {
  await workers.stop();
  await stage?.close();
  await server?.stop();
});

/** What the survey comes to when nothing happens. */
async function playUndisturbed(on: Stage): Promise<ProgramOutcome> {
  const storeDir = await mkdtemp(join(on.folder, 'store-'));
  const { everloop, stop } = await on.serve([surveyAgent({ storeDir, latencyMs: LATENCY_MS })]);
  const run = await everloop.start(SURVEYOR, { task: 'Survey.' });
  const outcome = await programOutcomeOf(run);
  await on.replay(run);
  await stop();
  return outcome;
}

/** A place of a test's own: a task queue, a store, an archive. */
async function placeOf(): Promise<SurveyWorker> {
  const storeDir = await mkdtemp(join(stage.folder, 'kill-'));
  const archiveDir = join(storeDir, 'archive');
  await mkdir(archiveDir);
  const { address, namespace } = server;
  const taskQueue = `kill-${randomUUID()}`;
  return { address, namespace, taskQueue, storeDir, archiveDir, latencyMs: LATENCY_MS };
}

/** All that a disturbance must not change, and that no call was begun under two names. */
async function check(run: RunHandle, on: Stage, storeDir: string): Promise<void> {
  const outcome = await programOutcomeOf(run);
  const events = await run.events();

  expect(outcome).toEqual(undisturbed);
  expect(hasNoGap(events)).toBe(true);
  expect(confusedCalls(storeDir)).toEqual([]);
  expect(new Set(enteredCalls(storeDir).map(({ callId }) => callId)).size).toBe(SURVEY_CALLS);
  await on.replay(run);
}

describe('a survey by programs', () => {
  it('makes sixty calls through many hand-overs when nothing is killed [row 29]', () => {
    const step = undisturbed.step as unknown as Step & {
      readonly counters: { readonly [key: string]: number };
    };

    expect(step).toMatchObject({
      status: 'success',
      value: surveyValue(),
      iterations: 3,
      usage: { toolCalls: SURVEY_CALLS, modelCalls: 3 },
    });
    expect(step.counters).toMatchObject({
      'agent:tool_calls': SURVEY_CALLS,
      'agent:code_executions': 3,
    });
    expect(undisturbed.requests).toHaveLength(SURVEY_CALLS);
    expect(Object.keys((step.memory as { readonly journal: object }).journal)).toHaveLength(1);
  });
});

describe('the worker of a program that is killed and replaced', () => {
  const count = extent(25, 1);
  const moments = killMoments(KILL_SEED + 2, count, PROGRAM_KINDS);
  for (const { name, ...killAt } of moments) {
    it.concurrent(
      `goes on exactly there: ${name} [row 23] [row 29] [sub 10]`,
      { timeout: 300_000 },
      async () => {
        const place = await placeOf();
        const victim = await workers.start({ ...place, killAt });
        const everloop = stage.everloopOf(place.taskQueue, place.archiveDir);

        const run = await everloop.start(SURVEYOR, { task: 'Survey.' });
        const signal = await victim.ended;
        const successor = await workers.start(place);

        expect(signal).toBe('SIGKILL');
        await check(run, stage, place.storeDir);
        expect(
          bodiesOf(await run.events(), 'agent:execution:handover').length,
        ).toBeGreaterThanOrEqual(3);
        await successor.kill('SIGKILL');
      },
    );
  }
});

describe('a `once` call of a program whose worker is killed in it', () => {
  it.each(extentOf(['effect begun', 'effect done'] as const))(
    'is unknown to its program, and never repeated: %s [row 23] [row 29]',
    { timeout: 300_000 },
    async (on) => {
      const place = { ...(await placeOf()), latencyMs: 400 };
      const victim = await workers.start({ ...place, killAt: { on, nth: 1, delayMs: 0 } });
      const run = await stage.everloopOf(place.taskQueue).start('payer', { task: 'Pay.' });
      const signal = await victim.ended;
      const successor = await workers.start(place);

      const step = await run.result();

      expect(signal).toBe('SIGKILL');
      expect(step.value).toEqual({ paid: null, reason: 'tool_error', known: 51 });
      expect(enteredCalls(place.storeDir).map(({ tool }) => tool)).toEqual(['pay', 'count_people']);
      expect(bodiesOf(await run.events(), 'agent:tool_call:after')).toMatchObject([
        { tool: 'pay', outcome: 'unknown' },
        { tool: 'count_people', outcome: 'ok' },
      ]);
      await stage.replay(run);
      await successor.kill('SIGKILL');
    },
  );
});

describe('the server under a program that is killed and restarted', () => {
  let own: Stage | undefined;
  const servers: EmbeddedServer[] = [];
  afterAll(async () => {
    await own?.close();
    for (const each of servers.splice(0).toReversed()) await each.stop();
  });

  const count = extent(5, 1);
  const moments = killMoments(KILL_SEED + 3, count, PROGRAM_KINDS);
  for (const { name, ...moment } of moments) {
    it.runIf(RUNS_ALL)(`loses nothing of it: ${name} [row 29]`, { timeout: 300_000 }, async () => {
      await own?.close();
      const victim = await startTestServer({ dynamicConfig: SETTINGS });
      servers.push(victim);
      own = await openStage(victim);
      const { pid = 0, dataDir, address } = victim;
      const notice = killWatch(moment, () => process.kill(pid, 'SIGKILL'));
      const storeDir = await mkdtemp(join(own.folder, 'store-'));
      const { everloop } = await own.serve(
        [surveyAgent({ storeDir, latencyMs: LATENCY_MS }, (step) => notice(`effect ${step}`))],
        { listeners: [(event) => notice(`event ${event.type}` as KillMoment['on'])] },
      );

      const run = await everloop.start(SURVEYOR, { task: 'Survey.' });
      await eventually('the server to be killed', () => !isRunning(pid), 60_000);
      servers.push(
        await startOrFindServer({
          dataDir,
          cliDir: CLI_FOLDER,
          port: Number(address.split(':')[1]),
          dynamicConfig: SETTINGS,
        }),
      );

      await check(run, own, storeDir);
    });
  }
});
