/**
 * Model activities in another process than workflows, every cache empty, and a service that holds
 * one query for a run: the transcript of each call is read by query, and must be the same.
 */
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { AgentEvent } from '../../src/core/contract/events.ts';
import type { ModelOrder } from '../../src/core/contract/host-order.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { inputSignal } from '../../src/workflows/messages.ts';
import {
  airlineAgents,
  outcomeOf,
  startAirlineModel,
  startAirlineRuns,
  VARIANTS,
  type Outcome,
} from '../support/airline.ts';
import { startFixture, type FixtureProcess } from '../support/child-process.ts';
import { extent, RUNS_ALL } from '../support/extent.ts';
import type { AirlineWorker } from '../support/fixtures/serve-airline.ts';
import { historiesOf } from '../support/replay.ts';
import { act, answer, bodiesOf, hasNoGap, searchTool } from '../support/runs.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { handoverAfter, startTestServer, type TestServer } from '../support/test-server.ts';

let server: TestServer;
let stage: Stage;
let model: LLMock;
let other: FixtureProcess | undefined;

beforeAll(async () => {
  server = await startTestServer({
    dynamicConfig: handoverAfter(30),
  });
  stage = await openStage(server);
  model = await startAirlineModel();
});
afterAll(async () => {
  await other?.kill('SIGKILL');
  await model?.stop();
  await stage?.close();
  await server?.stop();
});

/** What a run said, and the transcript references of its model calls. */
interface Seen {
  readonly outcome: Outcome;
  readonly references: readonly ModelOrder['transcript'][];
}

async function seenOf(run: RunHandle): Promise<Seen> {
  const outcome = await outcomeOf(run);
  const events: readonly AgentEvent[] = await run.events();
  expect(hasNoGap(events)).toBe(true);
  const references = (await historiesOf(stage.client, run.id)).flatMap(({ events: all }) =>
    (all ?? []).flatMap((event) => {
      const scheduled = event.activityTaskScheduledEventAttributes;
      if (scheduled?.activityType?.name !== 'callModel') return [];
      const [payload] = scheduled.input?.payloads ?? [];
      const order = JSON.parse(Buffer.from(payload?.data ?? []).toString()) as ModelOrder;
      return [order.transcript];
    }),
  );
  await stage.replay(run);
  return { outcome, references };
}

it(
  'gives the same transcript and the same digests as a worker that does all with its caches',
  { timeout: 180_000 },
  async () => {
    const storeDir = await mkdtemp(join(stage.folder, 'plain-'));
    const place = { modelUrl: model.url, storeDir, latencyMs: 0 };
    const plain = await stage.serve(airlineAgents(place));
    const expected: Seen[] = [];
    for (const { run } of await startAirlineRuns(plain.everloop)) expected.push(await seenOf(run));
    await plain.stop();

    const otherPlace = { ...place, storeDir: await mkdtemp(join(stage.folder, 'split-')) };
    const split = await stage.serve(airlineAgents(otherPlace), {
      modelQueue: 'models-elsewhere',
      roles: ['workflows', 'tools'],
      cacheBytes: 0,
      maxCachedWorkflows: 0,
    });
    const work: AirlineWorker = {
      ...otherPlace,
      address: server.address,
      namespace: server.namespace,
      archiveDir: split.archiveDir,
      parts: {
        taskQueue: split.taskQueue,
        modelQueue: 'models-elsewhere',
        roles: ['models'],
        cacheBytes: 0,
      },
    };
    other = await startFixture('serve-airline', [JSON.stringify(work)]);
    const seen: Seen[] = [];
    const runs = await startAirlineRuns(split.everloop);
    for (const { run } of runs) seen.push(await seenOf(run));

    expect(seen).toHaveLength(VARIANTS.length);
    expect(seen.map(({ outcome }) => outcome)).toEqual(expected.map(({ outcome }) => outcome));
    // The time of a run is no part of its digests, so they are equal to the last digit.
    expect(seen.map(({ references }) => references)).toEqual(
      expected.map(({ references }) => references),
    );
    expect(seen.map(({ references }) => references.length)).toEqual([6, 6, 6]);
  },
);

it.runIf(RUNS_ALL)(
  'answers twenty queries at once while inputs arrive, and no activity fails of it',
  // The service sheds queries by chance; how long one waits for its turn has no bound.
  { timeout: 120_000, retry: 2 },
  async () => {
    const agent = defineAgent({
      name: 'busy',
      mode: 'react',
      tools: [searchTool()],
      limits: 'unlimited',
      model: {
        id: 'm',
        model: async ({ iteration }) =>
          iteration < extent(20, 6) ? act(`step ${iteration}`) : answer(),
      },
    });
    // Without a cache each model call asks for its transcript among the others.
    const { everloop } = await stage.serve([agent], { cacheBytes: 0 });
    const run = await everloop.start('busy', { task: 'Go' });

    let state = 'running';
    for (let round = 1; state !== 'ended'; round++) {
      const input = stage.client.workflow
        .getHandle(run.id)
        .signal(inputSignal, { id: `input-${round}`, kind: 'queue', text: `round ${round}` })
        // The run may end between the question and this input.
        .catch(() => undefined);
      const answers = await Promise.all(Array.from({ length: 20 }, () => run.status()));
      await input;
      state = answers.at(-1)?.state ?? '';
    }

    expect(await run.result()).toMatchObject({ status: 'success' });
    const calls = bodiesOf(await run.events(), 'agent:model_call:after');
    expect(calls.map(({ attempts }) => attempts)).toEqual(calls.map(() => 1));
    await stage.replay(run);
  },
);
