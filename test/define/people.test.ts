/** What of asking people runs on a worker: checks of calls, and tools whose work goes on outside. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { checkLiterals } from '../../src/tools/check-literals.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import type { RegisteredAgent, ToolDefinition } from '../../src/define/definition/definitions.ts';
import { external } from '../../src/define/tool/external.ts';
import { isApprovalNeeded } from '../../src/tools/needs-approval.ts';
import { createRegistry } from '../../src/registry/registry.ts';
import { runTool } from '../../src/tools/run-tool.ts';
import { toolsText } from '../../src/core/tool-search/describe.ts';
import { yamlToolchain } from '../../src/core/toolchain/yaml-calls.ts';

function agentWith(tool: ToolDefinition, fields: object = {}): RegisteredAgent {
  const agent = defineAgent({
    name: 'a',
    mode: 'react',
    model: { id: 'm', model: async () => 'x' },
    tools: [tool],
    askUser: true,
    ...fields,
  });
  const registered = createRegistry({ agents: [agent] }).agents.get('a');
  if (registered === undefined) throw new Error('Expected the agent in its registry.');
  return registered;
}

const order = { agent: 'a', runId: 'r', agentPath: 'a', callId: '1.1', tool: 'work', args: {} };

function workTool(fields: object): ToolDefinition {
  return defineTool({
    name: 'work',
    description: 'Works.',
    execute: () => 1,
    ...fields,
  }) as ToolDefinition;
}

describe('whether a call needs approval [row 24]', () => {
  const parameters = z.object({ amount: z.number() });
  it.each<{
    name: string;
    approval: (args: { readonly amount: number }) => unknown;
    args: object;
    needed: boolean;
  }>([
    {
      name: 'as the function says: yes',
      approval: ({ amount }) => amount > 1,
      args: { amount: 2 },
      needed: true,
    },
    {
      name: 'as the function says: no',
      approval: ({ amount }) => amount > 1,
      args: { amount: 1 },
      needed: false,
    },
    {
      name: 'not with unfit arguments',
      approval: () => true,
      args: { amount: 'x' },
      needed: false,
    },
    { name: 'as a promise says', approval: async () => true, args: { amount: 1 }, needed: true },
  ])('$name', async ({ approval, args, needed }) => {
    const agent = agentWith(workTool({ parameters, approval }));

    expect(
      await isApprovalNeeded(agent.tools.get('work'), { ...order, args: args as never }, 'run-1'),
    ).toBe(needed);
  });

  it('yes, when this worker does not have the function', async () => {
    expect(await isApprovalNeeded(workTool({}), order, 'run-1')).toBe(true);
    expect(await isApprovalNeeded(undefined, { ...order, tool: 'gone' }, 'run-1')).toBe(true);
  });

  it('yes, when the arguments do not fit a server, which may list another schema by the call', async () => {
    const agent = agentWith(workTool({ parameters, approval: () => false }));
    const mcp = { server: 'a', tool: 'work', hash: '0' };

    expect(
      await isApprovalNeeded(
        agent.tools.get('work'),
        { ...order, args: { amount: 'x' }, mcp },
        'run-1',
      ),
    ).toBe(true);
  });

  it('is unknown, when the function gives no boolean', async () => {
    const agent = agentWith(workTool({ approval: () => 'yes' }));

    await expect(isApprovalNeeded(agent.tools.get('work'), order, 'run-1')).rejects.toThrow(
      'Expected `approval` of work to give a boolean, got "yes".',
    );
  });
});

describe('arguments that no tool activity sees', () => {
  it('are checked all at once, with the texts of a tool [row 20]', async () => {
    const agent = agentWith(workTool({ parameters: z.object({ n: z.number() }) }));

    const verdicts = await checkLiterals(agent, {
      agent: 'a',
      calls: [
        { tool: 'ask_user', args: { question: 'Which?' } },
        { tool: 'ask_user', args: { question: '', timeoutMs: 1.5, why: 1 } },
        { tool: 'work', args: { n: 'x' } },
        { tool: 'gone', args: { any: 1 } },
      ],
    });

    expect(
      verdicts.map((verdict) =>
        'text' in verdict ? verdict.text.split('\n').slice(0, 4) : verdict.args,
      ),
    ).toEqual([
      { question: 'Which?' },
      [
        'Error: the arguments do not fit ask_user.',
        '- question: expected at least 1 characters, got 0',
        '- timeoutMs: expected integer, got number 1.5',
        '- why: unknown property',
      ],
      [
        'Error: the arguments do not fit work.',
        '- n: expected number, got string "x"',
        'Parameters:',
        '- n (number, required)',
      ],
      { any: 1 },
    ]);
  });
});

describe('a tool whose work goes on outside [sub 18]', () => {
  const run = (value: unknown) =>
    runTool(agentWith(workTool({ execute: () => value })), order, {
      attempt: 1,
      run: 'run-1',
      signal: new AbortController().signal,
    });

  it('says so, with details as JSON', async () => {
    const value = external({ details: { at: new Date(0) }, timeoutMs: 5 });

    expect(await run(value)).toEqual({
      kind: 'result',
      result: {
        outcome: 'ok',
        external: { details: { at: '1970-01-01T00:00:00.000Z' }, timeoutMs: 5 },
        attempts: 1,
        started: true,
      },
    });
  });

  it.each([
    {
      name: 'are no JSON',
      details: new Map(),
      error: 'Error: the result of work is not JSON: (value) is Map.',
    },
    {
      name: 'are too large',
      details: 'x'.repeat(65_535),
      error: 'Error: the details of its outside work have 65537 bytes, at most 65536 are allowed',
    },
  ])('is an error when its details $name', async ({ details, error }) => {
    expect(await run(external({ details }))).toMatchObject({ result: { outcome: 'error', error } });
  });

  it.each([0, 1.5, -1, Number.NaN, 1e15])('refuses a time of %d', (timeoutMs) => {
    expect(() => external({ timeoutMs })).toThrow('Expected `timeoutMs` of outside work from 1 to');
  });
});

describe('ask_user among searched tools', () => {
  it('is always at hand, and no area counts it [row 27]', () => {
    const { spec } = agentWith(workTool({}), { toolSearch: {} }).definition;

    expect(spec.tools.map(({ name }) => name)).toEqual([
      'work',
      'ask_user',
      'tool_registry_search',
    ]);
    expect(spec.toolSearch?.pins).toEqual(['ask_user']);
    const text = toolsText(spec, yamlToolchain());
    expect(text).toContain('There are 1 tools in these areas:\n- other: 1 tool\n');
    expect(text).toContain('Always at hand:\n\n- ask_user: Ask a person and wait for the answer.');
  });
});
