/** Servers that attack their client over stdio: nothing may hold, grow or end the worker. */
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import type { McpServerDefinition } from '../../src/define/definition/mcp-server.ts';
import { mcpServer } from '../../src/define/mcp/mcp-server.ts';
import { makeCatalogue } from '../../src/mcp/catalogue/catalogue.ts';
import { createMcpTools, type WorkerMcpTools } from '../../src/mcp/mcp-tools.ts';
import { StdioTransport } from '../../src/mcp/transport/stdio-transport.ts';
import { eventually } from '../support/eventually.ts';
import { callListed, isAlive } from '../support/mcp-servers.ts';
import { mostInATurn } from '../support/turns.ts';

const PROGRAM = fileURLToPath(
  new URL('../support/fixtures/mcp/hostile-server.mjs', import.meta.url),
);
const TOO_LARGE = 'the server hostile failed: its answer has more than 16 MB or 200000 values';
const opened: WorkerMcpTools[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((tools) => tools.close()));
});

function hostile(how = '') {
  const command = process.execPath;
  const fields = { command, args: [PROGRAM, how], connectTimeoutMs: 60_000 };
  const server: McpServerDefinition = mcpServer({ name: 'hostile', ...fields });
  const tools = createMcpTools({ servers: [server] });
  opened.push(tools);
  const attack = (by: string) => callListed(tools, [server], 'hostile_attack', { how: by });
  return { server, tools, attack };
}

describe('messages of a hostile server', () => {
  it.each([
    'lines that are no messages',
    'announcements of a change',
    'questions in a loop',
    'a flood of stderr',
    'answers to nothing',
    'a character in two parts',
  ])('%s: do not end a call', async (how) => {
    const { attack } = hostile();
    const { value } = await attack(how);

    expect(typeof value === 'object' ? (value as { output: unknown }).output : value).toBe('done');
  });

  it('are taken a few at a time', async () => {
    const ignore = (): void => undefined;
    const transport = new StdioTransport({
      command: process.execPath,
      args: [PROGRAM],
      env: {},
      onStderr: ignore,
      onStart: () => ignore,
      onEnd: () => false,
    });
    let taken = 0;
    let resolve = ignore;
    const done = new Promise<void>((onDone) => (resolve = onDone));
    transport.onerror = () => void (taken += 1);
    transport.onmessage = () => resolve();
    await transport.start();
    const params = { name: 'attack', arguments: { how: 'lines that are no messages' } };
    await transport.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    const most = await mostInATurn(done, () => taken);
    await transport.close();

    expect(taken).toBe(22_000);
    expect(most).toBeLessThanOrEqual(200);
  });
});

describe('answers of a hostile server', () => {
  it.each([
    ['a result of many values', TOO_LARGE],
    ['a result of numbers', TOO_LARGE],
    ['a result that nests', TOO_LARGE],
    ['many parts', TOO_LARGE],
    ['a long error', expect.stringContaining('key=') as string],
    ['a long failure', expect.stringContaining('token=') as string],
  ])('%s: fail their call in few words, and no other', async (how, message) => {
    const { attack } = hostile();
    const { error } = await attack(how);

    expect(error).toMatchObject({ name: 'ToolError', message });
    expect(error?.message.length).toBeLessThanOrEqual(2_100);
    expect((await attack('')).value).toBe('done');
  });

  it('with a prototype are data', async () => {
    const { value } = await hostile().attack('a result with a prototype');

    expect(Object.keys(value as object)).toEqual(['__proto__', 'constructor', 'kept']);
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect('isPolluted' in {}).toBe(false);
  });

  it('with a text of millions of values beside a small one pass as text', async () => {
    const { value } = await hostile().attack('a long text of JSON');

    expect(value).toMatchObject({ result: { a: 1 } });
  });
});

describe('listings of a hostile server', () => {
  it('of a million tools are not read', async () => {
    const { server, tools } = hostile('a million tools');

    expect(await tools.list([server])).toMatchObject({
      kind: 'not_here',
      message: expect.stringContaining('more than 16 MB or 200000 values') as string,
    });
  });

  it('of a thousand large tools leave others their turn', async () => {
    const { server, tools } = hostile('a thousand large tools');
    const listing = await tools.list([server]);
    const large = Array.from({ length: 1_000 }, (_, at) => ({ name: `t${at}`, inputSchema: {} }));
    let turns = 0;
    const making = makeCatalogue(server, { identity: '', tools: large }, {});
    await mostInATurn(making, () => (turns += 1));

    expect(listing.kind === 'listed' && listing.tools.length).toBe(1_000);
    expect(turns).toBeGreaterThan(40);
  });
});

describe('processes of a hostile server', () => {
  it('that ignore signals are killed', async () => {
    const { attack, tools } = hostile('ignores signals');
    const [pid = 0] = String((await attack('daemons')).value)
      .split(' ')
      .map(Number);
    await tools.close();

    expect(isAlive(pid)).toBe(false);
  });

  it.runIf(process.platform === 'linux')('that became daemons are killed', async () => {
    const { attack, tools } = hostile();
    const pids = String((await attack('daemons')).value)
      .split(' ')
      .map(Number);
    expect(pids.map(isAlive)).toEqual([true, true]);
    await tools.close();

    await eventually('the daemon to end', () => !pids.some(isAlive));
  });
});
