/**
 * Runs that are read while they end. The SDK drops queries that wait in a worker as their run ends,
 * and the service waits for them: neither the reader nor another run may wait with it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Everloop } from '../../src/client/everloop-client.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { consoleAgents } from '../support/console-agents.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { startTestServer, type TestServer } from '../support/test-server.ts';

/** Runs at the same time, and how many times. */
const BESIDE = 2;
const TIMES = 15;

/** A read that is lost is made again after one second, and once more after three. */
const LONGEST_MS = 8_000;

let server: TestServer;
let stage: Stage;
beforeAll(async () => {
  // With as many, a read is lost in about one run of ten.
  server = await startTestServer({ dynamicConfig: { 'history.MaxBufferedQueryCount': 1_000 } });
  stage = await openStage(server);
});
afterAll(async () => {
  await stage?.close();
  await server?.stop();
});

/** Reads a run again and again until it is told to stop; gives how long each read took, in ms. */
async function readAll(run: RunHandle, signal: AbortSignal): Promise<readonly number[]> {
  const reads = [
    () => run.program(),
    () => run.events({ limit: 50 }),
    () => run.pending(),
    () => run.view(),
  ];
  const took: number[] = [];
  const readers = reads.map(async (read) => {
    while (!signal.aborted) {
      const start = performance.now();
      await read();
      took.push(performance.now() - start);
      await sleep(5);
    }
  });
  await Promise.all(readers);
  return took;
}

/** How long things took, in ms. */
interface Times {
  readonly reads: readonly number[];
  /** From its start to its wait for a person, and from the answer to its end. */
  readonly run: number;
}

/** A run of four calls that is read until after its end. */
async function readToTheEnd(everloop: Everloop): Promise<Times> {
  const start = performance.now();
  const run = await everloop.start('refunder', { task: 'Refund the late orders.' });
  await run.resultOrPending();
  const over = new AbortController();
  const reading = readAll(run, over.signal);
  const [item] = await run.pending();
  await run.decide(item?.id ?? '', { approve: true });
  const { status } = await run.result();
  const end = performance.now();
  expect(status).toBe('success');
  await sleep(300);
  over.abort();
  return { reads: await reading, run: end - start };
}

it('are read on, and hold up neither their readers nor other runs', async () => {
  const { everloop } = await stage.serve(consoleAgents(stage.folder));
  const times: Times[] = [];
  for (let time = 0; time < TIMES; time++) {
    const runs = Array.from({ length: BESIDE }, () => readToTheEnd(everloop));
    times.push(...(await Promise.all(runs)));
  }

  const reads = times.flatMap((each) => each.reads);
  expect(reads.length).toBeGreaterThan(TIMES * BESIDE * 10);
  expect(Math.max(...reads)).toBeLessThan(LONGEST_MS);
  expect(Math.max(...times.map(({ run }) => run))).toBeLessThan(LONGEST_MS);
});
