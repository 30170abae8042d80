import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { mcpServer, type McpServerOptions } from '../../src/define/mcp/mcp-server.ts';
import type { McpServerDefinition } from '../../src/define/definition/mcp-server.ts';
import { isNotSent } from '../../src/define/mcp/not-sent.ts';
import { createMcpTools, type WorkerMcpTools } from '../../src/mcp/mcp-tools.ts';
import { startFixture } from '../support/child-process.ts';
import { eventually } from '../support/eventually.ts';
import {
  callBound,
  callListed,
  isAlive,
  wildServer,
  type WildOptions,
} from '../support/mcp-servers.ts';

const opened: WorkerMcpTools[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((tools) => tools.close()));
});

function open(server: McpServerDefinition, log?: (text: string) => void): WorkerMcpTools {
  const tools = createMcpTools({
    servers: [server],
    environment: { ...process.env, SECRET: 'sentinel-of-the-test' },
    ...(log && { log: (_level, message) => log(message) }),
  });
  opened.push(tools);
  return tools;
}

function wild(options: Partial<McpServerOptions> = {}, does: WildOptions = {}) {
  const server = wildServer(does, options);
  const tools = open(server);
  return {
    tools,
    server,
    call: (name: string, args = {}, more = {}) =>
      callListed(tools, [server], `wild_${name}`, args, more),
  };
}

function notesFile(): { readonly notes: string; readonly read: () => readonly string[] } {
  const notes = join(mkdtempSync(join(tmpdir(), 'everloop-mcp-')), 'notes.txt');
  const read = (): readonly string[] =>
    existsSync(notes) ? readFileSync(notes, 'utf8').trim().split('\n') : [];
  return { notes, read };
}

