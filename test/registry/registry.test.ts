import { describe, expect, test } from 'vitest';
import { agentTool } from '../../src/define/tool/agent-tool.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { pipeline } from '../../src/define/pipeline/define-pipeline.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { defineValidator } from '../../src/define/tool/define-validator.ts';
import type { AgentDefinition, ToolDefinition } from '../../src/define/definition/definitions.ts';
import type { ModelEntry } from '../../src/define/model/model-entry.ts';
import { createRegistry } from '../../src/registry/registry.ts';
import type { LimitsInput } from '../../src/core/contract/input.ts';
import { silentModel } from '../define/agents.ts';

const search = defineTool({ name: 'search', description: 'Finds.', execute: () => 1 });
const accept = defineValidator({ name: 'accept', validate: () => ({ accepted: true }) });
const entry: ModelEntry = { id: 'm', model: silentModel };
const priced: ModelEntry = { ...entry, price: { input: 1, output: 2 } };

describe('createRegistry', () => {
  test('finds agents, tools, validators and models by name', () => {
    const agent = defineAgent({
      name: 'a',
      mode: 'react',
      model: 'm',
      tools: [search],
      validators: [accept],
    });

    expect(createRegistry({ agents: [agent], models: [priced] })).toEqual({
      agents: new Map([
        [
          'a',
          {
            definition: agent,
            tools: new Map([['search', search]]),
            validators: new Map([['accept', accept]]),
            prices: new Map([['m', { input: 1, output: 2 }]]),
          },
        ],
      ]),
      models: new Map([['m', priced]]),
      packageFolders: expect.arrayContaining([process.cwd()]),
    });
  });

  test('takes entries that stand in definitions, once when agents share one', () => {
    const one = defineAgent({ name: 'one', mode: 'react', model: entry });
    const two = defineAgent({ name: 'two', mode: 'react', model: entry });
    const three = defineAgent({ name: 'three', mode: 'react', model: silentModel });

    const { models } = createRegistry({ agents: [one, two, three] });

    expect(models).toEqual(
      new Map([
        ['m', entry],
        ['three/model', { id: 'three/model', model: silentModel }],
      ]),
    );
  });
});

describe('a limit on cost holds for agents below', () => {
  const free: ModelEntry = { id: 'free', model: silentModel };
  const models = [priced, free];
  const leaf = defineAgent({ name: 'leaf', mode: 'react', model: 'free' });
  const middle = defineAgent({
    name: 'middle',
    mode: 'react',
    model: 'm',
    tools: [agentTool({ agent: leaf })],
  });
  const said = (owner: string): string =>
    `${owner}: Expected a \`price\` for every model under a cost limit, got none for \`free\`. ` +
    "Add it to the model's entry, such as `{ id, model, price: { input: 0.25, output: 2 } }` in dollars per million tokens, or remove the limit. Its child `leaf` uses it.";
  const boss = (tools: readonly ToolDefinition[], limits: LimitsInput = { costUsd: 1 }) =>
    defineAgent({ name: 'boss', mode: 'react', model: 'm', tools, limits });
  const own = { kind: 'exact', key: '$self:agent:cost_microusd', max: 1 } as const;

  test.each<{ name: string; agent: AgentDefinition; problem: string | null }>([
    { name: 'a child', agent: boss([agentTool({ agent: leaf })]), problem: said('Agent `boss`') },
    {
      name: 'a grandchild',
      agent: boss([agentTool({ agent: middle })]),
      problem: said('Agent `boss`'),
    },
    {
      name: 'a stage',
      agent: pipeline('line', [middle, leaf], { limits: { costUsd: 1 } }),
      problem: said('Pipeline `line`'),
    },
    {
      name: 'a child with a model of the tool',
      agent: boss([agentTool({ agent: leaf, model: 'm' })]),
      problem: null,
    },
    {
      name: 'no limit but on the own share',
      agent: boss([agentTool({ agent: leaf })], { custom: [own] }),
      problem: null,
    },
    { name: 'no limit', agent: boss([agentTool({ agent: leaf })], {}), problem: null },
  ])('$name [row 57]', ({ agent, problem }) => {
    const create = (): unknown => createRegistry({ agents: [agent], models });

    if (problem === null) expect(create).not.toThrow();
    else expect(create).toThrow(expect.objectContaining({ message: problem }));
  });
});

describe('[row 26] what is wrong with what a worker is given', () => {
  test('two agents of one name', () => {
    const agents = [1, 2].map(() => defineAgent({ name: 'a', mode: 'react', model: 'm' }));

    expect(() => createRegistry({ agents, models: [entry] })).toThrow(
      expect.objectContaining({
        name: 'UsageError',
        code: 'duplicate_agent',
        message: 'Expected agent names to be unique, got two agents named `a`. Rename one.',
      }),
    );
  });

  test('everything, in one error', () => {
    const a = defineAgent({ name: 'a', mode: 'react', model: 'n', limits: { costUsd: 1 } });
    const b = defineAgent({ name: 'b', mode: 'react', model: 'm', limits: { costUsd: 1 } });
    const models = [entry, { ...entry, model: (async () => '') as never }];

    expect(() => createRegistry({ agents: [a, b, a, { name: 'c' } as never], models })).toThrow(
      expect.objectContaining({
        name: 'UsageError',
        code: 'definition',
        message: [
          'Expected `agents[3]` to be what `defineAgent` returns, got {"name":"c"}. Define it with `defineAgent`.',
          'Expected model ids to be unique, got "m" more than once. Rename all but one.',
          'Agent `a`: Expected a model that the worker has (m), got `n`. Add an entry for it.',
          "Agent `b`: Expected a `price` for every model under a cost limit, got none for `m`. Add it to the model's entry, such as `{ id, model, price: { input: 0.25, output: 2 } }` in dollars per million tokens, or remove the limit.",
          'Expected agent names to be unique, got two agents named `a`. Rename one.',
        ].join('\n'),
      }),
    );
  });

  test('two models under one id', () => {
    const agents = ['a', 'b'].map((name) =>
      defineAgent({ name, mode: 'react', model: { id: 'm', model: async () => name } }),
    );

    expect(() => createRegistry({ agents })).toThrow(
      expect.objectContaining({
        name: 'UsageError',
        code: 'duplicate_model',
        message:
          'Expected one model under the id `m`, got two objects. Share one between the agents, or give them entries with ids of their own.',
      }),
    );
  });

  test('models without any agent that names them are fine', () => {
    expect(createRegistry({ agents: [], models: [entry] }).models.size).toBe(1);
  });
});

describe('a strict entry that agents name by its id', () => {
  const strict: ModelEntry = { id: 'strict', model: 'openai/gpt-5', strict: true };
  const open = defineTool({
    name: 'save',
    description: 'Saves.',
    parameters: { type: 'object', properties: { data: { type: 'object' } } },
    execute: () => 1,
  });

  test.each([
    { name: 'itself', models: [strict], model: 'strict' },
    {
      name: 'as a fallback',
      models: [{ id: 'first', model: 'openai/gpt-5', fallbacks: ['strict'] }, strict],
      model: 'first',
    },
  ])('is checked against their schemas when the worker loads it: $name', ({ models, model }) => {
    const agents = [defineAgent({ name: 'clerk', model, tools: [open] })];

    expect(() => createRegistry({ agents, models })).toThrow(
      /Agent `clerk`: Model `strict` is strict\. Expected tool `save` to have a strict schema, got .* at `.*data/,
    );
  });
});
