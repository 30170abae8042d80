/** What pages of schedules, tenants and forks ask of a console, on a real server with a worker. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { connect, type ConnectedEverloop } from '../../src/client/connect.ts';
import { createConsole, type Console } from '../../src/console/serve/console.ts';
import { startFixture, type FixtureProcess } from '../support/child-process.ts';
import { eventually } from '../support/eventually.ts';
import type { PeopleWorker } from '../support/fixtures/serve-people.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { TOKEN } from './console-stage.ts';

const ORIGIN = 'http://127.0.0.1:8234';

let stage: Stage;
let everloop: ConnectedEverloop;
let console: Console;
let worker: FixtureProcess;

beforeAll(async () => {
  stage = await openStage(inject('temporal'));
  const { address, namespace, folder } = stage;
  const taskQueue = `pages-${randomUUID()}`;
  const work: PeopleWorker = {
    address,
    namespace,
    taskQueue,
    archiveDir: `${folder}/archive`,
    dataDir: folder,
  };
  everloop = await connect({ address, namespace, taskQueue, dataDir: folder });
  console = createConsole({ everloop, access: { token: TOKEN } });
  worker = await startFixture('serve-people', [JSON.stringify(work)]);
}, 60_000);

afterAll(async () => {
  console.close();
  await everloop.close();
  await worker.kill('SIGKILL');
  await stage.close();
});

async function ask(path: string, body?: object): Promise<{ status: number; body: unknown }> {
  const answer = await console.fetch(
    new Request(`${ORIGIN}/api/v1${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { host: new URL(ORIGIN).host, origin: ORIGIN, authorization: `Bearer ${TOKEN}` },
      ...(body && { body: JSON.stringify({ requestId: randomUUID(), ...body }) }),
    }),
  );
  return { status: answer.status, body: await answer.json() };
}

describe('a console on a server', () => {
  it('shows a schedule, pauses it, and deletes it', async () => {
    const id = `hourly/${randomUUID()} <b>`;
    const task = '<script>Pay</script>';
    await everloop.schedules.create(id, { agent: 'clerk', task, every: '1h' });
    const path = `/schedules/${encodeURIComponent(id)}`;

    await eventually('the schedule in the list', async () =>
      JSON.stringify((await ask('/schedules')).body).includes(JSON.stringify(id)),
    );
    expect(await ask(`${path}/pause`, { note: 'holidays' })).toMatchObject({ status: 200 });
    expect((await ask(path)).body).toMatchObject({
      schedule: { id, agent: 'clerk', task, paused: true, note: 'holidays', last: null },
      heldBy: null,
    });
    expect(await ask(`${path}/delete`, {})).toMatchObject({ status: 200 });
    expect(await ask(path)).toMatchObject({ status: 404, body: { code: 'schedule_not_found' } });
  });

  it('sets a tenant, and shows how it stands', async () => {
    const tenant = `acme-${randomUUID().slice(0, 8)}`;
    const set = { concurrency: 2, perDay: { costUsd: 1.5 }, timeZone: 'Europe/Vienna' };
    expect(await ask(`/tenants/${tenant}`, set)).toMatchObject({
      status: 200,
      body: { run: tenant },
    });

    await eventually('the tenant in the list', async () =>
      JSON.stringify((await ask('/tenants')).body).includes(tenant),
    );
    expect((await ask(`/tenants?q=${tenant}`)).body).toMatchObject({
      tenants: [
        {
          tenant,
          ...set,
          standing: { runs: 0, waits: 0, budgets: [{ max: 1_500_000, used: 0 }] },
        },
      ],
      total: 1,
    });
    expect(await ask(`/tenants/${tenant}`, { concurrency: 0 })).toMatchObject({ status: 400 });
  });

  it('forks a run from a moment that a worker shows, and compares both', async () => {
    const run = await everloop.start('clerk', { task: 'Pay what is due.' });
    const path = `/runs/${encodeURIComponent(run.id)}`;
    await eventually('what waits', async () => (await run.pending()).length === 3);

    expect((await ask(`${path}/moment?iteration=1`)).body).toMatchObject({
      iteration: 1,
      entries: [],
    });
    const edits = [{ append: 'Pay less.' }];
    const forked = await ask(`${path}/fork`, { at: 1, edits, effects: 'approve' });
    expect(forked).toMatchObject({ status: 200 });
    const { run: fork } = forked.body as { readonly run: string };
    await eventually('the fork', async () => {
      const { body } = await ask(`/runs/${encodeURIComponent(fork)}`);
      return (body as { run?: { status?: object | null } }).run?.status != null;
    });
    expect((await ask(`/runs/${encodeURIComponent(fork)}`)).body).toMatchObject({
      run: { forkedFrom: { run: run.id, iteration: 1 } },
    });
    const query = new URLSearchParams({ a: run.id, b: fork }).toString();
    expect((await ask(`/diff?${query}`)).body).toMatchObject({
      diff: {
        left: { id: run.id, changes: [] },
        right: {
          id: fork,
          changes: [{ name: 'Said first', text: 'Pay less.' }, { name: 'Calls' }],
        },
      },
    });
    await run.cancel();
  });
});
