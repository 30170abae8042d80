/**
 * Runs that are read while they end. The SDK drops queries that wait in a worker as their run ends,
 * and the service waits for them: neither the reader nor another run may wait with it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import type { Everloop } from '../../src/client/everloop-client.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { consoleAgents } from '../support/console-agents.ts';
import { openStage, type Stage } from '../support/stage.ts';

/** Runs at the same time, and how many times. */
const BESIDE = 2;
const TIMES = 15;

/** A read that is lost is made again after one second, and once more after three. */
const LONGEST_MS = 8_000;

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(() => stage?.close());

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

/** A run of four calls that is read until after its end; gives the times of its reads. */
async function readToTheEnd(everloop: Everloop): Promise<readonly number[]> {
  const run = await everloop.start('refunder', { task: 'Refund the late orders.' });
  await run.resultOrPending();
  const over = new AbortController();
  const reading = readAll(run, over.signal);
  const [item] = await run.pending();
  await run.decide(item?.id ?? '', { approve: true });
  const { status } = await run.result();
  expect(status).toBe('success');
  await sleep(300);
  over.abort();
  return reading;
}

it('are read on, and hold up neither their readers nor other runs', async () => {
  const { everloop } = await stage.serve(consoleAgents(stage.folder));
  const took: number[] = [];
  for (let time = 0; time < TIMES; time++) {
    const runs = Array.from({ length: BESIDE }, () => readToTheEnd(everloop));
    took.push(...(await Promise.all(runs)).flat());
  }

  expect(took.length).toBeGreaterThan(TIMES * BESIDE * 10);
  expect(Math.max(...took)).toBeLessThan(LONGEST_MS);
});
