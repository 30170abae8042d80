/** Servers over stdio that end while runs use them, and what is left of them when the runs are over. */
import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { textOf } from '../../src/core/base/message.ts';
import type { ToolEffect } from '../../src/core/contract/spec.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { McpServerDefinition } from '../../src/define/definition/mcp-server.ts';
import { createMcpTools, type WorkerMcpTools } from '../../src/mcp/mcp-tools.ts';
import { listServers } from '../../src/testing/listed-servers.ts';
import { eventually } from '../support/eventually.ts';
import { extent } from '../support/extent.ts';
import { callListed, isAlive, wildServer } from '../support/mcp-servers.ts';
import { actWith, answer, startRun } from '../support/runs.ts';

const opened: WorkerMcpTools[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((tools) => tools.close()));
});

function open(server: McpServerDefinition): WorkerMcpTools {
  const tools = createMcpTools({ servers: [server] });
  opened.push(tools);
  return tools;
}

async function pidOf(tools: WorkerMcpTools, server: McpServerDefinition, runId = 'r') {
  const { value } = await callListed(tools, [server], 'wild_who', {}, { runId });
  return Number(String(value).split(' ')[0]);
}

/** A run that calls `tool` once, `before` which something happens. */
async function ranWith(
  tool: string,
  effect: ToolEffect,
  before: (tools: WorkerMcpTools, server: McpServerDefinition) => Promise<unknown>,
) {
  const notes = join(mkdtempSync(join(tmpdir(), 'everloop-mcp-')), 'notes.txt');
  const overrides = { [tool]: { effect } };
  const server = wildServer({ notes }, { overrides });
  const tools = open(server);
  const agent = { tools: [server] };
  const definition = defineAgent({ name: 'tester', model: 'm', ...agent });
  const mcp = await listServers([definition], tools);
  const act = async (): Promise<string> => {
    await before(tools, server);
    return actWith([`wild_${tool}`, 'x']);
  };
  const { run, script, clock } = startRun([act, answer()], { agent, mcp });
  const hurry = setInterval(() => clock.advance(1_000), 20);
  await run.result;
  clearInterval(hurry);
  const seen = readFileSync(notes, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith(tool));
  const read = (script.requests[1]?.messages ?? []).map(textOf).join('\n');
  return { keys: new Set(seen).size, calls: seen.length, read };
}

const nothing = (): Promise<void> => Promise.resolve();

/** Ends the process of the server, as a lack of memory does. */
async function kill(tools: WorkerMcpTools, server: McpServerDefinition): Promise<void> {
  const pid = await pidOf(tools, server);
  process.kill(pid, 'SIGKILL');
  await eventually('the process to end', () => !isAlive(pid));
}

describe('a server that is killed', () => {
  it.each(['read', 'idempotent'] as const)('%s: is started again, and called', async (effect) => {
    expect(await ranWith('act', effect, kill)).toMatchObject({ keys: 1, calls: 1 });
    const middle = await ranWith('die_first', effect, nothing);

    // The same key on both attempts.
    expect(middle).toMatchObject({ keys: 1, calls: 2 });
    expect(middle.read).toContain('alive');
  });

  it('once: is called at most once, and never again in the middle', async () => {
    // What was written to a process that has just ended may have been read.
    expect((await ranWith('act', 'once', kill)).calls).toBeLessThanOrEqual(1);
    const middle = await ranWith('die_first', 'once', nothing);

    expect(middle.calls).toBe(1);
    expect(middle.read).toContain('it is unknown whether wild_die_first took effect');
  });

  it('under fifty calls ends them all, and serves the next', async () => {
    const server = wildServer({}, { maxConcurrent: 100 });
    const tools = open(server);
    const pid = await pidOf(tools, server);
    const calls = Array.from({ length: 50 }, (_, index) =>
      callListed(tools, [server], 'wild_hang', {}, { callId: `c${index}` }),
    );
    await callListed(tools, [server], 'wild_echo', { text: 'after them' });
    process.kill(pid, 'SIGKILL');
    const ends = await Promise.all(calls);

    expect(ends.filter(({ error }) => error?.name === 'LostIsolateError')).toHaveLength(50);
    expect((await callListed(tools, [server], 'wild_echo', { text: 'on' })).value).toBe('on');
  });
});

describe('many runs', () => {
  const openFiles = (): number =>
    existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0;
  const listeners = (): number =>
    process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0);

  it.each(['run', 'worker'] as const)(
    'of scope `%s` leave nothing',
    { timeout: 240_000 },
    async (scope) => {
      // Of runs, they stay for their next calls until they are idle.
      const server = wildServer({}, scope === 'run' ? { scope, idleMs: 1_000 } : { scope });
      await open(server).close();
      const before = { files: openFiles(), listeners: listeners() };
      const tools = open(server);
      const pids = new Set<number>();
      for (let run = 0; run < extent(200, 16); run += 4) {
        const four = [run, run + 1, run + 2, run + 3];
        for (const pid of await Promise.all(four.map((id) => pidOf(tools, server, `run-${id}`)))) {
          pids.add(pid);
        }
      }
      await eventually('the idle to end', () => [...pids].filter(isAlive).length <= 1);
      await tools.close();

      expect(pids.size).toBe(scope === 'run' ? extent(200, 16) : 1);
      await eventually('all to end', () => [...pids].filter(isAlive).length === 0);
      await eventually('files to be closed', () => openFiles() <= before.files);
      expect(listeners()).toBe(before.listeners);
    },
  );
});
