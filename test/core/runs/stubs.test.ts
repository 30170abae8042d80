/** Runs whose servers have more tools than a specification has room for. */
import { describe, expect, it } from 'vitest';
import { counter, slidingWindow } from '../../../src/index.ts';
import { textOf, type Message } from '../../../src/core/base/message.ts';
import type { ModelRequest } from '../../../src/core/contract/model.ts';
import type { AgentOptions } from '../../../src/define/agent/agent-options.ts';
import { defineAgent } from '../../../src/define/agent/define-agent.ts';
import { listServers } from '../../../src/testing/listed-servers.ts';
import type { ScriptedReply } from '../../../src/testing/scripted-model.ts';
import {
  fakeServer,
  fakeServers,
  type FakeServers,
  type FakeTool,
} from '../../support/fake-servers.ts';
import { startPrograms, type ProgramRun } from '../../support/programs.ts';
import { actWith, answer, startRun, type RunOptions } from '../../support/runs.ts';

const SERVERS = ['ant', 'bee', 'cat', 'dog', 'eel'];

/** A thousand tools, of which `zeppelin` is the last in the order of names. */
function thousand(zeppelin: Partial<FakeTool> = {}): readonly FakeTool[] {
  const others = Array.from({ length: 999 }, (_, at) => ({
    name: `tool_${at}`,
    description: `Paints fence ${at}. ${'It is a long story. '.repeat(10)}`,
  }));
  const parameters = { type: 'object', properties: { query: { type: 'string' } } };
  return [
    ...others,
    { name: 'zeppelin', description: 'Flies an airship.', parameters, ...zeppelin },
  ];
}

const FIND = `<action>\n- tool: tool_registry_search\n  args:\n    query: airship\n</action>`;
const FLY = actWith(['eel_zeppelin', 'x']);

interface Started extends ProgramRun {
  readonly servers: FakeServers;
}

async function start(
  replies: readonly ScriptedReply[],
  options: RunOptions & { readonly zeppelin?: Partial<FakeTool> } = {},
  programs: readonly string[] = [],
): Promise<Started> {
  const { agent: fields = {}, zeppelin, ...rest } = options;
  const servers = fakeServers(
    Object.fromEntries(
      SERVERS.map((name) => [
        name,
        name === 'eel' ? thousand(zeppelin) : thousand({ name: 'y', description: 'Yodels.' }),
      ]),
    ),
  );
  const agent: Partial<AgentOptions> = {
    tools: SERVERS.map((name) => fakeServer(name)),
    toolSearch: { hint: 'domains' },
    ...fields,
  };
  const mcp = await listServers(
    [defineAgent({ name: 'tester', model: 'm', ...agent } as AgentOptions)],
    servers.tools,
  );
  const all = { ...rest, agent, mcp };
  if (programs.length === 0) return { ...startRun(replies, all), servers, reports: [] };
  return { ...startPrograms(programs, all), servers };
}

function read(request: ModelRequest | undefined): string {
  return (request?.messages ?? []).map((message: Message) => textOf(message)).join('\n');
}

