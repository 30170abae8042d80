/** A run whose worker is gone is read, told and answered; one service that goes away is waited for. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createEverloop, type Everloop } from '../../src/client/everloop-client.ts';
import { clientOf, openConnection } from '../../src/client/connection/open-connection.ts';
import { startOrFindServer } from '../../src/worker/server/embedded-server.ts';
import { openReader } from '../../src/worker/reading/open-reader.ts';
import { NO_PROTECTION } from '../../src/protection/protection.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { eventually } from '../support/eventually.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { CLI_FOLDER, startTestServer } from '../support/test-server.ts';

const MINUTES = { timeout: 400_000 };

let asked = 0;
const asker = defineAgent({
  name: 'asker',
  mode: 'chat',
  askUser: true,
  model: {
    id: 'script/asker',
    model: async ({ iteration }) => {
      asked += 1;
      if (iteration > 1) return 'thanks';
      return { toolCalls: [{ name: 'ask_user', args: { question: 'Which?' } }] };
    },
  },
});

let stage: Stage;
let apart: Everloop;
let close: () => Promise<void>;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
  const opened = await openConnection({ address: stage.address });
  const reader = openReader({ protection: NO_PROTECTION, dataDir: stage.folder });
  const client = clientOf(opened.connection, stage.namespace);
  apart = createEverloop({ client, reader });
  close = async () => {
    await opened.close();
    await reader.close();
  };
}, 120_000);
afterAll(async () => {
  await close();
  await stage.close();
});

describe('a run without a worker', () => {
  it('is read as its worker would, and takes messages that count once', MINUTES, async () => {
    const served = await stage.serve([asker], { readArchive: false });
    const { id } = await served.everloop.start('asker', { task: 't' });
    const live = served.everloop.attach(id);
    await eventually('the question', async () => (await live.pending())[0]);
    const before = { events: await live.events(), pending: await live.pending() };
    await served.stop();
    const run = apart.attach(id);

    const status = await run.status();
    expect(status).toMatchObject({ state: 'waiting', waitsFor: ['question q1'] });
    expect(status.asOf).toBeGreaterThan(0);
    expect(await run.events()).toEqual(before.events);
    expect(await run.pending()).toEqual(before.pending);

    const updateId = 'the-answer';
    expect(await run.answer('q1', 'north', { updateId })).toEqual({ id: 'q1', unapplied: true });
    expect(await run.answer('q1', 'north', { updateId })).toEqual({ id: 'q1', unapplied: true });
    expect(await run.answer('q7', 'x')).toEqual({ id: 'q7', unapplied: true });
    expect(await run.send('More.', { id: 'more' })).toBeNull();

    const { taskQueue } = served;
    const again = await stage.serve([asker], { taskQueue, readArchive: false });
    const step = await again.everloop.attach(id).result();
    expect(step).toMatchObject({ status: 'success', value: 'thanks' });
    const events = await again.everloop.attach(id).events();
    const of = (type: string) => events.filter((event) => event.type === type);
    expect(of('agent:question:answered')).toHaveLength(1);
    expect(of('agent:warning')).toMatchObject([
      { code: 'item_unknown', message: expect.stringContaining('q7') as string },
    ]);
    // The update may come after the signal with the same id.
    expect(await again.everloop.attach(id).step()).toEqual(step);
    await again.stop();
  });
});

describe('a service that is away', () => {
  it('is waited for by who waits, and told to who acts', MINUTES, async () => {
    const server = await startTestServer({ port: 'free' });
    const place = { address: server.address, namespace: server.namespace };
    const own = await openStage(place);
    const { everloop, stop } = await own.serve([asker]);
    const run = await everloop.start('asker', { task: 't' });
    await eventually('the question', async () => (await run.pending())[0]);
    const result = run.result();
    const followed: number[] = [];
    const following = (async () => {
      for await (const { seq } of run.followEvents()) followed.push(seq);
    })();
    const short = run.result({ deadlineMs: 3_000 });
    const { dataDir } = server;
    process.kill(server.pid ?? 0, 'SIGKILL');

    await expect(run.answer('q1', 'x')).rejects.toMatchObject({ code: 'service_unavailable' });
    await expect(short).rejects.toMatchObject({ code: 'wait_over' });
    const port = Number(server.address.split(':').at(-1));
    const back = await startOrFindServer({ port, dataDir, cliDir: CLI_FOLDER });
    await eventually(
      'the answer',
      () => run.answer('q1', 'x', { updateId: 'u' }).catch(() => null),
      60_000,
    );
    expect(await result).toMatchObject({ status: 'success' });
    await following;
    expect(followed).toEqual(followed.map((_, index) => index + 1));
    await stop();
    await own.close();
    await back.stop();
    await server.stop();
  });
});
