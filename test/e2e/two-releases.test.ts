/**
 * Two releases on one task queue: a fleet of worker processes is upgraded one by one and taken back,
 * while runs of some scenarios live, and workers are killed. Every run ends as an undisturbed one. As
 * long as nothing is published, the releases are this code, with agents that have changed.
 */
import { mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Everloop } from '../../src/client/everloop-client.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import type { Step } from '../../src/core/contract/step.ts';
import type { Json } from '../../src/core/base/json.ts';
import { isUsageError } from '../../src/core/base/usage-error.ts';
import { createDeployment } from '../../src/versioning/deployment.ts';
import { outcomeOf } from '../support/airline.ts';
import { shareBundle } from '../support/bundles.ts';
import { fixtureProcesses, type FixtureProcess } from '../support/child-process.ts';
import { eventually } from '../support/eventually.ts';
import { extent, RUNS_ALL } from '../support/extent.ts';
import type { ReleaseWorker } from '../support/fixtures/serve-release.ts';
import {
  enteredTools,
  PERSON_SAYS,
  RELEASE_SCENARIOS,
  releaseAgents,
  type Release,
  type ReleaseScenario,
} from '../support/release-agents.ts';
import { historiesOf } from '../support/replay.ts';
import { openHandoverStage, type Stage } from '../support/stage.ts';

/** A hand-over every few iterations. */
const HANDOVER_EVENTS = 60;

/** Long enough that runs live while workers are replaced. */
const LATENCY_MS = 150;

const SCENARIOS = RELEASE_SCENARIOS.filter((_, place) => place % extent(1, 2) === 0);

let stage: Stage;
const workers = fixtureProcesses<ReleaseWorker>('serve-release');
/** By scenario: what comes of its runs in the older release, and in the newer one. */
const undisturbed = new Map<string, readonly (readonly Json[])[]>();

beforeAll(async () => {
  stage = await openHandoverStage(HANDOVER_EVENTS);
  const storeDir = await mkdtemp(join(stage.folder, 'store-'));
  for (const release of ['old', 'new'] as const) {
    const agents = releaseAgents({ release, storeDir, latencyMs: 1 });
    const { everloop, stop } = await stage.serve(agents);
    await Promise.all(
      SCENARIOS.map(async (scenario) => {
        const outcomes = await outcomesOf(await play(everloop, scenario));
        undisturbed.set(scenario.name, [...(undisturbed.get(scenario.name) ?? []), outcomes]);
      }),
    );
    await stop();
  }
});
afterAll(async () => {
  await workers.stop();
  await stage?.close();
});

/** How long the runs may take once the last worker is replaced. */
const ENDED_WITHIN_MS = 90_000;

/** The runs of a scenario that was played to its end. */
interface Ended {
  readonly scenario: ReleaseScenario;
  readonly runs: readonly RunHandle[];
}

/** Worker processes of two releases on one queue, as builds of one deployment. */
async function openFleet() {
  const folder = await mkdtemp(join(stage.folder, 'fleet-'));
  const archiveDir = join(folder, 'archive');
  const dataDir = join(folder, 'data');
  await Promise.all([archiveDir, dataDir].map((path) => mkdir(path)));
  await shareBundle(dataDir);
  const { address, namespace } = stage;
  const taskQueue = `releases-${randomUUID()}`;
  const deployment = `releases-${randomUUID()}`;
  const common = {
    address,
    namespace,
    taskQueue,
    archiveDir,
    dataDir,
    deployment,
    storeDir: folder,
    latencyMs: LATENCY_MS,
  };
  return {
    folder,
    everloop: stage.everloopOf(taskQueue, archiveDir),
    deployment: createDeployment({ client: stage.client, name: deployment }),
    start: (release: Release): Promise<FixtureProcess> => workers.start({ ...common, release }),
  };
}

/** Plays a scenario to its end, in one run. */
async function play(
  everloop: Everloop,
  { agent, tasks }: ReleaseScenario,
): Promise<readonly RunHandle[]> {
  if (tasks.length === 1) {
    const run = await everloop.start(agent, { task: tasks[0] ?? '' });
    await answerAll(run);
    return [run];
  }
  const chat = everloop.conversation(agent);
  for (const [index, task] of tasks.entries()) {
    await (await chat.say(task, { id: `message-${index}` })).result();
  }
  await chat.close();
  await chat.run.result();
  return [chat.run];
}

/** Answers what a run asks until it ends. */
async function answerAll(run: RunHandle): Promise<void> {
  for await (const update of run.follow()) {
    if (update.kind !== 'pending') continue;
    const { id, kind } = update.item;
    const options = { updateId: `${run.id}-${id}` };
    await eventually(
      `an answer to ${id} of ${run.id}`,
      () =>
        unlessSilent(
          kind === 'approval'
            ? run.decide(id, { approve: true }, options)
            : run.answer(id, PERSON_SAYS, options),
        ),
      120_000,
    );
  }
}

/** Undefined while no worker answers. */
function unlessSilent<Value>(asked: Promise<Value>): Promise<Value | undefined> {
  return asked.catch((error: unknown) => {
    if (isUsageError(error) && error.code === 'no_worker') return undefined;
    throw error;
  });
}

