/** Everloop as a server of the Model Context Protocol, with real clients of both eras. */
import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { isCreateTaskResultV2, isDetailedTaskV2 } from '@modelcontextprotocol/ext-tasks/core/v2';
import { createApplicationInputHandler } from '@modelcontextprotocol/ext-tasks/client';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { JsonObject } from '../../src/core/base/json.ts';
import { textOf } from '../../src/core/base/message.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { agentTool } from '../../src/define/tool/agent-tool.ts';
import { createMcpServer, type McpServerParts } from '../../src/mcp-server/create-mcp-server.ts';
import { agentsOfFile } from '../../src/mcp-server/runs/agents.ts';
import { serveOverHttp } from '../../src/mcp-server/serve/http.ts';
import { TASKS_EXTENSION } from '../../src/mcp-server/tasks/run-task.ts';
import { keyRing } from '../../src/protection/key-ring.ts';
import { protectionOf } from '../../src/protection/protection.ts';
import {
  httpHost,
  post,
  say,
  stdioHost,
  taskSession,
  type Said,
  type SeenResult,
} from '../support/mcp-hosts.ts';
import { cliProgram, servingProgram } from '../support/builds.ts';
import { eventually } from '../support/eventually.ts';
import { answer, payTool } from '../support/runs.ts';
import { openStage, type Served, type Stage } from '../support/stage.ts';

const INDEX = new URL('../../src/index.ts', import.meta.url).href;

const paid: number[] = [];

/** Asks which account, pays after an approval, and answers with what it was told. */
const desk = defineAgent({
  name: 'desk',
  description: 'Pays bills.',
  mode: 'react',
  askUser: true,
  tools: [payTool((amount) => paid.push(amount))],
  model: {
    id: 'desk',
    model: async ({ iteration, messages }) => {
      const read = messages.map(textOf).join('\n');
      if (iteration === 1)
        return '<action>\ntool: ask_user\nargs:\n  question: Which account?\n  options: [savings, giro]\n</action>';
      if (!read.includes('paid 50') && !read.includes('too much'))
        return '<action>\ntool: pay\nargs:\n  amount: 50\n</action>';
      const words = ['hurry', 'paid 50', 'too much'];
      return answer(words.filter((word) => read.includes(word)).join(', '));
    },
  },
});

/** Waits for ever in a child of its own. */
const stuck = defineAgent({
  name: 'stuck',
  model: {
    id: 'stuck',
    model: (_request, { signal }) =>
      new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(new Error('aborted'))),
      ),
  },
});
const boss = defineAgent({
  name: 'boss',
  mode: 'react',
  tools: [agentTool({ agent: stuck })],
  model: {
    id: 'boss',
    model: async () => '<action>\ntool: stuck\nargs:\n  task: wait\n</action>',
  },
});

let stage: Stage;
let served: Served;
let env: Record<string, string>;
const closers: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  stage = await openStage(inject('temporal'));
  served = await stage.serve([desk, boss]);
  env = {
    TEMPORAL_ADDRESS: stage.address,
    TEMPORAL_NAMESPACE: stage.namespace,
    EVERLOOP_TASK_QUEUE: served.taskQueue,
    EVERLOOP_DATA_DIR: stage.folder,
  };
});
afterAll(async () => {
  for (const close of closers.toReversed()) await close();
  await stage?.close();
});

/** A server over HTTP in this process. */
async function serve(parts: Partial<McpServerParts> = {}): Promise<string> {
  const stopping = new AbortController();
  const factory = createMcpServer({
    everloop: served.everloop,
    signal: stopping.signal,
    log: () => undefined,
    ...parts,
  });
  const serving = await serveOverHttp(factory, {
    host: '127.0.0.1',
    port: 0,
    log: () => undefined,
  });
  closers.push(async () => {
    stopping.abort();
    await serving.close();
  });
  return serving.url;
}

async function host(client: Promise<Client>): Promise<Client> {
  const opened = await client;
  closers.push(() => opened.close());
  return opened;
}

