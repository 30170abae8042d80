/**
 * Both scenarios, in every variant, as workflows: undisturbed, as they stream, and with the worker
 * killed after one iteration after the other. `npm run test:kills` kills after each of them. A sample
 * has every third case: each variant in one scenario or the other, and two that ask.
 */
import type { LLMock } from '@copilotkit/aimock';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { repeatedKeys } from '../../examples/effect-log.ts';
import { scriptFixtures } from '../../examples/script.ts';
import type { Everloop } from '../../src/client/everloop-client.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import type { Step } from '../../src/core/contract/step.ts';
import { collect, type Chunk, type ChunkMarker } from '../../src/core/streaming/chunk.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';
import { comparableStep, outcomeOf, type Outcome } from '../support/airline.ts';
import { modelAt, startAimock } from '../support/aimock.ts';
import { startFixture, type FixtureProcess } from '../support/child-process.ts';
import type { ScenarioWorker } from '../support/fixtures/serve-scenarios.ts';
import { extent, extentOf } from '../support/extent.ts';
import {
  compactionsIn,
  playCustomer,
  playedInMemory,
  saidBy,
  SCENARIOS as ALL_SCENARIOS,
  usageOf,
  type ScenarioCase,
} from '../support/scenarios.ts';
import { openStage, type Stage } from '../support/stage.ts';

const SCENARIOS = extentOf(ALL_SCENARIOS, 3);

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(() => stage.close());

interface ScenarioRun {
  readonly scenario: ScenarioCase;
  readonly run: RunHandle;
  /** Answers what the agent asks. */
  readonly customer: Promise<void>;
}

function startAll(everloop: Everloop): Promise<readonly ScenarioRun[]> {
  return Promise.all(
    SCENARIOS.map(async (scenario) => {
      const run = await everloop.start(scenario.name, { task: scenario.task });
      const customer = playCustomer(run, scenario);
      // Looked at with the outcome; until then a failure must not end the process.
      customer.catch(() => undefined);
      return { scenario, run, customer };
    }),
  );
}

function checkWorld(scenario: ScenarioCase, folder: string): void {
  const world = scenario.world(folder);
  expect(world.state(), scenario.name).toEqual(scenario.end);
  expect(repeatedKeys(world.log), scenario.name).toEqual([]);
}

describe('the scenarios as workflows [row 58]', () => {
  const undisturbed = new Map<string, Outcome>();

  it('end as in memory, in every variant', { timeout: 240_000 }, async () => {
    const folder = await mkdtemp(join(stage.folder, 'plain-'));
    const { everloop, stop } = await stage.serve(SCENARIOS.map(({ agent }) => agent({ folder })));

    const runs = await startAll(everloop);
    for (const { scenario, run, customer } of runs) {
      await customer;
      undisturbed.set(scenario.name, await outcomeOf(run));
    }

    for (const { scenario, run } of runs) {
      const step = await run.result();
      const { durationMs, ...usage } = step.usage;
      expect(durationMs, scenario.name).toBeGreaterThan(0);
      expect(usage, scenario.name).toEqual(usageOf(scenario));
      expect(undisturbed.get(scenario.name)?.step, scenario.name).toEqual(
        comparableStep(await inMemory(scenario)),
      );
      expect(compactionsIn(await run.events()), scenario.name).toEqual(scenario.compactedAfter);
      checkWorld(scenario, folder);
      await stage.replay(run);
    }
    await stop();
  });

  it(
    'lose nothing when the worker is killed after each iteration [row 23]',
    { timeout: 400_000 },
    async () => {
      const folder = await mkdtemp(join(stage.folder, 'killed-'));
      const archiveDir = join(folder, 'archive');
      await mkdir(archiveDir);
      const taskQueue = `scenarios-${randomUUID()}`;
      const { address, namespace } = stage;
      const spawn = (after: number | null, before = 0): Promise<FixtureProcess> => {
        const waiting = SCENARIOS.filter(({ script }) => script.length > before);
        const work: ScenarioWorker = {
          address,
          namespace,
          taskQueue,
          folder,
          archiveDir,
          after,
          waiting: waiting.map(({ name }) => name),
        };
        return startFixture('serve-scenarios', [JSON.stringify(work)]);
      };
      const longest = Math.max(...SCENARIOS.map(({ script }) => script.length));
      const each = Array.from({ length: longest - 1 }, (_, index) => index + 1);
      const moments = [5, 1, 10, ...each.filter((after) => ![1, 5, 10].includes(after))]
        .slice(0, extent(each.length, 1))
        .toSorted((a, b) => a - b);

      const runs = await startAll(stage.everloopOf(taskQueue, archiveDir));
      let next = spawn(moments[0] ?? null);
      for (const [place] of moments.entries()) {
        const serving = await next;
        serving.child.stdin?.write('go\n');
        // Started while this one works: it takes seconds to load.
        next = spawn(moments[place + 1] ?? null, moments[place]);
        // Anything else than the kill is a mistake, and nobody would end the runs.
        const signal = await serving.ended;
        if (signal !== 'SIGKILL') throw new Error(`Expected SIGKILL, got ${signal}.`);
      }
      const last = await next;
      last.child.stdin?.write('go\n');
      // One after another: a worker that has just begun reads each of them from its history.
      const outcomes: Outcome[] = [];
      await Promise.all(runs.map(({ customer }) => customer));
      for (const { run } of runs) outcomes.push(await outcomeOf(run));

      for (const [place, { scenario, run }] of runs.entries()) {
        expect(outcomes[place], scenario.name).toEqual(undisturbed.get(scenario.name));
        checkWorld(scenario, folder);
        await stage.replay(run);
      }
      await last.kill('SIGKILL');
    },
  );
});

