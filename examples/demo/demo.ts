/**
 * `npm run demo`: an agent on a real Temporal server that talks to a model over HTTP, uses tools,
 * loses its worker to `kill -9` in mid-work, goes on where it was, is asked how it stands, is given
 * more input, and a second one that is cancelled. Prints the page of the first run in the console.
 * Exits with 0 when every fact of facts.ts holds; with `--stay` it waits for Ctrl-C before, so that
 * you can look at the page.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from '@temporalio/client';
import { openConnection } from '../../src/client/connection/open-connection.ts';
import { createEverloop, type AgentEvent, type Everloop, type RunHandle } from '../../src/index.ts';
import { startOrFindServer } from '../../src/worker.ts';
import { createCleanup, type Cleanup } from '../../src/worker/config/cleanup.ts';
import { cliFolder } from '../../src/worker/server/cli-folder.ts';
import { stopOnSignal } from '../../src/worker/serve/shutdown.ts';
import { createEventWatch, type EventWatch } from './event-watch.ts';
import { factsOf, factTable } from './facts.ts';
import {
  FURTHER_INPUT,
  REQUEST,
  SECOND_REQUEST,
  startProvider,
  type Provider,
} from './provider.ts';
import { openRunPages } from './run-page.ts';
import { createScreen, type Screen } from './screen.ts';
import { startWorkerProcess, type WorkerProcess } from './worker-process.ts';

/** The whole demo takes 20 to 30 s; if it takes this long, something is wrong. */
const DEADLINE_MS = 180_000;

/** Keeps the workflow bundle, so that the second demo starts at once. */
const CACHE_FOLDER = fileURLToPath(new URL('../../.everloop', import.meta.url));

interface Stage {
  readonly screen: Screen;
  readonly watch: EventWatch;
  readonly provider: Provider;
  readonly storeFile: string;
  readonly client: Client;
  readonly everloop: Everloop;
  /** Starts a worker process that is ended with the demo. */
  readonly startWorker: () => Promise<WorkerProcess>;
  /** The address of the page of a run. */
  readonly pageOf: (runId: string) => string;
}

async function setTheStage(screen: Screen, cleanup: Cleanup): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'everloop-demo-'));
  cleanup.add(() => rm(folder, { recursive: true, force: true }));
  screen.say('server', 'starting a Temporal server (fetched once, 45 MB) …');
  const address = process.env['TEMPORAL_ADDRESS'];
  const server = await startOrFindServer({
    dataDir: folder,
    cliDir: await cliFolder(CACHE_FOLDER),
    port: 'free',
    ...(address ? { address } : {}),
  });
  cleanup.add(server.stop);
  screen.say('server', `${server.address} (${server.startedHere ? 'started' : 'found'})`);

  const { provider, stop } = await startProvider();
  cleanup.add(stop);
  const about = provider.kind === 'mock' ? 'a mock; set OPENAI_API_KEY for a real model' : 'OpenAI';
  screen.say('model', `${provider.modelId} at ${provider.baseUrl} (${about})`);

  const { connection, close } = await openConnection({ address: server.address });
  cleanup.add(close);
  const client = new Client({ connection, namespace: server.namespace });
  const watch = createEventWatch(screen.event);
  const storeFile = join(folder, 'airline.jsonl');
  // A queue of its own, because other workers on a shared server do not know this airline.
  const taskQueue = `demo-${process.pid}`;
  const setup = { address: server.address, dataDir: CACHE_FOLDER, taskQueue, storeFile, provider };
  const startWorker = async (): Promise<WorkerProcess> => {
    const worker = await startWorkerProcess(setup, watch.push);
    cleanup.add(() => worker.end('SIGKILL'));
    return worker;
  };
  const everloop = createEverloop({ client, taskQueue });
  const { address: serverAddress, namespace } = server;
  const place = { address: serverAddress, namespace, taskQueue, dataDir: CACHE_FOLDER };
  const pageOf = await openRunPages(place, cleanup);
  return { screen, watch, provider, storeFile, client, everloop, startWorker, pageOf };
}