/** Plays a run from its start over a question, an approval and a steer to its end. */
async function drive(one: Client, other: Client): Promise<void> {
  const run = `desk-${randomUUID()}`;
  const start = { agent: 'desk', task: 'Pay', id: run };
  const unknown = `no-${randomUUID()}`;
  expect(await say(one, 'start_run', start)).toMatchObject({ value: { run, status: 'running' } });
  expect(await say(other, 'start_run', start)).toMatchObject({ value: { run } });
  expect(await say(one, 'get_run', { run: unknown })).toEqual({
    error: `Expected the id of a run that is alive or within the service's retention, got \`${unknown}\`. List the runs to find it.`,
  });

  const asked = await say(other, 'wait_run', { run });
  expect(asked.value).toMatchObject({
    status: 'waiting',
    pending: [{ id: 'q1', kind: 'question', question: 'Which account?' }],
  });
  expect(await say(one, 'answer', { run, id: 'q1', value: 'cash' })).toEqual({
    error: 'answer one of: 1 savings, 2 giro',
  });
  expect(await say(one, 'send_input', { run, text: 'hurry', kind: 'steer' })).toMatchObject({
    value: { position: 1 },
  });
  const given = { run, id: 'q1', value: 2, updateId: 'u1' };
  expect(await say(one, 'answer', given)).toEqual({ value: { run, id: 'q1' } });
  expect(await say(other, 'answer', given)).toEqual({ value: { run, id: 'q1' } });

  const waiting = await say(one, 'wait_run', { run });
  expect(waiting.value).toMatchObject({ pending: [{ id: '2.1', kind: 'approval', tool: 'pay' }] });
  expect(await say(other, 'decide', { run, id: '2.1' })).toMatchObject({
    error: expect.stringContaining('exactly one of `approve`, `deny` and `args`, got none'),
  });
  expect(await say(other, 'adjust_run', { run, revoke: '9.9' })).toMatchObject({
    error: expect.stringContaining('to be the id of a standing approval, got `9.9`'),
  });
  await say(other, 'decide', { run, id: '2.1', approve: true, remember: 'tool' });
  const ended = await say(one, 'wait_run', { run });
  expect(ended.value).toMatchObject({
    run,
    status: 'ended',
    step: { status: 'success', value: 'hurry, paid 50' },
  });
  const read = await say(other, 'get_run', { run, events: 2 });
  expect(read.value).toMatchObject({ status: 'ended', events: expect.any(Array) });
}