async function inMemory(scenario: ScenarioCase): Promise<Step> {
  return playedInMemory(startInMemory({ agent: scenario.agent(), task: scenario.task }), scenario);
}

describe('the scenarios as they stream [row 54] [row 58]', () => {
  let mock: LLMock;
  beforeAll(async () => {
    mock = await startAimock();
  });
  afterAll(() => mock.stop());

  it('give their replies over HTTP, and nothing else', async () => {
    // One script for each conversation: the server tells them apart by agent and number of replies.
    const streamed = SCENARIOS.filter(({ variant }) =>
      ['yaml', 'json', 'chat', 'lisp'].includes(variant),
    );
    mock.addFixtures(streamed.flatMap(fixturesOf));
    const folder = await mkdtemp(join(stage.folder, 'streamed-'));
    const { everloop, chunks, stop } = await stage.serve(
      streamed.map(({ name, agent }) =>
        agent({
          folder,
          model: { id: name, model: modelAt(mock.url, 'openai-compatible', name) },
        }),
      ),
    );

    // There is no replay: somebody has to listen before the first model call.
    const all: (Chunk | ChunkMarker)[] = [];
    const listening = chunks.subscribe({});
    const reading = (async () => {
      for await (const item of listening) all.push(item);
    })();
    const heard = await Promise.all(
      streamed.map(async (scenario) => {
        const run = await everloop.start(scenario.name, { task: scenario.task });
        await playCustomer(run, scenario);
        return run.result();
      }),
    );
    chunks.close();
    await reading;

    for (const [place, { runId, status }] of heard.entries()) {
      const items = all.filter((item) => item.runId === runId);
      const scenario = streamed[place] as ScenarioCase;
      const { text, complete } = collect(items);
      const args = items.map((item) => (item.kind === 'tool_args' ? item.delta : '')).join('');
      expect({ text, args, complete, status }, scenario.name).toEqual({
        ...saidBy(scenario),
        complete: true,
        status: 'success',
      });
      checkWorld(scenario, folder);
    }
    await stop();
  });
});

function fixturesOf({
  name,
  variant,
  script,
  task,
}: ScenarioCase): Parameters<LLMock['addFixtures']>[0] {
  return scriptFixtures(script, variant, task).map(({ match, response }) => ({
    match: { ...match, model: name },
    response,
    chunkSize: 24,
    latency: 5,
  }));
}
