/** The tools of servers as calls: where they come from, and what did not leave the worker. */
import { describe, expect, it } from 'vitest';
import type { ToolEffect } from '../../src/core/contract/spec.ts';
import type { ToolOrder } from '../../src/core/contract/outcome.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { McpTools } from '../../src/define/mcp/mcp-tools.ts';
import { NotSentError } from '../../src/define/mcp/not-sent.ts';
import { createRegistry } from '../../src/registry/registry.ts';
import { runTool } from '../../src/tools/run-tool.ts';
import type { ToolRun, ToolRunOptions } from '../../src/tools/tool-call.ts';
import { fakeServer, fakeServers, type FakeTool } from '../support/fake-servers.ts';

const ORDER: ToolOrder = {
  agent: 'clerk',
  runId: 'run-1',
  agentPath: 'clerk',
  callId: '1.1',
  tool: 'ops_deploy',
  args: { query: 'x' },
  mcp: { server: 'ops', tool: 'deploy', hash: '0123456789abcdef' },
};

function run(mcp: McpTools | undefined, options: Partial<ToolRunOptions> = {}): Promise<ToolRun> {
  const agent = defineAgent({ name: 'clerk', model: 'm', tools: [fakeServer('ops')] });
  const models = [{ id: 'm', model: () => Promise.resolve('') }];
  const registered = createRegistry({ agents: [agent], models }).agents.get('clerk');
  if (registered === undefined) throw new Error('Expected the agent in its registry.');
  const { signal } = new AbortController();
  return runTool(registered, ORDER, { attempt: 1, signal, run: 'r', mcp, ...options });
}

function serverWith(tool: Partial<FakeTool>): McpTools {
  return fakeServers({ ops: [{ name: 'deploy', ...tool }] }).tools;
}

function notSent(): never {
  throw new NotSentError('the server ops could not be reached');
}

describe('a call of the tool of a server', () => {
  it('is left to another worker if this one has no such server, or cannot reach it', async () => {
    const lack = { kind: 'not_here', what: 'MCP server ops' };

    expect(await run(undefined)).toEqual(lack);
    expect(await run(fakeServers({}).tools)).toEqual(lack);
  });

  it('is rejected, not counted, if the server no longer has the tool [mcp 3]', async () => {
    expect(await run(fakeServers({ ops: [] }).tools)).toEqual({
      kind: 'result',
      result: {
        outcome: 'rejected',
        error: 'Error: the server ops has no tool deploy any more.',
        attempts: 1,
        started: false,
      },
    });
  });

  it('has not started if its request did not leave, and is never unknown then [mcp 4]', async () => {
    const once = await run(serverWith({ effect: 'once', call: notSent }), { isOnce: true });
    const last = await run(serverWith({ effect: 'read', call: notSent }), { attempt: 3 });
    const error = 'Error: the server ops could not be reached';
    const result = { outcome: 'error', error, started: false };

    expect(once).toEqual({ kind: 'result', result: { ...result, attempts: 1 } });
    expect(last).toEqual({ kind: 'result', result: { ...result, attempts: 3 } });
    expect(await run(serverWith({ effect: 'read', call: notSent }))).toEqual({
      kind: 'retry',
      message: 'the server ops could not be reached',
    });
  });

  it('that was stopped before its request left is canceled, not unknown', async () => {
    const stop = new AbortController();
    const call = (_args: unknown, _resume: unknown, { signal }: { signal: AbortSignal }): unknown =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new NotSentError('stopped')));
        stop.abort();
      });

    expect(
      await run(serverWith({ effect: 'once', call }), { isOnce: true, signal: stop.signal }),
    ).toMatchObject({ kind: 'result', result: { outcome: 'canceled', started: false } });
  });

  it('tells the progress of its server to those who stream the run, and to its worker', async () => {
    const told: unknown[] = [];
    const tools = serverWith({});
    await run(tools, {
      onEvent: (topic, data) => told.push([topic, data]),
      onProgress: (progress) => told.push(progress),
    });

    const progress = { progress: 1, total: 2 };
    expect(told).toEqual([['mcp:progress', progress], progress]);
  });

  it.each<{ now: ToolEffect; isOnce: boolean; attempt: number; ends: object }>([
    { now: 'read', isOnce: true, attempt: 2, ends: { result: { outcome: 'unknown' } } },
    { now: 'read', isOnce: true, attempt: 1, ends: { result: { outcome: 'error' } } },
    { now: 'once', isOnce: false, attempt: 1, ends: { kind: 'retry' } },
    { now: 'once', isOnce: false, attempt: 3, ends: { result: { outcome: 'error' } } },
  ])(
    'has the effect of the start: now $now, once $isOnce, attempt $attempt [mcp 4]',
    async ({ now, isOnce, attempt, ends }) => {
      const failing = serverWith({
        effect: now,
        call: () => {
          throw new Error('down');
        },
      });

      expect(await run(failing, { isOnce, attempt })).toMatchObject(ends);
    },
  );
});
