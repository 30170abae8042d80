/**
 * Workflows that are no runs of agents: those of other applications in the same namespace, and our
 * own of tenants and rates. No method, command, route or tool reads or touches one.
 */
import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { Client, type WorkflowHandle } from '@temporalio/client';
import { runCli } from '../../src/cli/run-cli.ts';
import { processIo } from '../../src/cli/terminal/io.ts';
import { connect, type ConnectedEverloop } from '../../src/client/connect.ts';
import { createEverloop } from '../../src/client/everloop-client.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { openConsole, type OpenConsole } from '../../src/console/serve/open-console.ts';
import { createMcpServer } from '../../src/mcp-server/create-mcp-server.ts';
import { httpHost, say } from '../support/mcp-hosts.ts';
import { serveOverHttp } from '../../src/mcp-server/serve/http.ts';
import { shareBundle } from '../support/bundles.ts';
import { openStage, type Served, type Stage } from '../support/stage.ts';
import { worker } from '../support/tree-agents.ts';

/** What only the other application may read. */
const SECRET = 'the-salary-of-somebody';

let stage: Stage;
let served: Served;
let everloop: ConnectedEverloop;
let page: OpenConsole;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
  served = await stage.serve([worker(0)]);
  const { address, namespace, folder } = stage;
  everloop = await connect({ address, namespace, taskQueue: served.taskQueue, dataDir: folder });
  page = await openConsole({ everloop, dataDir: folder, env: {}, port: 0 });
}, 60_000);
afterAll(async () => {
  await page?.close();
  await everloop?.close();
  await stage?.close();
});

/** A workflow that nobody serves, so that a query of it would wait for ever. */
async function foreign(type: string, args: readonly unknown[]): Promise<WorkflowHandle> {
  return stage.client.workflow.start(type, {
    workflowId: `payroll-${randomUUID()}`,
    taskQueue: `payroll-${randomUUID()}`,
    args: [...args],
  });
}

const KINDS: readonly (readonly [name: string, begin: () => Promise<WorkflowHandle>])[] = [
  ['another type', () => foreign('payroll', [SECRET])],
  ['the same type, but another input', () => foreign('agent', [{ employee: SECRET }])],
  [
    'a ledger of ours',
    async () => {
      const tenant = `t${randomUUID().slice(0, 8)}`;
      await everloop.tenants.set(tenant, { concurrency: 1 });
      return stage.client.workflow.getHandle(`~tenant:${tenant}`);
    },
  ],
];

/** Runs `work`, and checks that the workflow has no new event. */
async function untouched(handle: WorkflowHandle, work: () => Promise<void>): Promise<void> {
  const before = await handle.describe();
  await work();
  const after = await handle.describe();
  expect([after.status.name, after.historyLength]).toEqual(['RUNNING', before.historyLength]);
}

const METHODS: readonly (readonly [string, (run: RunHandle) => unknown])[] = [
  ['status', (run) => run.status()],
  ['summary', (run) => run.summary()],
  ['traceId', (run) => run.traceId()],
  ['stats', (run) => run.stats()],
  ['pending', (run) => run.pending()],
  ['program', (run) => run.program()],
  ['programs', (run) => run.programs()],
  ['transcript', (run) => run.transcript()],
  ['events', (run) => run.events()],
  ['events of the tree', (run) => run.events({ tree: true })],
  ['view', (run) => run.view()],
  ['current', (run) => run.current()],
  ['links', (run) => run.links()],
  ['histories', (run) => first(run.histories())],
  ['at', (run) => run.at('start')],
  ['scratchpad', (run) => run.scratchpad()],
  ['attempts', (run) => run.attempts()],
  ['tree', (run) => run.tree()],
  ['result', (run) => run.result()],
  ['step', (run) => run.step()],
  ['startedWith', (run) => run.startedWith()],
  ['resultOrPending', (run) => run.resultOrPending()],
  ['follow', (run) => first(run.follow())],
  ['followEvents', (run) => first(run.followEvents())],
  ['send', (run) => run.send('Hello')],
  ['answer', (run) => run.answer('q1', 'yes')],
  ['decide', (run) => run.decide('1.1', { approve: true } as never)],
  ['retry', (run) => run.retry('1.1')],
  ['adjust', (run) => run.adjust({ costUsd: 1 })],
  ['pause', (run) => run.pause()],
  ['resume', (run) => run.resume()],
  ['cancel', (run) => run.cancel('stop')],
  ['cancel by force', (run) => run.cancel('stop', { force: true })],
];