describe('calls of a server that misbehaves', () => {
  it('fifty at once share one process and have one key each', async () => {
    const { notes, read } = notesFile();
    const { call } = wild({ maxConcurrent: 4 }, { notes });
    const ends = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        call('echo', { text: `${index}` }, { callId: `c${index}` }),
      ),
    );
    const pids = await Promise.all([call('who'), call('who')]);

    expect(ends.map(({ value }) => value)).toEqual(ends.map((_, index) => String(index)));
    expect(new Set(pids.map(({ value }) => value)).size).toBe(1);
    expect(read().filter((line) => line.startsWith('echo r1/c')).length).toBe(50);
  });

  it('an answer of 17 MB fails its call, and no other', async () => {
    const { call } = wild();
    const [huge, echo] = await Promise.all([
      call('huge', { megabytes: 17 }),
      call('echo', { text: 'on' }),
    ]);
    const before = await call('who');
    const large = await call('huge', { megabytes: 15 });

    expect(huge.error).toMatchObject({
      name: 'ToolError',
      message: 'the server wild failed: its answer has more than 16 MB or 200000 values',
    });
    expect(echo.value).toBe('on');
    expect((large.value as string).length).toBe(15_000_000);
    expect((await call('who')).value).toBe(before.value);
  });

  it('a server that ends within a call loses it, and the next call finds a new one', async () => {
    const { notes, read } = notesFile();
    const { call } = wild({}, { notes });
    const acted = await call('act_and_die');

    expect(acted.error).toMatchObject({ name: 'LostIsolateError', started: true });
    expect(read().filter((line) => line.startsWith('act_and_die'))).toHaveLength(1);
    expect((await call('echo', { text: 'again' })).value).toBe('again');
  });

  it('a server that is away gets no call, and is none of this worker if it never was there', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'everloop-mcp-'));
    const server = mcpServer({
      name: 'gone',
      command: join(folder, 'missing'),
      tools: { allow: [] },
    });
    const tools = open(server);
    const binding = { server: 'gone', tool: 'x', hash: '' };
    const call = { name: 'gone_x', runId: 'r', signal: AbortSignal.timeout(20_000) };

    expect(await tools.list([server])).toEqual({
      kind: 'not_here',
      what: 'MCP server gone',
      message: expect.stringContaining('MCP server gone could not be reached') as string,
    });
    expect(await tools.bind(binding, call)).toEqual({ kind: 'not_here', what: 'MCP server gone' });
    expect(await tools.bind({ ...binding, server: 'other' }, call)).toEqual({
      kind: 'not_here',
      what: 'MCP server other',
    });
    const optional = { ...server, optional: true };
    expect(await tools.list([optional])).toMatchObject({
      kind: 'listed',
      tools: [],
      warnings: [{ code: 'mcp_unavailable' }],
    });
  });

  it('a call that cannot reach its server any more was not sent', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'everloop-mcp-'));
    const program = join(folder, 'server.mjs');
    const { transport } = wildServer();
    if (transport.kind !== 'stdio') throw new Error('a process');
    writeFileSync(program, `await import(${JSON.stringify(transport.args[0])});`);
    const args = [program, '{}'];
    const server = mcpServer({ name: 'wild', command: process.execPath, args, idleMs: 1 });
    const tools = open(server);
    await callListed(tools, [server], 'wild_echo', { text: 'x' });
    writeFileSync(program, 'process.exit(1)');
    const listing = await tools.list([server]);
    const spec = listing.kind === 'listed' ? listing.tools[0]?.spec : undefined;
    await new Promise((resolve) => setTimeout(resolve, 50));
    const { error } = await callBound(tools, spec?.mcp ?? never(), 'wild_act', { text: 'x' });

    expect(isNotSent(error)).toBe(true);
  });

  it('a call that is stopped ends at once if it reads, and is never taken for ended if it acts', async () => {
    const stopped = async (overrides: McpServerOptions['overrides'] = {}) => {
      const { notes, read } = notesFile();
      const { call } = wild({ overrides }, { notes });
      const stop = new AbortController();
      const ended = call('hang', {}, { signal: stop.signal });
      // The server has the call.
      await eventually('the call to arrive', () => read().some((line) => line.startsWith('hang')));
      stop.abort(new Error('stop'));
      const open = new Promise((resolve) => setTimeout(resolve, 500, 'open'));
      expect((await call('echo', { text: 'on' })).value).toBe('on');
      return Promise.race([ended, open]);
    };

    expect(await stopped()).toMatchObject({ error: { message: 'stop' } });
    expect(await stopped({ hang: { effect: 'once' } })).toBe('open');
  });

  it('a flood of messages does not hold the process', async () => {
    const { call } = wild();
    let ticks = 0;
    const timer = setInterval(() => (ticks += 1), 20);
    const { value } = await call('flood');
    clearInterval(timer);

    expect(value).toBe('done');
    expect(ticks).toBeGreaterThan(10);
  });

  it('gives the server its own environment only, and keeps secrets out of results', async () => {
    const { call } = wild({ env: { SECRET: { env: 'SECRET' } } });
    const { value } = await call('who');
    const [, secret, variables] = String(value).split(' ');

    expect(secret).toBe('[redacted]');
    expect(Number(variables)).toBeLessThanOrEqual(8);
  });
});

describe('listings of a server that misbehaves', () => {
  it.each([
    ['loop', 1, 'its pages go in circles'],
    ['many', 1_000, 'the list has more than 1000 items'],
  ] as const)('%s: are bounded, with a warning', async (list, count, words) => {
    const { tools, server } = wild({}, { list });
    const listing = await tools.list([server]);

    expect(listing).toMatchObject({ kind: 'listed' });
    if (listing.kind !== 'listed') return;
    expect(listing.tools).toHaveLength(count);
    expect(listing.warnings).toContainEqual({
      code: 'mcp_list_cut',
      message: `MCP server \`wild\`: not all tools are used: ${words}.`,
    });
  });

  it('have no hidden characters and no 100 KB of words', async () => {
    const { tools, server } = wild({}, { list: 'hidden' });
    const listing = await tools.list([server]);
    if (listing.kind !== 'listed') throw new Error(listing.message);

    expect(listing.tools[0]?.spec.description).toMatch(/^Reads\. x+$/);
    expect(listing.tools[0]?.spec.description).toHaveLength(2_000);
    expect(listing.warnings.map(({ code }) => code)).toEqual(['mcp_hidden_text']);
  });

  it('are not waited for longer than said', async () => {
    const { tools, server } = wild({ connectTimeoutMs: 700 }, { silent: true });

    expect(await tools.list([server])).toMatchObject({ kind: 'not_here' });
  });
});

