/**
 * Kill tests: a worker of three runs is killed with SIGKILL at a moment that follows from a seed, and
 * replaced at once. `npm run test:kills` takes all moments, `npm test` some of them.
 */
import { mkdir, mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import type { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, describe, it, type ExpectStatic } from 'vitest';
import type { ScriptVariant } from '../../examples/script.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import type { AgentEvent } from '../../src/core/contract/events.ts';
import {
  agentName,
  airlineAgents,
  effectsIn,
  enteredIn,
  outcomeOf,
  startAirlineModel,
  startAirlineRuns,
  unknownCalls,
  withUnknown,
  type Outcome,
} from '../support/airline.ts';
import { fixtureProcesses } from '../support/child-process.ts';
import type { AirlineWorker } from '../support/fixtures/serve-airline.ts';
import { killMoments } from '../support/kill-moments.ts';
import { openHandoverStage, type Stage } from '../support/stage.ts';
import { extent, KILL_SEED } from '../support/extent.ts';

/** A hand-over every two or three iterations of the airline. */
const HANDOVER_EVENTS = 30;
const TOOL_MS = 120;

let stage: Stage;
let model: LLMock;
const undisturbed = new Map<ScriptVariant, Outcome>();
const workers = fixtureProcesses<AirlineWorker>('serve-airline');

beforeAll(async () => {
  stage = await openHandoverStage(HANDOVER_EVENTS);
  model = await startAirlineModel();
  const storeDir = await mkdtemp(join(stage.folder, 'store-'));
  const place = { modelUrl: model.url, storeDir, latencyMs: TOOL_MS };
  const { everloop, stop } = await stage.serve(airlineAgents(place));
  for (const { variant, run } of await startAirlineRuns(everloop)) {
    undisturbed.set(variant, await outcomeOf(run));
  }
  await stop();
});
afterAll(async () => {
  await workers.stop();
  await model?.stop();
  await stage?.close();
});

/** A place of a test's own: a task queue, a store, an archive. */
async function placeOf(): Promise<AirlineWorker> {
  const folder = await mkdtemp(join(stage.folder, 'kill-'));
  const archiveDir = join(folder, 'archive');
  await mkdir(archiveDir);
  return {
    address: stage.address,
    namespace: stage.namespace,
    modelUrl: model.url,
    storeDir: folder,
    archiveDir,
    latencyMs: TOOL_MS,
    parts: { taskQueue: `kill-${randomUUID()}` },
  };
}

async function heardBy(storeDir: string, variant: ScriptVariant): Promise<readonly AgentEvent[]> {
  const text = await readFile(join(storeDir, `${agentName(variant)}.heard.jsonl`), 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as AgentEvent);
}

describe('a worker that is killed and replaced', () => {
  const count = extent(25, 1);
  for (const { name, ...killAt } of killMoments(KILL_SEED, count)) {
    it.concurrent(
      `loses nothing and does nothing twice: ${name} [row 23] [row 48]`,
      { timeout: 300_000 },
      async ({ expect }) => {
        const place = await placeOf();
        const victim = await workers.start({ ...place, killAt });
        const everloop = stage.everloopOf(place.parts.taskQueue ?? '', place.archiveDir);

        const runs = await startAirlineRuns(everloop);
        const signal = await victim.ended;
        await workers.start(place);

        expect(signal).toBe('SIGKILL');
        for (const { variant, run } of runs) await check(run, variant, place.storeDir, expect);
      },
    );
  }
});

async function check(
  run: RunHandle,
  variant: ScriptVariant,
  storeDir: string,
  expect: ExpectStatic,
): Promise<void> {
  const outcome = await outcomeOf(run);
  const events = await run.events();
  const effects = effectsIn(storeDir, variant);
  const unknown = unknownCalls(events);
  const plain = undisturbed.get(variant);
  if (plain === undefined) throw new Error(`Expected an undisturbed run of ${variant}.`);

  expect(unknown.length).toBeLessThanOrEqual(1);
  expect(outcome).toEqual(unknown.reduce(withUnknown, plain));
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));

  // Each `once` tool was entered once, and acted unless its call is unknown.
  const begun = effects.filter(({ step }) => step === 'begun').map(({ tool }) => tool);
  const acted = effects.filter(({ step }) => step === 'done').map(({ tool }) => tool);
  const missing = ['reschedule_booking', 'send_notification'].filter(
    (tool) => !acted.includes(tool),
  );
  expect([...new Set(begun)]).toEqual(begun);
  expect([...new Set(acted)]).toEqual(acted);
  expect(unknown.map(({ tool }) => tool)).toEqual(expect.arrayContaining(missing));

  // A call has one key, however often it is tried, and no other call has it.
  const keys = new Map(
    enteredIn(storeDir, variant).map(({ idempotencyKey, callId }) => [idempotencyKey, callId]),
  );
  expect(new Set(keys.values()).size).toBe(keys.size);

  // Listeners heard each event at least once, last as it is recorded.
  const heard = new Map((await heardBy(storeDir, variant)).map((event) => [event.seq, event]));
  expect([...heard.values()].toSorted((a, b) => a.seq - b.seq)).toEqual(events);
  await stage.replay(run);
}