describe('a run with 5,000 tools of servers', () => {
  it('finds one, calls it, is handed over after each iteration, and calls it again', async () => {
    const { run, script, servers } = await start([FIND, FLY, FLY, answer()], {
      handoverDue: () => true,
    });
    const step = await run.result;

    expect(step.status).toBe('success');
    expect(run.state.head.spec.stubs?.length).toBeGreaterThan(4_000);
    expect(read(script.requests[0])).toContain('- eel: 1000 tools');
    expect(read(script.requests[1])).toContain('Flies an airship.');
    expect(read(script.requests[1])).toContain('query:');
    expect(servers.calls.map(({ tool }) => tool)).toEqual(['zeppelin', 'zeppelin']);
    expect(run.state.found?.map(({ name }) => name)).toEqual(['eel_zeppelin']);
    expect(run.state.stats.counters['agent:tool_calls:eel_zeppelin']).toBe(2);
  });

  it('shows what its server has when it is found, and keeps that, however often it is found', async () => {
    const started: { servers?: FakeServers } = {};
    const later = (description: string, hash: string): void => {
      started.servers?.now.set('eel', thousand({ description, hash: hash.repeat(16) }));
    };
    const { run, script, servers } = await start([FIND, FIND, FLY, answer()], {
      onEvent: ({ type, iteration }) => {
        if (type !== 'agent:turn:read') return;
        if (iteration === 1) later('Flies an airship, slowly.', 'a');
        if (iteration === 2) later('Sinks an airship.', 'b');
      },
    });
    started.servers = servers;
    await run.result;

    const seen = read(script.requests.at(-1));
    expect(seen).toContain('Flies an airship, slowly.');
    expect(seen).not.toContain('Sinks');
    expect(run.state.found).toMatchObject([{ mcp: { hash: 'a'.repeat(16) } }]);
    expect(servers.calls).toHaveLength(1);
  });

  it('keeps effect and approval of the start, whatever a server says when it is found', async () => {
    const started: { servers?: FakeServers } = {};
    const { run, servers } = await start([FIND, FLY, answer()], {
      zeppelin: { approval: 'always', effect: 'once' },
      onEvent: ({ type }) => {
        if (type === 'agent:turn:read')
          started.servers?.now.set('eel', thousand({ effect: 'read' }));
      },
    });
    started.servers = servers;
    const seen = await run.resultOrPending();

    expect(seen).toMatchObject({ kind: 'pending', pending: [{ tool: 'eel_zeppelin' }] });
    expect(run.state.found).toMatchObject([{ effect: 'once', approval: 'always' }]);
    run.decide('2.1', { approve: true });
    await run.result;
    expect(servers.calls).toHaveLength(1);
  });

  it('calls one that no search has found by its name', async () => {
    const { run, servers } = await start([FLY, answer()]);

    expect((await run.result).status).toBe('success');
    expect(servers.calls).toMatchObject([{ tool: 'zeppelin', args: { query: 'x' } }]);
  });

  it('does not find one that is gone, and is told so if it calls it', async () => {
    const started: { servers?: FakeServers } = {};
    const { run, script, servers } = await start([FIND, FLY, answer()], {
      onEvent: ({ type }) => {
        if (type === 'agent:turn:read') started.servers?.now.set('eel', [{ name: 'other' }]);
      },
    });
    started.servers = servers;
    await run.result;

    const seen = read(script.requests.at(-1));
    expect(seen).not.toContain('Flies an airship');
    expect(seen).toContain('Error: the server eel has no tool zeppelin any more.');
    expect(servers.calls).toEqual([]);
  });

  it('declares what it has found to a provider, in later links and after a compaction', async () => {
    const call = (tool: string): ScriptedReply => ({
      toolCalls: [{ name: tool, args: { query: 'airship' } }],
    });
    const { run, script, servers } = await start(
      [call('tool_registry_search'), call('eel_zeppelin'), call('eel_zeppelin'), 'done'],
      {
        agent: {
          mode: 'chat',
          compaction: {
            triggers: [counter('agent:iterations', 2)],
            strategies: [slidingWindow(1)],
          },
        },
        handoverDue: () => true,
      },
    );
    expect((await run.result).value).toBe('done');
    const names = script.requests.map(({ tools = [] }) => tools.map(({ name }) => name));
    const both = ['tool_registry_search', 'eel_zeppelin'];

    expect(names).toEqual([['tool_registry_search'], both, both, both]);
    expect(script.requests.at(-1)?.tools?.[1]).toMatchObject({
      description: 'Flies an airship.',
      parameters: { properties: { query: { type: 'string' } } },
    });
    expect(read(script.requests.at(-1))).not.toContain('Page 1 of 1');
    expect(run.state.head.found).toHaveLength(1);
    expect(servers.calls).toHaveLength(2);
  });

  it('calls them in programs, found or not, also from what an earlier program defined', async () => {
    const { run, servers, reports } = await start(
      [],
      {
        handoverDue: () => true,
      },
      [
        '(tool/tool_registry_search {:query "airship"})',
        '(do (defn fly [x] (tool/eel-zeppelin {:query x})) (tool/ant_tool_7 {:query "a"}))',
        '(return (fly "b"))',
      ],
    );
    expect((await run.result).status).toBe('success');

    expect(reports.map(({ outcome }) => outcome)).not.toContain('error');
    expect(run.state.found?.map(({ name }) => name)).toEqual(['eel_zeppelin']);
    expect(servers.calls.map(({ tool }) => tool)).toEqual(['tool_7', 'zeppelin']);
  });
});