/** What may differ between releases and with disturbances: fuel, attempts, estimates, times. */
const MAY_DIFFER = /program_steps|retries|Retries|attempts|estimated|durationMs/;

/** What came of runs, without what may differ. Parallel children end in any order. */
async function outcomesOf(runs: readonly RunHandle[]): Promise<readonly Json[]> {
  return Promise.all(
    runs.map(async (run) => {
      const { step, transcript } = await outcomeOf(run);
      const { children, ...rest } = step as unknown as Step;
      const sorted = children.toSorted((a, b) => (a.childId < b.childId ? -1 : 1));
      const text = JSON.stringify(
        { ...rest, children: sorted, transcript },
        (key, value: unknown) => (MAY_DIFFER.test(key) ? undefined : value),
      );
      return JSON.parse(text.replaceAll(run.id, 'RUN').replaceAll(UUID, 'ID')) as Json;
    }),
  );
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

describe('two releases of one program on one queue', () => {
  const RUNS = SCENARIOS.length * extent(2, 1);

  it(
    `end all runs as undisturbed, upgraded and taken back: ${RUNS} runs`,
    { timeout: 400_000 },
    async () => {
      const { folder, everloop, deployment, start } = await openFleet();
      const played: Promise<Ended>[] = [];
      const startSome = (count: number): void => {
        for (let left = count; left > 0 && played.length < RUNS; left -= 1) {
          const scenario = SCENARIOS[played.length % SCENARIOS.length] as ReleaseScenario;
          const playing = play(everloop, scenario).then((runs) => ({ scenario, runs }));
          // Looked at in the end; until then a failure must not end the process.
          playing.catch(() => undefined);
          played.push(playing);
        }
      };
      const fleet = {
        old: [await start('old'), await start('old')],
        new: [] as FixtureProcess[],
      };
      // A worker of each release lives on: runs are pinned to theirs until they hand over.
      const replace = async (release: Release, signal: NodeJS.Signals): Promise<void> => {
        const other = release === 'old' ? 'new' : 'old';
        fleet[release].push(await start(release));
        await deployment.promote(release);
        startSome(extent(2, 1));
        await sleep(1_000);
        if (fleet[other].length > 1) await fleet[other].shift()?.kill(signal);
        if (fleet[release].length > 1) await fleet[release].shift()?.kill(signal);
      };

      await deployment.promote('old');
      startSome(extent(4, 2));
      await sleep(1_500);
      await replace('new', 'SIGKILL');
      if (RUNS_ALL) await replace('new', 'SIGTERM');
      if (RUNS_ALL) await replace('old', 'SIGTERM');
      if (RUNS_ALL) await replace('new', 'SIGKILL');
      await replace('old', 'SIGKILL');
      startSome(RUNS);
      const ended = await within(ENDED_WITHIN_MS, played);

      for (const { scenario, runs } of ended) {
        const [older = [], newer = []] = undisturbed.get(scenario.name) ?? [];
        for (const [at, outcome] of (await outcomesOf(runs)).entries()) {
          // Each as the release that it began with, whichever took it over.
          expect([older[at], newer[at]], scenario.name).toContainEqual(outcome);
        }
        for (const run of runs) expect(await failedTasks(run)).toEqual([]);
      }
      for (const keys of keysByCall(folder).values()) expect(keys.size).toBe(1);
    },
  );
});

/** Fails with the runs that did not end, and what their workers said of them. */
async function within(ms: number, played: readonly Promise<Ended>[]): Promise<readonly Ended[]> {
  const late = sleep(ms, 'late' as const, { ref: false });
  const ended = await Promise.race([Promise.all(played), late]);
  if (ended !== 'late') return ended;
  const open = stage.client.workflow.list({ query: "ExecutionStatus = 'Running'" });
  const texts: string[] = [];
  for await (const { workflowId } of open) {
    const run = stage.everloopOf('').attach(workflowId);
    texts.push(`${workflowId}: ${(await failedTasks(run)).at(-1) ?? 'no task failed'}`);
  }
  throw new Error(`Expected all runs to end within ${ms} ms, got these:\n${texts.join('\n')}`);
}

/** The keys under which each call was entered, on workers of both releases. */
function keysByCall(folder: string): ReadonlyMap<string, ReadonlySet<string>> {
  const keys = new Map<string, Set<string>>();
  for (const { runId, callId, idempotencyKey } of enteredTools(folder)) {
    const call = `${runId} ${callId}`;
    keys.set(call, (keys.get(call) ?? new Set()).add(idempotencyKey));
  }
  return keys;
}

/** The messages of workflow tasks of a run that a worker failed. */
async function failedTasks(run: RunHandle): Promise<readonly string[]> {
  const histories = await historiesOf(stage.client, run.id);
  return histories.flatMap(({ events }) =>
    (events ?? []).flatMap(({ workflowTaskFailedEventAttributes: failed }) =>
      failed?.failure?.message === undefined ? [] : [String(failed.failure?.message)],
    ),
  );
}
