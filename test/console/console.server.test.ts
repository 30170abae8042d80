/**
 * A console over HTTP, a real server and a worker process that is killed: what a page of it would ask.
 */
import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { connect, type ConnectedEverloop } from '../../src/client/connect.ts';
import type { AgentCard } from '../../src/console/api.ts';
import type { LiveFrame } from '../../src/console/live-frames.ts';
import { openConsole, type OpenConsole } from '../../src/console/serve/open-console.ts';
import { startFixture, type FixtureProcess } from '../support/child-process.ts';
import { eventually } from '../support/eventually.ts';
import type { PeopleWorker } from '../support/fixtures/serve-people.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
let opened: OpenConsole;
let everloop: ConnectedEverloop;
let worker: FixtureProcess | undefined;
let work: PeopleWorker;

const serve = async (): Promise<void> => {
  worker = await startFixture('serve-people', [JSON.stringify(work)]);
};

beforeAll(async () => {
  stage = await openStage(inject('temporal'));
  const { address, namespace, folder } = stage;
  const archiveDir = join(folder, 'archive');
  const taskQueue = `console-${randomUUID()}`;
  work = { address, namespace, archiveDir, taskQueue, dataDir: folder };
  everloop = await connect({ address, namespace, taskQueue, dataDir: folder });
  opened = await openConsole({
    everloop,
    dataDir: folder,
    env: {},
    port: 0,
    times: { silentMs: 1_000 },
  });
  await serve();
}, 60_000);

afterAll(async () => {
  await opened.close();
  await everloop.close();
  await worker?.kill('SIGKILL');
  await stage.close();
});

/** The key of the printed address, as the page takes it from the fragment. */
function key(): string {
  return new URL(opened.address).hash.replace('#key=', '');
}

async function ask(path: string, body?: object, method = body ? 'POST' : 'GET'): Promise<Response> {
  return fetch(`${opened.url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key()}`, origin: opened.url },
    ...(body && { body: JSON.stringify(body) }),
  });
}

/** The frames of a tab that is open until `signal`. */
async function listen(path: string, signal: AbortSignal): Promise<readonly LiveFrame[]> {
  const frames: LiveFrame[] = [];
  const headers = { authorization: `Bearer ${key()}` };
  const answer = await fetch(`${opened.url}/api/v1/live${path}`, { headers, signal });
  const read = async (): Promise<void> => {
    let rest = '';
    for await (const piece of (answer.body as ReadableStream).pipeThrough(
      new TextDecoderStream(),
    )) {
      const texts = `${rest}${piece}`.split('\n\n');
      rest = texts.pop() ?? '';
      for (const text of texts) {
        const [, kind = '', data = ''] = /^event: (.*)\ndata: (.*)$/.exec(text) ?? [];
        frames.push({ kind, ...(JSON.parse(data) as object) } as LiveFrame);
      }
    }
  };
  void read().catch(() => undefined);
  return frames;
}

function found<Kind extends LiveFrame['kind']>(
  frames: readonly LiveFrame[],
  kind: Kind,
): readonly Extract<LiveFrame, { readonly kind: Kind }>[] {
  return frames.filter(
    (frame): frame is Extract<LiveFrame, { readonly kind: Kind }> => frame.kind === kind,
  );
}

describe('a console on a server', () => {
  it('starts a run, follows it while its worker is killed, and takes one of two decisions', async () => {
    expect(await stat(join(stage.folder, 'console-token')).then(({ mode }) => mode & 0o777)).toBe(
      0o600,
    );
    expect((await fetch(`${opened.url}/api/v1/meta`)).status).toBe(401);
    expect(await (await ask('/setup')).json()).toEqual({ lackingAttributes: [], keys: null });
    // The console was given no definitions: the worker says what it serves.
    const served = (await (await ask('/agents')).json()) as { agents: readonly AgentCard[] };
    expect(served.agents).toMatchObject([
      { name: 'asker' },
      { name: 'clerk', workers: 1, hasPreview: false },
    ]);
    const [{ name: agent } = { name: '' }] = served.agents.slice(1);
    const start = { requestId: randomUUID(), agent, task: 'Pay what is due.' };
    const run = ((await (await ask('/runs', start)).json()) as { run: string }).run;
    const again = ((await (await ask('/runs', start)).json()) as { run: string }).run;
    expect(again).toBe(run);

    const tab = new AbortController();
    const path = `/runs/${encodeURIComponent(run)}`;
    const frames = await listen(`?run=${encodeURIComponent(run)}&after=0&tree=true`, tab.signal);
    await eventually('three items', async () => {
      const { run: header } = (await (await ask(path)).json()) as {
        run: { pending: readonly unknown[] };
      };
      return header.pending.length === 3;
    });
    await eventually('a worker that pushes', () => {
      return found(frames, 'snapshot').at(-1)?.feed === 'pushed';
    });

    await worker?.kill('SIGKILL');
    const decision = { id: '1.2', decision: { approve: true } };
    await eventually('the run to be silent', () => found(frames, 'silent').length > 0);
    await serve();
    await eventually('a snapshot after the silence', () => {
      const silent = frames.findIndex(({ kind }) => kind === 'silent');
      return frames.slice(silent).some(({ kind }) => kind === 'snapshot');
    });
    await eventually('another worker that pushes', () => {
      const silent = frames.findIndex(({ kind }) => kind === 'silent');
      return found(frames.slice(silent), 'snapshot').at(-1)?.feed === 'pushed';
    });

    const [one, other] = await Promise.all([
      ask(`${path}/decide`, { requestId: randomUUID(), ...decision }),
      ask(`${path}/decide`, { requestId: randomUUID(), ...decision }),
    ]);
    expect(new Set([one.status, other.status])).toEqual(new Set([200, 409]));
    await ask(`${path}/answer`, { requestId: randomUUID(), id: 'q1', value: 1 });
    await ask(`${path}/answer`, { requestId: randomUUID(), id: '1.3', value: 'built' });
    await eventually('the end', () => found(frames, 'step').length > 0);

    const step = found(frames, 'step')[0]?.step;
    expect(step).toMatchObject({ status: 'success' });
    const seqs: number[] = [];
    for (const frame of frames) {
      if (frame.kind === 'event') seqs.push(frame.event.seq);
      // A workflow task that is made again takes back what was pushed of it.
      if (frame.kind === 'rewound') seqs.splice(frame.last);
    }
    expect(seqs).toEqual(seqs.map((_seq, place) => place + 1));
    expect(found(frames, 'event').at(-1)?.event.type).toBe('agent:execution:after');
    expect(found(frames, 'tree').at(-1)?.runs).toMatchObject([{ id: run }]);
    tab.abort();

    // Ended runs need no worker.
    await worker?.kill('SIGKILL');
    expect(await (await ask(path)).json()).toMatchObject({
      run: { state: 'ended', task: 'Pay what is due.', step: { status: 'success' } },
    });
    expect(await (await ask(`${path}/iterations`)).json()).toMatchObject({
      lastSeq: seqs.length,
    });
    expect(await (await ask(`${path}/links`)).json()).toMatchObject({ links: [{}] });
  }, 120_000);
});
