/** What a worker says of its agents: plain data, without functions and secrets, and bounded. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { mcpServer } from '../../src/define/mcp/mcp-server.ts';
import type { ToolDefinition } from '../../src/define/definition/definitions.ts';
import { describeAgents, MAX_DESCRIPTIONS_BYTES } from '../../src/registry/describe-agents.ts';
import { createRegistry } from '../../src/registry/registry.ts';

const PRICED = { id: 'priced', model: async () => 'Done.', price: { input: 1, output: 5 } };

function toolOf(name: string, words = 1): ToolDefinition {
  return defineTool({
    name,
    description: 'Pays a bill.',
    parameters: z.object({ amount: z.number().describe('EUR '.repeat(words)) }),
    effect: 'once',
    approval: ({ amount }) => amount > 10,
    execute: async () => 'paid',
  }) as ToolDefinition;
}

describe('describeAgents', () => {
  it('gives agents with models, tools and limits, by name, as plain data', () => {
    const clerk = defineAgent({
      name: 'clerk',
      description: 'Pays bills.',
      signature: '(bill :string) -> :bool',
      model: { ...PRICED, fallbacks: ['other'] },
      tools: [
        toolOf('pay'),
        mcpServer({ name: 'notes', command: 'notes', env: { TOKEN: 'hush-hush' } }),
      ],
      limits: { toolCalls: 3 },
    });
    const asker = defineAgent({ name: 'asker', model: 'other' });
    const other = { ...PRICED, id: 'other' };

    const { agents, more } = describeAgents(
      createRegistry({ agents: [clerk, asker], models: [other] }),
    );

    expect(JSON.parse(JSON.stringify(agents))).toEqual(agents);
    expect(JSON.stringify(agents)).not.toContain('hush-hush');
    expect(more).toBe(0);
    expect(agents).toMatchObject([
      { name: 'asker', models: ['other'], tools: [], servers: [], signature: null },
      {
        name: 'clerk',
        description: 'Pays bills.',
        models: ['priced', 'other'],
        signature: expect.stringContaining('bill'),
        parameters: { type: 'object' },
        tools: [
          {
            name: 'pay',
            effect: 'once',
            approval: 'function',
            schema: { properties: { amount: { type: 'number' } } },
          },
        ],
        servers: ['notes'],
        limits: expect.arrayContaining([
          expect.objectContaining({ key: 'agent:tool_calls', max: 3 }),
          expect.objectContaining({ byDefault: true }),
        ]),
      },
    ]);
  });

  it('leaves out what is long, and says how much', () => {
    const many = defineAgent({
      name: 'all-tools',
      model: PRICED,
      tools: Array.from({ length: 210 }, (_, index) => toolOf(`tool_${index}`, 1_000)),
    });
    const large = defineAgent({ name: 'all-words', model: PRICED, tools: [toolOf('pay', 5_000)] });
    const crowd = Array.from({ length: 60 }, (_, index) =>
      defineAgent({
        name: `crowd-${index}`,
        model: PRICED,
        description: 'x'.repeat(9_000),
        tools: Array.from({ length: 20 }, (_, place) => toolOf(`tool_${place}`, 500)),
      }),
    );

    const { agents, more } = describeAgents(createRegistry({ agents: [many, large, ...crowd] }));

    const [inTools, inSchema] = ['all-tools', 'all-words'].map((name) =>
      agents.find((agent) => agent.name === name),
    );
    expect([inTools?.tools.length, inTools?.moreTools]).toEqual([200, 10]);
    expect(inTools?.tools.every(({ schema }) => schema === undefined)).toBe(true);
    expect(inSchema?.tools).toEqual([expect.not.objectContaining({ schema: expect.anything() })]);
    expect(agents.every(({ description }) => description.length <= 2_000)).toBe(true);
    expect(more).toBeGreaterThan(0);
    expect(agents.length + more).toBe(62);
    expect(JSON.stringify(agents).length).toBeLessThan(MAX_DESCRIPTIONS_BYTES + 1_000);
  });
});
