/** Providers that send without end: they fill no worker, and runs beside them lose no call. */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { sse } from '../support/aimock.ts';
import { startFixture } from '../support/child-process.ts';
import { startEndless } from '../support/endless-provider.ts';
import type { BesideWorker } from '../support/fixtures/serve-beside.ts';
import { bodiesOf } from '../support/runs.ts';
import { piece, startSlowProvider } from '../support/slow-provider.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(() => stage.close());

/** What the worker may take at its highest. */
const MAX_MEGABYTES = 600;

/** The highest memory that a process had, in megabytes; Linux alone tells it. */
async function highestOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}

const HOSTILE = [
  ['openai-compatible', 'text', false],
  ['anthropic', 'arguments', false],
  ['google', 'a line', false],
  ['openai-responses', 'reasoning', false],
  ['openai-chat', 'a piece', false],
  ['anthropic', 'an error', false],
  ['openai-compatible', 'a bomb', false],
  ['google', 'a line', true],
] as const;

it.runIf(process.platform === 'linux')(
  '[R12] eight of them cost ten honest runs no call, and their worker little memory',
  { timeout: 300_000 },
  async () => {
    const endless = await Promise.all(
      HOSTILE.map(async ([protocol, what, isWhole], index) => {
        const provider = await startEndless(protocol, what);
        return { ...provider, provider, protocol, isWhole, name: `hostile${index}` };
      }),
    );
    // A word now and then, for as long as the others send all they can.
    const honest = await startSlowProvider([
      async (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        for (let word = 0; word < 20; word++) {
          response.write(sse([piece('word ')]));
          await sleep(200);
        }
        response.end(`${sse([piece('done', 'stop')])}data: [DONE]\n\n`);
      },
    ]);
    const taskQueue = `beside-${randomUUID()}`;
    const archiveDir = join(stage.folder, 'beside');
    const work: BesideWorker = {
      address: stage.address,
      namespace: stage.namespace,
      archiveDir,
      taskQueue,
      providers: [
        ...endless.map(({ name, url, protocol, isWhole }) => ({ name, url, protocol, isWhole })),
        { name: 'honest', url: honest.url, protocol: 'openai-compatible', isWhole: false },
      ],
    };
    const worker = await startFixture('serve-beside', [JSON.stringify(work)]);
    const everloop = stage.everloopOf(taskQueue, archiveDir);

    const hostileRuns = await Promise.all(
      endless.map(({ name }) => everloop.start(name, { task: 'Go' })),
    );
    const honestRuns = await Promise.all(
      Array.from({ length: 10 }, () => everloop.start('honest', { task: 'Go' })),
    );
    const steps = await Promise.all(honestRuns.map((run) => run.result()));

    expect(steps.map(({ status }) => status)).toEqual(honestRuns.map(() => 'success'));
    for (const step of steps) expect(step.value).toBe(`${'word '.repeat(20)}done`);
    // No call was lost: each was asked once, and no attempt of it began anew.
    expect(honest.requests).toHaveLength(10);
    expect(honest.abortedAt).toHaveLength(0);
    expect(endless.every(({ provider }) => provider.requests() > 0)).toBe(true);
    const memory = await highestOf((worker.firstLine as { readonly pid: number }).pid);
    expect(memory).toBeLessThan(MAX_MEGABYTES);
    // The worker never ended, so it is still the one that serves.
    expect(worker.child.exitCode).toBeNull();

    const text = await hostileRuns[0]?.result();
    expect(text).toMatchObject({
      status: 'error',
      message: expect.stringContaining('Expected a reply of at most 1048576 bytes'),
    });
    const [after] = bodiesOf((await hostileRuns[0]?.events()) ?? [], 'agent:model_call:after');
    expect(after).toMatchObject({ attempts: 1, estimated: { outputTokens: expect.any(Number) } });
    // Some have ended by now.
    await Promise.allSettled(hostileRuns.map((run) => run.cancel()));
    await worker.kill('SIGKILL');
    await Promise.all([honest.stop(), ...endless.map(({ provider }) => provider.stop())]);
  },
);