async function first(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _item of items) return;
}

describe.each(KINDS)('a workflow of %s', (_kind, begin) => {
  it('is no run for any method of a client', async () => {
    const handle = await begin();
    const run = everloop.attach(handle.workflowId);
    await untouched(handle, async () => {
      for (const [name, call] of METHODS) {
        const code = await Promise.resolve(call(run)).then(
          () => 'none',
          (error: Error & { readonly code?: string }) => error.code ?? error.message,
        );
        expect([name, code]).toEqual([name, 'not_an_agent']);
      }
      const start = { code: 'not_an_agent' };
      const source = { run: handle.workflowId };
      await expect(everloop.fork(source, { effects: 'run' })).rejects.toMatchObject(start);
      const variants = [{ name: 'a' }, { name: 'b', model: 'x' }];
      await expect(
        everloop.evaluate({ moments: [source], variants } as never),
      ).rejects.toMatchObject(start);
    });
  }, 60_000);

  it('is no run for any route of a console', async () => {
    const handle = await begin();
    const key = new URL(page.address).hash.replace('#key=', '');
    const id = encodeURIComponent(handle.workflowId);
    const ask = async (path: string, body?: object): Promise<readonly [number, string]> => {
      const answer = await fetch(`${page.url}/api/v1${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${key}`, origin: page.url },
        ...(body && { body: JSON.stringify({ requestId: randomUUID(), ...body }) }),
      });
      return [answer.status, await answer.text()];
    };
    await untouched(handle, async () => {
      for (const path of [
        '',
        '/scratchpad',
        '/events',
        '/calls/1.1',
        '/export',
        '/export?kind=history',
        '/tree',
        '/program',
        '/programs',
        '/links',
        '/stats',
        '/iterations',
        '/outline',
        '/spans',
        '/moment?iteration=1',
      ]) {
        const [status, text] = await ask(`/runs/${id}${path}`);
        expect([path, status >= 400, text]).toEqual([
          path,
          true,
          expect.stringContaining('not_an_agent'),
        ]);
      }
      for (const [path, body] of [
        ['/send', { text: 'Hello' }],
        ['/answer', { id: 'q1', value: 'yes' }],
        ['/decide', { id: '1.1', decision: { kind: 'approve' } }],
        ['/pause', {}],
        ['/resume', {}],
        ['/adjust', { limits: { costUsd: 1 } }],
        ['/cancel', {}],
        ['/cancel', { force: true }],
        ['/fork', { at: 1, effects: 'run' }],
      ] as const) {
        const [status, text] = await ask(`/runs/${id}${path}`, body);
        expect([path, status >= 400, text]).toEqual([
          path,
          true,
          expect.stringContaining('not_an_agent'),
        ]);
      }
      const [, diff] = await ask(`/diff?a=${id}&b=other`);
      expect(diff).not.toContain(SECRET);
    });
  }, 60_000);
});

it('is no run for any command', async () => {
  const handle = await foreign('payroll', [SECRET]);
  const { workflowId: id } = handle;
  const cwd = join(stage.folder, 'commands');
  await mkdir(cwd, { recursive: true });
  await shareBundle(cwd);
  await untouched(handle, async () => {
    for (const argv of [
      ['show', id],
      ['show', id, '--transcript'],
      ['logs', id],
      ['tree', id],
      ['stats', id],
      ['trace', id],
      ['cancel', id],
      ['cancel', id, '--force'],
      ['send', id, 'Hello'],
      ['pause', id],
      ['resume', id],
      ['approve', id, '1.1'],
      ['fork', id, '--effects', 'run'],
      ['replay', id],
      ['archive', 'save', id],
      ['forget', id, '--yes'],
      ['deploy', 'rescue', id],
    ]) {
      const { code, output } = await command(argv, cwd);
      expect([argv, code !== 0, output]).toEqual([argv, true, expect.stringContaining('an agent')]);
      expect(output).not.toContain(SECRET);
    }
  });
}, 300_000);

