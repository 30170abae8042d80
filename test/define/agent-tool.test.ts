import { describe, expect, it } from 'vitest';
import { agentTool, selfTool } from '../../src/define/tool/agent-tool.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { previewPrompt } from '../../src/registry/preview-prompt.ts';
import { createRegistry } from '../../src/registry/registry.ts';
import { isUsageError } from '../../src/core/base/usage-error.ts';

const model = { id: 'm', model: async () => '' };
const writer = defineAgent({ name: 'writer', mode: 'react', description: 'Writes.', model });

/** Codes and messages of what `define` throws. */
function problemsOf(define: () => unknown): readonly (readonly [string, string])[] {
  try {
    define();
  } catch (error) {
    if (isUsageError(error)) {
      return error.problems.map(({ code, message }) => [code, message] as const);
    }
    throw error;
  }
  return [];
}

describe('agentTool', () => {
  it('has the name, description and parameters of its agent', () => {
    expect(agentTool({ agent: writer }).spec).toEqual({
      name: 'writer',
      description: 'Writes.',
      parameters: {
        type: 'object',
        properties: {
          task: { type: 'string', description: 'what it should do, with all it must know' },
        },
        required: ['task'],
        additionalProperties: false,
      },
      effect: 'idempotent',
      local: false,
      timeoutMs: 60_000,
      retry: { attempts: 1, initialMs: 1_000, factor: 2 },
      sequential: false,
      maxResultBytes: 65_536,
      agent: { agent: 'writer' },
    });
  });

  it('takes the schemas of a signature as they are, and one in words as providers want it', () => {
    const input = {
      type: 'object',
      properties: { age: { type: 'integer', minimum: 18, description: 'in years' } },
      required: ['age'],
    };
    const byWords = defineAgent({
      name: 'a',
      mode: 'react',
      model,
      signature: '(day :datetime?) -> :string',
    });
    const bySchema = defineAgent({ name: 'b', mode: 'react', model, signature: { input } });

    expect(agentTool({ agent: byWords }).spec.parameters).toEqual({
      type: 'object',
      properties: { day: { type: 'string' } },
      required: [],
      additionalProperties: false,
    });
    expect(agentTool({ agent: bySchema }).spec.parameters).toEqual(input);
  });

  it.each<{
    name: string;
    define: () => unknown;
    problems: readonly (readonly [string, string])[];
  }>([
    {
      name: 'no agent',
      define: () => agentTool({ agent: {} as never }),
      problems: [
        [
          'agent_tool',
          'Expected `agent` to be what `defineAgent` returns or the name of an agent, got {}. Name one.',
        ],
      ],
    },
    {
      name: 'a name, a description, a model and a cache that cannot be',
      define: () =>
        agentTool({
          agent: writer,
          name: '1',
          description: ' ',
          model: 7 as never,
          cache: 'yes' as never,
        }),
      problems: [
        [
          'tool_name',
          'Expected a tool name of 1 to 64 letters, digits, `_` or `-` that starts with a letter, got `1`. Rename it.',
        ],
        ['agent_tool', 'Expected `description` of `1` to be a text, got " ". Change it.'],
        ['agent_tool', 'Expected `model` of `1` to be the id of a model entry, got 7. Change it.'],
        ['agent_tool', 'Expected `cache` of `1` to be true or false, got "yes". Change it.'],
      ],
    },
    {
      name: 'parameters of no object',
      define: () => agentTool({ agent: writer, parameters: { type: 'string' } }),
      problems: [
        [
          'tool_schema',
          'Expected `parameters` of `writer` to be a schema for an object, got {"type":"string"}. Its root must have `"type": "object"`.',
        ],
      ],
    },
    {
      name: 'an option that is none',
      define: () => agentTool({ agent: writer, timeout: 5 } as never),
      problems: [
        [
          'unknown_option',
          'Expected an option of tool `writer`, got `timeout`. `timeout` is called `limits`, an option of `defineAgent` and `start`.',
        ],
      ],
    },
  ])('refuses $name [row 26]', ({ define, problems }) => {
    expect(problemsOf(define)).toEqual(problems);
  });
});

describe('selfTool', () => {
  it('has the parameters of the agent that has it', () => {
    const { tools } = defineAgent({
      name: 'counter',
      mode: 'react',
      description: 'Counts.',
      model,
      signature: '(text :string) -> :int',
      tools: [selfTool({ name: 'half' })],
    }).spec;

    expect(tools[0]).toMatchObject({
      name: 'half',
      description: 'Counts.',
      parameters: { properties: { text: { type: 'string' } }, required: ['text'] },
      agent: { agent: 'counter' },
    });
  });

  it.each([undefined, '() -> :int'])('needs parameters, not those of %s [sub 1]', (signature) => {
    const define = () =>
      defineAgent({
        name: 'counter',
        mode: 'react',
        model,
        tools: [selfTool()],
        ...(signature === undefined ? {} : { signature }),
      });

    expect(problemsOf(define)).toEqual([
      ['self_tool', 'Expected a `signature` with parameters for `selfTool()`, got none. Add one.'],
    ]);
  });
});

describe('a worker', () => {
  it('knows the agents of tools, and tools learn of agents that they name', () => {
    const middle = defineAgent({
      name: 'middle',
      mode: 'react',
      model,
      tools: [agentTool({ agent: writer })],
    });
    const top = defineAgent({
      name: 'top',
      mode: 'react',
      model,
      tools: [agentTool({ agent: middle })],
    });
    const other = defineAgent({
      name: 'other',
      mode: 'react',
      model,
      tools: [agentTool({ agent: 'writer' })],
    });

    const registry = createRegistry({ agents: [top, other] });

    expect([...registry.agents.keys()]).toEqual(['top', 'other', 'middle', 'writer']);
    const tool = registry.agents.get('other')?.definition.spec.tools[0];
    expect(tool).toEqual(agentTool({ agent: writer }).spec);
    expect(registry.agents.get('other')?.tools.get('writer')?.spec).toEqual(tool);
  });

  it('refuses names and models that it does not have, and two agents of one name', () => {
    const tools = [agentTool({ agent: 'writter' }), agentTool({ agent: writer, model: 'big' })];
    const twin = defineAgent({ name: 'writer', mode: 'react', model });
    const agents = [defineAgent({ name: 'top', mode: 'react', model, tools }), twin];

    expect(problemsOf(() => createRegistry({ agents }))).toEqual([
      [
        'unknown_agent',
        'Agent `top`: Expected the agent of tool `writter` among those of the worker (top, writer), got `writter`. Did you mean `writer`?',
      ],
      [
        'unknown_model',
        'Agent `top`: Expected a model that the worker has (m), got `big`. Add an entry for it.',
      ],
      [
        'duplicate_agent',
        'Expected agent names to be unique, got two agents named `writer`. Rename one.',
      ],
    ]);
  });

  it('previews a prompt with agents that tools name', async () => {
    const top = defineAgent({
      name: 'top',
      mode: 'react',
      model,
      tools: [agentTool({ agent: 'writer' })],
    });

    const { request } = await previewPrompt(top, { task: 'Go', agents: [writer] });

    expect(JSON.stringify(request.messages)).toContain('- writer: Writes.');
    await expect(previewPrompt(top, { task: 'Go' })).rejects.toMatchObject({
      code: 'unknown_agent',
    });
  });
});