describe('everloop mcp serve', () => {
  it('drives a run over stdio, for hosts of both eras, whose processes serve one run', async () => {
    const modern = await host(stdioHost('modern', env));
    const legacy = await host(stdioHost('legacy', env));
    const { tools } = await modern.listTools();
    expect(tools.map(({ name }) => name)).toEqual(TOOLS);
    expect((await legacy.listTools()).tools.map(({ name }) => name)).toEqual(TOOLS);
    await drive(modern, legacy);
  });

  it('drives a run over HTTP, for hosts of both eras, of two servers', async () => {
    const modern = await host(httpHost('modern', await serve()));
    const legacy = await host(httpHost('legacy', await serve()));
    await drive(modern, legacy);
    await drive(legacy, modern);
  });

  it('shows runs as tasks to hosts that take them, from the start over an approval to the answer', async () => {
    const url = await serve({ exposeAgents: true, agents: agentsOfFile([desk, boss]) });
    const seen: SeenResult[] = [];
    const asked: string[] = [];
    const { session, close } = await taskSession(
      url,
      {
        onInputRequest: createApplicationInputHandler({
          elicitation: ({ params }) => {
            const message = params['message'] as string;
            asked.push(message);
            const content = message.startsWith('Allow ')
              ? { decision: 'deny', reason: 'too much' }
              : { answer: 'giro' };
            return { action: 'accept', content };
          },
          sampling: () => Promise.reject(new Error('Expected no sampling.')),
          roots: () => Promise.reject(new Error('Expected no roots.')),
        }),
      },
      seen,
    );
    closers.push(close);
    const execution = await session.callTool('desk', { task: 'Pay' });
    const { outcome } = await execution.settle();
    expect(outcome).toMatchObject({
      status: 'completed',
      result: { structuredContent: { step: { status: 'success', value: 'too much' } } },
    });
    expect(asked).toEqual(['Which account?', 'Allow pay {"amount":50}?']);

    // A run that is started otherwise is waited for as a task, and canceled as one.
    const plain = await host(httpHost('modern', url));
    const started = await say(plain, 'start_run', { agent: 'boss', task: 'Wait' });
    const { run } = started.value as { readonly run: string };
    const waiting = await session.callTool('wait_run', { run });
    expect(waiting.handle).toMatchObject({ taskId: run });
    await session.cancelTask(run as never);
    expect((await waiting.settle()).outcome).toMatchObject({ status: 'cancelled' });

    const takesTasks = withMeta({ taskId: run }, { [TASKS_EXTENSION]: {} });
    const canceled = await eventually('a canceled task', async () => {
      const { result } = await post(url, 'tasks/get', takesTasks);
      return (result as { readonly status: string }).status === 'cancelled' && result;
    });
    const created = seen.filter(({ method }) => method === 'tools/call');
    expect(created).toHaveLength(2);
    for (const { result } of created) expect(isCreateTaskResultV2(result)).toBe(true);
    const read = seen.flatMap(({ method, result }) => (method === 'tasks/get' ? [result] : []));
    for (const result of [...read, canceled]) expect(isDetailedTaskV2(result)).toBe(true);

    // A host without tasks gets the run as far as it is, and a repeated call gets the same run.
    const _meta = { 'io.everloop/idempotency-key': randomUUID() };
    const call = { name: 'desk', arguments: { task: 'Pay' }, _meta };
    const [first, again] = [await plain.callTool(call), await plain.callTool(call)];
    const { run: desks } = first.structuredContent as { readonly run: string };
    expect(first.structuredContent).toMatchObject({
      status: 'waiting',
      next: `Waits for a person. Call answer with run "${desks}", then wait_run.`,
    });
    expect(again.structuredContent).toMatchObject({ run: desks });
    await say(plain, 'cancel_run', { run: desks });

    // Without the capability in the very request there is no task, and no method of tasks.
    const ended = await say(plain, 'wait_run', { run });
    expect(ended.value).toMatchObject({ status: 'ended', step: { status: 'canceled' } });
    expect(await post(url, 'tasks/get', withMeta({ taskId: run }))).toMatchObject({
      error: { code: -32_021 },
    });
    expect(
      await post(url, 'tasks/get', withMeta({ taskId: 'no-run' }, { [TASKS_EXTENSION]: {} })),
    ).toMatchObject({ error: { code: -32_602, message: expect.stringContaining('no-run') } });
  });

  it('lets callers reach the runs of allowed agents only, by every tool', async () => {
    const { everloop } = served;
    const own = await everloop.start('desk', { task: 'Pay' });
    const other = await everloop.start('boss', { task: 'Wait' });
    const child = await eventually('a child run', async () => (await other.tree())[1]?.id);
    const desks = await host(httpHost('modern', await serve({ allow: ['desk'] })));
    const bosses = await host(
      httpHost('legacy', await serve({ allow: ['boss'], exposeAgents: true })),
    );
    const calls: readonly (readonly [string, JsonObject])[] = [
      ['wait_run', { waitMs: 1_000 }],
      ['get_run', { events: 0 }],
      ['send_input', { text: 'x' }],
      ['answer', { id: 'q1', value: 'x' }],
      ['decide', { id: '2.1', approve: true }],
      ['cancel_run', {}],
      ['adjust_run', { paused: true }],
    ];
    for (const [name, args] of calls) {
      for (const run of [other.id, child]) {
        const { error } = await say(desks, name, { run, ...args });
        expect(error).toContain(`got \`${run}\`. List the runs to find it.`);
      }
    }
    expect(await say(desks, 'start_run', { agent: 'boss', task: 'x' })).toEqual({
      error: 'Expected an agent of this server (desk), got `boss`. Choose one of them.',
    });
    expect(await say(desks, 'start_run', { agent: 'desk', task: 'x', id: other.id })).toEqual({
      error: `Expected a free run id, got \`${other.id}\`. Choose another id.`,
    });
    // What an allowed run has started belongs to it.
    expect(await say(bosses, 'get_run', { run: child })).toMatchObject({ value: { run: child } });
    expect((await bosses.listTools()).tools.map(({ name }) => name)).toEqual([...TOOLS, 'boss']);
    await eventually('the lists to show both', async () => {
      const inbox = await everloop.inbox();
      const runs = await everloop.list({ limit: 50 });
      const ids = [...inbox.items.map(({ run }) => run), ...runs.map(({ id }) => id)];
      return ids.filter((id) => id === own.id).length === 2 && ids.includes(other.id);
    });
    const agentsOf = ({ value = {} }: Said, key: string): readonly unknown[] => [
      ...new Set((value[key] as readonly JsonObject[]).map(({ agent }) => agent)),
    ];
    expect(agentsOf(await say(desks, 'list_runs', { limit: 50 }), 'runs')).toEqual(['desk']);
    expect(agentsOf(await say(desks, 'inbox'), 'items')).toEqual(['desk']);
    // Other tests may have left a run of this name.
    const running = await say(bosses, 'list_runs', { running: true });
    expect(agentsOf(running, 'runs')).toEqual(['boss']);
    expect(running.value?.['runs']).toContainEqual(expect.objectContaining({ run: other.id }));
    expect(await say(bosses, 'list_agents')).toMatchObject({
      value: { agents: [{ name: 'boss', inputSchema: { required: ['task'] } }] },
    });
    await say(bosses, 'cancel_run', { run: other.id, message: 'enough' });
    expect(await say(bosses, 'wait_run', { run: other.id })).toMatchObject({
      value: { step: { status: 'canceled', message: expect.stringContaining('enough') } },
    });

    const reader = await host(
      httpHost('modern', await serve({ readOnly: true, exposeAgents: true })),
    );
    expect((await reader.listTools()).tools.map(({ name }) => name)).toEqual(TOOLS.slice(0, 5));
    expect(await say(reader, 'get_run', { run: own.id })).toMatchObject({ value: { run: own.id } });
    await expect(say(reader, 'cancel_run', { run: own.id })).rejects.toThrow(/got "cancel_run"/);
    await own.cancel();
  });

  it('reads encrypted runs with keys, and says what is missing without', async () => {
    const protection = protectionOf({
      keys: keyRing({ keys: { k1: randomBytes(32) }, current: 'k1' }),
    });
    // No worker is needed to see whose run it is.
    const sealed = stage.everloopOf(`none-${randomUUID()}`, undefined, protection);
    const { id: run } = await sealed.start('desk', { task: 'Pay' });
    const withKeys = await host(
      httpHost('modern', await serve({ everloop: sealed, allow: ['desk'] })),
    );
    const blind = await host(httpHost('modern', await serve({ allow: ['desk'] })));

    for (const name of ['get_run', 'cancel_run']) {
      expect(await say(blind, name, { run })).toEqual({
        error: `Expected a server with keys to read whose run \`${run}\` is, got one without the right key. Set EVERLOOP_KEYS where \`everloop mcp serve\` runs.`,
      });
    }
    expect(await say(withKeys, 'cancel_run', { run, force: true })).toEqual({
      value: { run, canceling: true },
    });
    expect(await say(withKeys, 'get_run', { run })).toMatchObject({
      value: { status: 'ended', message: expect.stringContaining('to end with a Step') },
    });
  });

  it('keeps stdout for the protocol, and ends with stdin', async () => {
    const folder = await mkdtemp(join(stage.folder, 'noisy-'));
    const file = join(folder, 'agents.ts');
    await writeFile(file, NOISY);
    const child = spawn(
      process.execPath,
      [...servingProgram(), 'mcp', 'serve', '--agents', file, '--expose', 'agents'],
      { env: { PATH: process.env['PATH'], ...env }, cwd: folder },
    );
    closers.push(async () => child.kill('SIGKILL'));
    const said: string[] = [];
    const noted: string[] = [];
    child.stdout.on('data', (data: Buffer) => said.push(data.toString()));
    child.stderr.on('data', (data: Buffer) => noted.push(data.toString()));
    const lines = (): readonly { id?: number; result?: JsonObject }[] =>
      said
        .join('')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as object);
    const ask = (id: number, method: string, params: JsonObject): void =>
      void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    const init = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'h', version: '1' },
    };
    ask(1, 'initialize', init);
    ask(2, 'tools/list', {});
    await eventually('the list of tools', () => lines().some(({ id }) => id === 2), 60_000);
    const list = lines().find(({ id }) => id === 2);
    const tools = list?.result?.['tools'] as readonly JsonObject[];
    expect(tools.at(-1)).toMatchObject({
      name: 'adder',
      description: 'Adds.',
      inputSchema: { required: ['a', 'b'] },
      annotations: { destructiveHint: true },
    });
    expect(noted.join('')).toContain('loading the file');
    // A wait that is open does not hold the process.
    ask(3, 'tools/call', { name: 'inbox', arguments: {} });
    child.stdin.end();
    const [code] = (await once(child, 'exit')) as [number];
    expect(code).toBe(0);
  });

  it('asks for its token over HTTP, and ends with open waits at SIGTERM', async () => {
    const token = randomUUID();
    const child = spawn(
      process.execPath,
      [...cliProgram(), 'mcp', 'serve', '--http', '127.0.0.1:0', '--json'],
      { env: { PATH: process.env['PATH'], ...env, EVERLOOP_MCP_TOKEN: token }, cwd: stage.folder },
    );
    closers.push(async () => child.kill('SIGKILL'));
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const { url } = JSON.parse(line.toString()) as { url: string };
    const refused = await fetch(url, { method: 'POST', body: '{}' });
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toMatch(/^Bearer/);
    const client = await host(httpHost('legacy', url, token));
    const run = await served.everloop.start('boss', { task: 'Wait' });
    let seconds = 0;
    const wait = client.callTool(
      { name: 'wait_run', arguments: { run: run.id } },
      { onprogress: ({ progress }) => (seconds = progress) },
    );
    wait.catch(() => undefined);
    await eventually('progress', () => seconds > 0, 30_000);
    child.kill('SIGTERM');
    const [code] = (await once(child, 'exit')) as [number];
    // On a busy machine, the time that it has to close is over first.
    expect([0, 143]).toContain(code);
    await wait.catch(() => undefined);
    expect((await run.status()).state).toBe('running');
    await run.cancel();
  });
});

/** An agent file that writes to stdout while it loads. */
const NOISY = `
import { defineAgent } from '${INDEX}';
console.log('loading the file');
export const adder = defineAgent({
  name: 'adder',
  description: 'Adds.',
  mode: 'json',
  signature: '(a :int, b :int) -> :int',
  model: async () => '3',
});
`;

/** Parameters of a request whose client has these extensions. */
function withMeta(params: JsonObject, extensions: JsonObject = {}): JsonObject {
  return {
    ...params,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'host', version: '1.0.0' },
      'io.modelcontextprotocol/clientCapabilities': { extensions },
    },
  };
}

const TOOLS = [
  'list_agents',
  'wait_run',
  'get_run',
  'list_runs',
  'inbox',
  'start_run',
  'send_input',
  'answer',
  'decide',
  'cancel_run',
  'adjust_run',
];