it('is no run for any tool of the MCP server', async () => {
  const handle = await foreign('payroll', [SECRET]);
  const { workflowId: run } = handle;
  const quiet = { log: () => undefined };
  const stopping = new AbortController();
  const factory = createMcpServer({ everloop, signal: stopping.signal, ...quiet });
  const serving = await serveOverHttp(factory, { host: '127.0.0.1', port: 0, ...quiet });
  const host = await httpHost('modern', serving.url);
  await untouched(handle, async () => {
    for (const [tool, args] of [
      ['wait_run', {}],
      ['get_run', {}],
      ['get_run', { events: 0 }],
      ['send_input', { text: 'Hello' }],
      ['answer', { id: 'q1', value: 'yes' }],
      ['decide', { id: '1.1', approve: true }],
      ['cancel_run', {}],
      ['adjust_run', { limits: { costUsd: 1 } }],
    ] as const) {
      const { error } = await say(host, tool, { run, ...args });
      expect([tool, error]).toEqual([tool, expect.stringContaining("to be an agent's run")]);
    }
  });
  await host.close();
  stopping.abort();
  await serving.close();
});

it('is no schedule for any method of a schedule', async () => {
  const id = `payroll-${randomUUID()}`;
  const own = await stage.client.schedule.create({
    scheduleId: id,
    spec: { intervals: [{ every: '1h' }] },
    state: { paused: true },
    action: { type: 'startWorkflow', workflowType: 'agent', taskQueue: 'none', args: [SECRET] },
  });
  const schedule = everloop.schedules.attach(id);
  const range = { from: '2026-01-01T00:00:00Z', until: '2026-01-01T05:00:00Z' };
  for (const [name, call] of [
    ['describe', () => schedule.describe()],
    ['next', () => schedule.next()],
    ['times', () => schedule.times(range)],
    ['pause', () => schedule.pause()],
    ['resume', () => schedule.resume()],
    ['trigger', () => schedule.trigger()],
    ['backfill', () => schedule.backfill(range)],
    ['update', () => schedule.update({ every: '2h' })],
    ['delete', () => schedule.delete()],
  ] as const) {
    const code = await call().then(
      () => 'none',
      (error: Error & { readonly code?: string }) => error.code ?? error.message,
    );
    expect([name, code]).toEqual([name, 'not_an_agent']);
  }
  const { state, info } = await own.describe();
  expect([state.paused, info.numActionsTaken]).toEqual([true, 0]);
  expect((await everloop.schedules.list()).map((one) => one.id)).not.toContain(id);
  await own.delete();
});

it('is told from a run that another client has started without a memo', async () => {
  const { taskQueue } = served;
  const start = { taskQueue, workflowId: `raw-${randomUUID()}` };
  const input = { v: 1, agent: 'worker', task: { text: 'Go' } };
  const { workflowId } = await stage.client.workflow.start('agent', { ...start, args: [input] });
  expect(await everloop.attach(workflowId).result()).toMatchObject({ status: 'success' });

  const wrong = { ...start, workflowId: `raw-${randomUUID()}`, args: [{ agnet: 'worker' }] };
  const refused = await stage.client.workflow.start('agent', wrong);
  await refused.result().catch(() => undefined);
  expect(await everloop.attach(refused.workflowId).result()).toMatchObject({
    reason: 'invalid_input',
  });
});

it('costs one question a minute: polls cost what they did', async () => {
  const run = await served.everloop.start('worker', { task: 'Go' });
  await run.result();
  let described = 0;
  const { connection, options } = stage.client;
  const counting = new Proxy(connection.workflowService, {
    get: (service, name, receiver) => {
      if (name === 'describeWorkflowExecution') described += 1;
      return Reflect.get(service, name, receiver) as unknown;
    },
  });
  const client = new Client({
    connection: new Proxy(connection, {
      get: (target, name, receiver) =>
        name === 'workflowService' ? counting : (Reflect.get(target, name, receiver) as unknown),
    }),
    namespace: options.namespace,
  });
  const handle = createEverloop({ client }).attach(run.id);
  for (let poll = 0; poll < 5; poll++) await handle.status();
  expect(described).toBe(1);
});

/** Runs a command of the CLI, which opens connections of its own. */
async function command(
  argv: readonly string[],
  cwd: string,
): Promise<{ readonly code: number; readonly output: string }> {
  let output = '';
  const sink = { write: (text: string) => (output += text) };
  const code = await runCli(argv, {
    ...processIo(),
    stdout: sink,
    stderr: sink,
    cwd,
    env: {
      TEMPORAL_ADDRESS: stage.address,
      TEMPORAL_NAMESPACE: stage.namespace,
      EVERLOOP_TASK_QUEUE: served.taskQueue,
      EVERLOOP_DATA_DIR: cwd,
      EVERLOOP_LOG_LEVEL: 'ERROR',
    },
  });
  return { code, output };
}