/** The first run: killed, recovered, asked, given more input. */
async function firstRun(stage: Stage) {
  const { screen, watch, client, everloop, provider } = stage;
  const worker = await stage.startWorker();
  screen.say('worker', `process ${worker.pid} serves the agent`);
  const run = await everloop.start('airline', { task: REQUEST });
  screen.say('run', `${run.id}: "${REQUEST.slice(0, 60)}…"`, 'bold');
  screen.say('page', stage.pageOf(run.id), 'cyan');
  const { runId } = await run.status();

  // The scripted model takes four turns until it proposes; a real one may need fewer.
  const hitIteration = provider.kind === 'mock' ? 3 : 2;
  await watch.until(isModelCall(runId, hitIteration));
  await sayStats(screen, run);
  await sleep(400);
  await worker.end('SIGKILL');
  const killedAtMs = Date.now();
  screen.say(
    'kill -9',
    `process ${worker.pid} is dead, in the middle of model call ${hitIteration}`,
    'red',
  );
  const progress = watch.next();
  const replacement = await stage.startWorker();
  screen.say('worker', `process ${replacement.pid} takes its place`);
  await progress;
  const killToProgressMs = Date.now() - killedAtMs;
  screen.say(
    'run',
    `goes on where it was, ${(killToProgressMs / 1_000).toFixed(1)} s after the kill`,
    'green',
  );

  if (provider.kind === 'mock') await watch.until(isModelCall(runId, hitIteration + 1));
  const position = await run.send(FURTHER_INPUT);
  screen.say('input', `"${FURTHER_INPUT}" accepted as input ${position}`, 'cyan');
  await sayStats(screen, run);

  const step = await run.result();
  screen.say('answer', typeof step.value === 'string' ? step.value : (step.message ?? ''), 'bold');
  const events = await run.events();
  const { historyLength, historySize } = await client.workflow.getHandle(run.id).describe();
  return {
    step,
    events,
    hitIteration,
    killToProgressMs,
    historyEvents: historyLength,
    historyBytes: historySize ?? 0,
  };
}

/** The second run: cancelled while the model writes. */
async function secondRun({ screen, watch, everloop }: Stage) {
  const run = await everloop.start('airline', { task: SECOND_REQUEST });
  screen.say('run', `${run.id}: "${SECOND_REQUEST}"`, 'bold');
  const { runId } = await run.status();
  await watch.until(isModelCall(runId, 1));
  await sleep(800);
  const canceledAtMs = Date.now();
  await run.cancel('The demo is over.');
  screen.say('cancel', 'asked it to end while the model writes', 'yellow');
  const canceledStep = await run.result();
  const cancelToEndMs = Date.now() - canceledAtMs;
  screen.say('run', `${canceledStep.status}: ${canceledStep.message ?? ''}`);
  return { canceledStep, cancelToEndMs };
}

async function sayStats(screen: Screen, run: RunHandle): Promise<void> {
  const { counters } = await run.stats();
  const status = await run.status();
  const of = (key: string): number => counters[`agent:${key}`] ?? 0;
  screen.say(
    'stats',
    `${of('iterations')} iterations, ${of('tool_calls')} tool calls, ${of('total_tokens')} tokens; ` +
      `${status.state}, waits for ${status.waitsFor.join(', ') || 'nothing'}`,
    'yellow',
  );
}

function isModelCall(runId: string, iteration: number): (event: AgentEvent) => boolean {
  return (event) =>
    event.type === 'agent:model_call:before' &&
    event.runId === runId &&
    event.iteration >= iteration;
}

async function play(screen: Screen, cleanup: Cleanup, isJson: boolean): Promise<number> {
  screen.plain('Everloop: an agent that survives. Ctrl-C stops everything.\n', 'bold');
  const stage = await setTheStage(screen, cleanup);
  const { provider, storeFile } = stage;
  const first = await firstRun(stage);
  const second = await secondRun(stage);
  const facts = factsOf({ provider, storeFile, ...first, ...second });
  screen.plain(`\n${factTable(facts)}\n`);
  if (isJson) process.stdout.write(`${JSON.stringify(facts, null, 2)}\n`);
  const failed = facts.filter(({ holds }) => !holds);
  if (failed.length === 0) screen.plain('Everything held.', 'green');
  else screen.plain(`${failed.length} did not hold.`, 'red');
  return failed.length === 0 ? 0 : 1;
}

const screen = createScreen();
const cleanup = createCleanup();
const stopped = new Promise<number>((resolve) => {
  stopOnSignal({
    stop: () => {
      screen.plain('\nStopping …');
      resolve(130);
    },
  });
});
const late = sleep(DEADLINE_MS, undefined, { ref: false }).then(() => {
  throw new Error(`Expected the demo to end within ${DEADLINE_MS / 1_000} s.`);
});
let exitCode = 1;
try {
  const playing = play(screen, cleanup, process.argv.includes('--json'));
  playing.catch(() => undefined);
  exitCode = await Promise.race([playing, stopped, late]);
  if (exitCode === 0 && process.argv.includes('--stay')) {
    screen.plain('The page stays until Ctrl-C.');
    await stopped;
  } else if (exitCode === 0) {
    screen.plain('Its page has closed. It stays open with: npm run demo -- --stay');
  }
} catch (error) {
  screen.plain(error instanceof Error ? error.message : String(error), 'red');
} finally {
  await cleanup.run();
}
process.exit(exitCode);