describe('two servers with tools of one name', () => {
  it('have names of their own, whatever the first is called', async () => {
    const first = wildServer({}, { name: 'first', prefix: '', tools: { allow: ['echo'] } });
    const second = wildServer({}, { name: 'second', prefix: '', tools: { allow: ['echo'] } });
    const tools = createMcpTools({ servers: [first, second] });
    opened.push(tools);
    const listing = await tools.list([first, second]);
    if (listing.kind !== 'listed') throw new Error(listing.message);

    expect(listing.tools.map(({ spec }) => [spec.name, spec.mcp?.server])).toEqual([
      ['echo', 'first'],
      [expect.stringMatching(/^echo_[\da-f]{6}$/), 'second'],
    ]);
  });
});

describe('a server that changes its tools while a run goes on', () => {
  const echo = (more = {}) => ({
    name: 'echo',
    description: 'Echoes.',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
    ...more,
  });

  it('calls what still fits, tells what does not, and what is gone', async () => {
    const toolsFile = join(mkdtempSync(join(tmpdir(), 'everloop-mcp-')), 'tools.json');
    const write = (...list: readonly object[]): void =>
      writeFileSync(toolsFile, JSON.stringify(list));
    write(echo());
    const server = wildServer({ toolsFile }, { overrides: { act_and_die: {} } });
    const begun = await open(server).list([server]);
    const frozen = begun.kind === 'listed' ? begun.tools[0]?.spec.mcp : undefined;
    const binding = frozen ?? never();
    const callNow = (args: object) => callBound(open(server), binding, 'wild_echo', { ...args });

    write(echo({ description: 'Other words.' }));
    expect((await callNow({ text: 'words' })).value).toBe('words');

    const schema = {
      type: 'object',
      properties: { text: { type: 'number' }, at: { type: 'string' } },
      required: ['at'],
    };
    write(echo({ inputSchema: schema }));
    expect((await callNow({ text: 7, at: 'x' })).value).toBe('7');
    const { error } = await callNow({ text: 'seven' });
    expect(error).toMatchObject({
      run: {
        result: {
          outcome: 'rejected',
          started: false,
          error: expect.stringContaining(
            'Error: wild_echo has changed since this run began; its arguments are now:',
          ) as string,
        },
      },
    });

    write(echo({ name: 'other' }));
    await expect(callNow({ text: 'x' })).rejects.toThrow(
      'Error: the server wild has no tool echo any more.',
    );
  });
});

describe('processes of servers', () => {
  const pidsOf = (value: unknown): readonly number[] => String(value).split(' ').map(Number);

  it('end with their descendants when the worker closes', async () => {
    const { call, tools } = wild();
    const [pid] = pidsOf((await call('who')).value);
    // One in the group of the server, and one in a group of its own.
    const children = pidsOf((await call('grow')).value);
    expect(children.map(isAlive)).toEqual([true, true]);
    await tools.close();

    expect(isAlive(pid ?? 0)).toBe(false);
    await eventually('the descendants to end', () => !children.some(isAlive));
  });

  it('end when they are not used, and come again', async () => {
    const { call } = wild({ idleMs: 50 });
    const [pid] = pidsOf((await call('who')).value);
    await eventually('the process to end', () => !isAlive(pid ?? 0));

    expect((await call('echo', { text: 'back' })).value).toBe('back');
  });

  it('are one for each run, if so defined, and stay for the next call', async () => {
    const { call, tools } = wild({ scope: 'run' });
    const pids: number[] = [];
    for (let run = 0; run < 12; run++) {
      pids.push(pidsOf((await call('who', {}, { runId: `run-${run}` })).value)[0] ?? 0);
    }

    expect(new Set(pids).size).toBe(12);
    const again = (await call('who', {}, { runId: 'run-0' })).value;
    expect(pidsOf(again)[0]).toBe(pids[0]);
    await tools.close();
    expect(pids.filter(isAlive)).toEqual([]);
  });
});

describe('a worker that is killed', () => {
  it('leaves no process of a server, not even one in a call, nor their descendants', async () => {
    const worker = await startFixture('mcp/hold-servers', []);
    const pids = worker.firstLine as readonly number[];
    expect(pids.filter(isAlive)).toHaveLength(4);
    await worker.kill('SIGKILL');

    await eventually('all processes to end', () => pids.every((pid) => !isAlive(pid)));
  });
});

function never(): never {
  throw new Error('Expected a binding, got none.');
}
