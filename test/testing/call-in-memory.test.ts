import { afterEach, describe, expect, it } from 'vitest';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { AgentOptions } from '../../src/define/agent/agent-options.ts';
import { OWN_PARTS } from '../../src/core/extension/store.ts';
import { extend } from '../../src/core/modes/extend.ts';
import { callInMemory } from '../../src/testing.ts';
import { ownParts } from '../support/own-parts.ts';
import { searchTool } from '../support/runs.ts';

afterEach(() => Reflect.deleteProperty(globalThis, OWN_PARTS));

function agentWith(options: Partial<AgentOptions> = {}): ReturnType<typeof defineAgent> {
  const model = (): never => {
    throw new Error('no model is asked');
  };
  return defineAgent({ name: 'a', model, tools: [searchTool()], ...options });
}

describe('calls in memory', () => {
  it('run as the agent writes them, and count', async () => {
    const agent = agentWith({ mode: 'react', toolchain: 'json' });
    const text = '[{"tool": "search", "args": {"query": "a"}}, {"tool": "serch"}]';
    const { run, results } = callInMemory({ agent, text });

    expect((await results).map(({ text: said, isError }) => [said, isError])).toEqual([
      ['hits for a', false],
      ['Error: unknown tool "serch". Did you mean search? Tools: search.', true],
    ]);
    expect((await run.result).usage).toMatchObject({ toolCalls: 1, modelCalls: 0 });
  });

  it('run in YAML for an agent with native calls, and in an own notation', async () => {
    extend(ownParts);
    const agent = agentWith();
    const yaml = callInMemory({ agent, text: 'tool: search\nargs:\n  query: 007' });
    const own = callInMemory({ agent, text: 'search {"query": "b"}', toolchain: 'own:lines' });

    expect((await yaml.results)[0]?.text).toBe('hits for 007');
    expect((await own.results)[0]?.text).toBe('hits for b');
  });

  it('reject with what the model would read', async () => {
    const { results } = callInMemory({ agent: agentWith(), text: 'search for tea' });

    await expect(results).rejects.toThrow('The action could not be read, nothing was run.');
  });

  it('reject when a limit ends the run', async () => {
    const text = 'tool: search\nargs:\n  query: a';
    const { results } = callInMemory({ agent: agentWith(), text, limits: { toolCalls: 0 } });

    await expect(results).rejects.toThrow('agent:tool_calls');
  });

  it('wait for people', async () => {
    const tool = searchTool();
    const agent = agentWith({ tools: [{ ...tool, spec: { ...tool.spec, approval: 'always' } }] });
    const { run, results } = callInMemory({ agent, text: 'tool: search\nargs:\n  query: a' });
    await run.resultOrPending();
    const [item] = run.pending();
    expect(item).toMatchObject({ tool: 'search' });
    run.decide(item?.id ?? '', { deny: 'no' });

    expect((await results)[0]?.text).toBe('Denied by a person: no.');
  });
});
