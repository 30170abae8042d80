/**
 * The server is killed with SIGKILL in mid-work and restarted on its file: every run goes on. The
 * worker lives on and finds the server again by itself.
 */
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { LLMock } from '@copilotkit/aimock';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { isRunning } from '../../src/worker/server/server-lock.ts';
import { startOrFindServer, type EmbeddedServer } from '../../src/worker/server/embedded-server.ts';
import type { ScriptVariant } from '../../examples/script.ts';
import {
  airlineAgents,
  effectsIn,
  outcomeOf,
  startAirlineModel,
  startAirlineRuns,
  unknownTools,
  withUnknown,
  type Outcome,
} from '../support/airline.ts';
import { eventually } from '../support/eventually.ts';
import { killMoments, killWatch, type KillMoment } from '../support/kill-moments.ts';
import { KILL_SEED, killsOf } from '../support/extent.ts';
import { hasNoGap } from '../support/runs.ts';
import { openStage, type Stage } from '../support/stage.ts';
import {
  CLI_FOLDER,
  handoverAfter,
  startTestServer,
  type TestServer,
} from '../support/test-server.ts';

const SETTINGS = handoverAfter(30);
const TOOL_MS = 120;

let model: LLMock;
const undisturbed = new Map<ScriptVariant, Outcome>();
let stage: Stage | undefined;
const servers: EmbeddedServer[] = [];

beforeAll(async () => {
  model = await startAirlineModel();
});
afterEach(async () => {
  await stage?.close();
  for (const server of servers.splice(0).toReversed()) await server.stop();
});
afterAll(() => model.stop());

async function startServer(): Promise<TestServer> {
  const server = await startTestServer({ dynamicConfig: SETTINGS });
  servers.push(server);
  return server;
}

/** A server on the file and the port of one that was killed. */
async function restart({ dataDir, address }: TestServer): Promise<void> {
  const server = await startOrFindServer({
    dataDir,
    cliDir: CLI_FOLDER,
    port: Number(address.split(':')[1]),
    dynamicConfig: SETTINGS,
  });
  servers.push(server);
}

describe('a server that is killed and restarted', () => {
  const count = killsOf({ sample: 1, all: 1, every: 5 });
  for (const { name, ...moment } of killMoments(KILL_SEED + 1, count)) {
    it(`loses no run: ${name}`, { timeout: 300_000 }, async () => {
      const server = await startServer();
      stage = await openStage(server);
      const { pid = 0 } = server;
      await playUndisturbed(stage);
      const notice = killWatch(moment, () => process.kill(pid, 'SIGKILL'));
      const storeDir = await mkdtemp(join(stage.folder, 'store-'));
      const { everloop } = await stage.serve(
        airlineAgents({ modelUrl: model.url, storeDir, latencyMs: TOOL_MS }, ({ step }) =>
          notice(`effect ${step}`),
        ),
        {
          listeners: [(event) => notice(`event ${event.type}` as KillMoment['on'])],
          chunks: {
            publish: ({ kind }) => {
              if (kind === 'text' || kind === 'end') notice(`chunk ${kind}`);
            },
          },
        },
      );

      const runs = await startAirlineRuns(everloop);
      await eventually('the server to be killed', () => !isRunning(pid), 60_000);
      await restart(server);

      for (const { variant, run } of runs) {
        const outcome = await outcomeOf(run);
        const events = await run.events();
        const begun = effectsIn(storeDir, variant)
          .filter(({ step }) => step === 'begun')
          .map(({ tool }) => tool);
        const unknown = unknownTools(events);
        expect(outcome).toEqual(unknown.reduce(withUnknown, undisturbed.get(variant) as Outcome));
        expect(begun).toEqual(['reschedule_booking', 'send_notification']);
        expect(hasNoGap(events)).toBe(true);
        await stage.replay(run);
      }
    });
  }
});

/** What the runs come to when nothing happens; played once. */
async function playUndisturbed({ folder, serve }: Stage): Promise<void> {
  if (undisturbed.size > 0) return;
  const storeDir = await mkdtemp(join(folder, 'store-'));
  const { everloop, stop } = await serve(
    airlineAgents({ modelUrl: model.url, storeDir, latencyMs: TOOL_MS }),
  );
  for (const { variant, run } of await startAirlineRuns(everloop)) {
    undisturbed.set(variant, await outcomeOf(run));
  }
  await stop();
}
