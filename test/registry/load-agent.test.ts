import { INLINE_SIZES } from '../../src/core/base/size-limits.ts';
import { anthropic } from '@ai-sdk/anthropic';
import { openai } from '@ai-sdk/openai';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { compileAgent } from '../../src/registry/compile-agent.ts';
import { DEFAULT_COMPACTION } from '../../src/define/agent/define-compaction.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { fanOut } from '../../src/define/pipeline/define-fan-out.ts';
import { pipeline } from '../../src/define/pipeline/define-pipeline.ts';
import type { AgentDefinition } from '../../src/define/definition/definitions.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import { defineValidator } from '../../src/define/tool/define-validator.ts';
import { loadAgentActivity } from '../../src/activities/tool-activities.ts';
import { loadAgent } from '../../src/registry/load-agent.ts';
import type { ModelEntry } from '../../src/define/model/model-entry.ts';
import type { ModelMiddleware } from '../../src/define/definition/middleware.ts';
import type { ParentLink } from '../../src/core/contract/lease.ts';
import type { AgentInput } from '../../src/core/contract/input.ts';
import { startInput } from '../../src/core/start/start-input.ts';
import { DEFAULT_LIMITS } from '../../src/core/limits/default-limits.ts';
import { createRegistry } from '../../src/registry/registry.ts';
import { silentModel } from '../define/agents.ts';

const models: readonly ModelEntry[] = [
  {
    id: 'big',
    model: silentModel,
    contextWindow: 1_000,
    maxOutputTokens: 100,
    price: { input: 1, output: 2 },
    fallbacks: ['small'],
    settings: { temperature: 0 },
  },
  { id: 'small', model: silentModel },
];
const search = defineTool({ name: 'search', description: 'Finds.', execute: () => 1 });
const accept = defineValidator({ name: 'accept', validate: () => ({ accepted: true }) });
const researcher = defineAgent({
  name: 'researcher',
  mode: 'react',
  model: 'big',
  tools: [search],
  validators: [accept],
  limits: { iterations: 5 },
});
const writer = defineAgent({ name: 'writer', mode: 'react', model: 'small' });
const registry = createRegistry({ agents: [researcher, writer], models });

const PARENT: ParentLink = {
  v: 1,
  workflowId: 'top',
  runId: 'x',
  agent: 'top',
  callId: '1.1',
  rootRunId: 'x',
  path: 'top/1/it',
  depth: 1,
  deadlines: [],
  leases: [],
};
const input: AgentInput = { v: 1, agent: 'researcher', task: { text: 'Find it.' } };

function load(fields: object): unknown {
  return loadAgent(registry, { ...input, ...fields });
}

function limitsOf(fields: object): unknown {
  const outcome = loadAgent(registry, { ...input, ...fields });
  return outcome.kind === 'loaded' ? outcome.agent.spec.limits : outcome;
}

describe('the callbacks of a run', () => {
  const onEvent = { url: 'https://hooks.example.com/x', events: ['run.ended'] } as const;
  const batch = fanOut('batch', writer, { onEvent });
  const line = pipeline('line', [writer], { onEvent });
  const callbacksOf = (definition: AgentDefinition, parent?: string): unknown => {
    const known = new Map(models.map((model) => [model.id, model]));
    const start = parent === undefined ? {} : { parent: { ...PARENT, agent: parent } };
    const compiled = compileAgent(definition, known, start);
    return compiled.kind === 'agent' ? compiled.spec.onEvent : compiled;
  };

  test.each([batch, line])('are those of the definition of a $name', (definition) => {
    expect(callbacksOf(definition)).toEqual([onEvent]);
    expect(callbacksOf(definition, 'other')).toEqual([onEvent]);
  });

  test('are not those of its fan-out in a run for a part of the list', () => {
    expect(callbacksOf(batch, 'batch')).toBeUndefined();
  });
});

describe('loadAgent', () => {
  test('refuses a specification that no payload could carry', () => {
    const verbose = defineAgent({
      name: 'verbose',
      mode: 'react',
      model: 'small',
      instructions: 'x'.repeat(INLINE_SIZES.spec),
    });
    const outcome = loadAgent(createRegistry({ agents: [verbose], models }), {
      ...input,
      agent: 'verbose',
    });

    expect(outcome).toEqual({
      kind: 'failed',
      code: 'invalid_input',
      message: expect.stringMatching(
        /^Expected the specification of agent `verbose` to be at most 1048576 bytes, got \d+\. Shorten /,
      ),
    });
  });

  test('needs a task, but none for a fan-out, whose items may be the tasks', () => {
    const each = fanOut('each', writer);
    const started = startInput('each', { context: { items: ['a', 'b'] } });

    const outcome = loadAgent(createRegistry({ agents: [each, writer], models }), started);

    expect(outcome).toMatchObject({ kind: 'loaded' });
    expect(load({ task: { text: '' } })).toMatchObject({ code: 'invalid_input' });
  });

  test('compiles the specification: models with fallbacks, limits, hash', () => {
    const limits = [{ ...DEFAULT_LIMITS[0], max: 5 }, ...DEFAULT_LIMITS.slice(1)];
    const spec = {
      ...researcher.spec,
      models: [
        {
          id: 'big',
          contextWindow: 1_000,
          maxOutputTokens: 100,
          price: { input: 1, output: 2 },
        },
        { id: 'small' },
      ],
      limits,
      onUnknownUsage: 'estimate',
      compaction: DEFAULT_COMPACTION,
    };

    expect(load({})).toEqual({
      kind: 'loaded',
      agent: { spec, warnings: [] },
    });
  });

  test('survives JSON', () => {
    const outcome = load({});

    expect(JSON.parse(JSON.stringify(outcome))).toEqual(outcome);
  });

  test.each([
    {
      name: 'media alone',
      fields: {
        task: { text: '', media: [{ type: 'media', mediaType: 'image/png', data: 'AA==' }] },
      },
    },
    { name: 'a context', fields: { context: { a: [1] } } },
    { name: 'a history', fields: { history: [{ role: 'user', text: 'hi' }] } },
  ])('takes $name', ({ fields }) => {
    expect(load(fields)).toMatchObject({ kind: 'loaded' });
  });

  test("puts a start's limits in place of the definition's", () => {
    expect(limitsOf({ limits: { iterations: 9, toolCalls: 2 } })).toEqual([
      { ...DEFAULT_LIMITS[0], max: 9 },
      ...DEFAULT_LIMITS.slice(1),
      { kind: 'exact', key: 'agent:tool_calls', max: 2 },
    ]);
  });

  test("puts a start's model in place of the agent's", () => {
    expect(load({ model: 'small' })).toMatchObject({
      agent: { spec: { models: [{ id: 'small' }] } },
    });
  });

  test('warns of limits that never trip', () => {
    const custom = [
      { kind: 'exact', key: 'agent:tool_calls:serch', max: 1 },
      { kind: 'exact', key: '$self:agent:model_calls:huge', max: 1 },
      { kind: 'exact', key: 'agent:answer_rejected_by:reject', max: 1 },
      { kind: 'exact', key: 'agent:tool_calls:search', max: 1 },
      { kind: 'exact', key: 'agent:tool_calls_error:(unknown)', max: 1 },
      { kind: 'exact', key: 'agent:model_calls:small', max: 1 },
      { kind: 'exact', key: 'agent:answer_rejected_by:accept', max: 1 },
      { kind: 'prefix', key: 'agent:tool_calls:x', max: 1 },
    ];

    expect(load({ limits: { custom } })).toMatchObject({
      agent: {
        warnings: [
          {
            code: 'unused_limit',
            message:
              'The limit on `agent:tool_calls:serch` never trips: agent `researcher` has no tool `serch`.',
          },
          {
            code: 'unused_limit',
            message:
              'The limit on `$self:agent:model_calls:huge` never trips: agent `researcher` has no model `huge`.',
          },
          {
            code: 'unused_limit',
            message:
              'The limit on `agent:answer_rejected_by:reject` never trips: agent `researcher` has no validator `reject`.',
          },
        ],
      },
    });
  });
});

describe('an unknown agent', () => {
  test.each([
    {
      agent: 'reviewer',
      message:
        'Expected an agent that the worker has (researcher, writer), got `reviewer`. Choose one of them.',
    },
    {
      agent: 'writter',
      message:
        'Expected an agent that the worker has (researcher, writer), got `writter`. Did you mean `writer`?',
    },
  ])('$agent is told with those that exist', ({ agent, message }) => {
    expect(load({ agent })).toEqual({ kind: 'failed', code: 'agent_not_found', message });
  });

  test('is told when there is none at all', () => {
    expect(loadAgent(createRegistry({ agents: [] }), input)).toEqual({
      kind: 'failed',
      code: 'agent_not_found',
      message:
        'Expected an agent that the worker has (it has none), got `researcher`. Choose one of them.',
    });
  });
});

describe('input that does not fit', () => {
  const emptyTask =
    'Expected a task with text or media, got an empty one. Say what the agent should do.';

  test.each([
    {
      name: 'no object',
      given: 'Find it.',
      message:
        'Expected the input of a run to be an object, got "Find it.". Start runs with a client of Everloop.',
    },
    {
      name: 'nothing',
      given: undefined,
      message:
        'Expected the input of a run to be an object, got none. Start runs with a client of Everloop.',
    },
    {
      name: 'another version',
      given: { ...input, v: 2 },
      message:
        'Expected version `v` of the input to be 1, got 2. Start runs with a client of this version.',
    },
    {
      name: 'no agent',
      given: { ...input, agent: undefined },
      message: 'Expected `agent` to be the name of an agent, got none. Name one.',
    },
    { name: 'an empty task', given: { ...input, task: { text: ' \n' } }, message: emptyTask },
    {
      name: 'an empty task with no media',
      given: { ...input, task: { text: '', media: [] } },
      message: emptyTask,
    },
    {
      name: 'a task that is a text',
      given: { ...input, task: 'Find it.' },
      message:
        'Expected `task` to be { text, media? }, got "Find it.". Say what the agent should do.',
    },
    {
      name: 'a task without text',
      given: { ...input, task: {} },
      message: 'Expected `task.text` to be a text, got none. Change it.',
    },
    {
      name: 'media without content',
      given: { ...input, task: { text: 'x', media: [{ type: 'media', mediaType: 'image/png' }] } },
      message:
        'Expected `task.media` to be a list of { type: \'media\', mediaType, url or data }, got [{"type":"media","mediaType":"image/png"}]. Change it.',
    },
    {
      name: 'a context that is a list',
      given: { ...input, context: [1] },
      message: 'Expected `context` to be a JSON object, got [1]. Write it as { name: value }.',
    },
    {
      name: 'a context that is null',
      given: { ...input, context: null },
      message: 'Expected `context` to be a JSON object, got null. Write it as { name: value }.',
    },
    {
      name: 'a history of another shape',
      given: { ...input, history: ['hi'] },
      message:
        "Expected `history` to be a list of { role: 'user' or 'assistant', text }, got [\"hi\"]. Change it.",
    },
    {
      name: 'a model that is no id',
      given: { ...input, model: 5 },
      message: 'Expected `model` to be the id of a model entry, got 5. Change it.',
    },
    {
      name: 'an unknown model',
      given: { ...input, model: 'smal' },
      message:
        'Expected a model that the worker has (big, small), got `smal`. Did you mean `small`?',
    },
    {
      name: 'bad limits',
      given: { ...input, limits: { iterations: -1 } },
      message:
        "Expected limit `iterations` to be a whole number from 0 up or 'unlimited', got -1. Change it.",
    },
    {
      name: 'a cost limit over a model without a price',
      given: { ...input, limits: { costUsd: 1 } },
      message:
        "Expected a `price` for every model under a cost limit, got none for `small`. Add it to the model's entry, such as `{ id, model, price: { input: 0.25, output: 2 } }` in dollars per million tokens, or remove the limit.",
    },
    {
      name: 'everything at once',
      given: { v: 1, agent: '', task: { text: '' }, context: 5 },
      message: [
        'Expected `agent` to be the name of an agent, got "". Name one.',
        emptyTask,
        'Expected `context` to be a JSON object, got 5. Write it as { name: value }.',
      ].join('\n'),
    },
  ])('$name', ({ given, message }) => {
    expect(loadAgent(registry, given)).toEqual({ kind: 'failed', code: 'invalid_input', message });
  });
});

describe('[row 26] cost limits', () => {
  test.each([
    {
      name: 'exact',
      limit: { kind: 'exact' as const, key: 'agent:cost_microusd', max: 1 },
      problem: true,
    },
    {
      name: 'of the run itself',
      limit: { kind: 'exact' as const, key: '$self:agent:cost_microusd', max: 1 },
      problem: true,
    },
    {
      name: 'of that model',
      limit: { kind: 'exact' as const, key: 'agent:cost_microusd:small', max: 1 },
      problem: true,
    },
    {
      name: 'of every model',
      limit: { kind: 'prefix' as const, key: 'agent:cost_microusd:', max: 1 },
      problem: true,
    },
    {
      name: 'by a prefix shorter than the key',
      limit: { kind: 'prefix' as const, key: 'agent:cost', max: 1 },
      problem: true,
    },
    {
      name: 'of another model',
      limit: { kind: 'exact' as const, key: 'agent:cost_microusd:big', max: 1 },
      problem: false,
    },
    {
      name: 'of a model whose id begins another',
      limit: { kind: 'exact' as const, key: 'agent:cost_microusd:smal', max: 1 },
      problem: false,
    },
    {
      name: 'of everything, costs among it',
      limit: { kind: 'prefix' as const, key: 'agent:', max: 1_000_000 },
      problem: false,
    },
  ])('need a price: $name', ({ limit, problem }) => {
    const agent = defineAgent({
      name: 'a',
      mode: 'react',
      model: 'small',
      limits: { custom: [limit] },
    });

    expect(compileAgent(agent, registry.models).kind).toBe(problem ? 'problems' : 'agent');
  });
});

describe('the activity loadAgent', () => {
  const runtime = { heartbeatMs: 3_000, elsewhereMs: 7_000 };
  const activity = loadAgentActivity(registry, runtime);
  const worker = (isLocal: boolean): MockActivityEnvironment =>
    new MockActivityEnvironment({ isLocal }, { logger: new DefaultLogger('ERROR') });
  const loadOn = (isLocal: boolean, fields: object): Promise<unknown> =>
    worker(isLocal)
      .run(activity, { ...input, ...fields } as typeof input)
      .catch((error: unknown) => error);

  test.each([
    ['on its own worker fails for good', true],
    ['[R4] on any worker is tried again', false],
  ])('%s, with the code as type', async (_name, isLocal) => {
    const failure = await loadOn(isLocal, { agent: 'nobody' });

    expect(failure).toBeInstanceOf(ApplicationFailure);
    expect(failure).toMatchObject({
      type: 'agent_not_found',
      nonRetryable: isLocal,
      details: [{ elsewhereMs: 7_000 }],
      message:
        'Expected an agent that the worker has (researcher, writer), got `nobody`. Choose one of them.',
    });
  });

  test('[R4] names the wait of the parent, and the nearest name', async () => {
    const parent = { elsewhereMs: null };
    const failure = await loadOn(true, { agent: 'writter', parent });

    expect(failure).toMatchObject({ details: [{ elsewhereMs: null, near: 'writer' }] });
  });

  test('returns what the pure part loads, and the queues and waits of its worker', async () => {
    const loaded = (await loadOn(true, {})) as object;

    expect({ kind: 'loaded', agent: { ...loaded, runtime: undefined } }).toEqual(load({}));
    expect(loaded).toMatchObject({ runtime });
  });

  test('records the wait of the agent in place of that of the worker', async () => {
    const patient = defineAgent({
      name: 'patient',
      mode: 'react',
      model: 'small',
      elsewhereMs: Infinity,
    });
    const own = loadAgentActivity(createRegistry({ agents: [patient], models }), runtime);

    expect(await worker(true).run(own, { ...input, agent: 'patient' })).toMatchObject({
      runtime: { heartbeatMs: 3_000, elsewhereMs: Infinity },
    });
  });

  describe('on a worker without the key of a model', () => {
    beforeEach(() => {
      vi.stubEnv('OPENAI_API_KEY', undefined);
      vi.stubEnv('ANTHROPIC_API_KEY', undefined);
    });
    afterEach(() => vi.unstubAllEnvs());
    const gpt = { id: 'gpt', model: openai('gpt-5-mini'), fallbacks: ['claude'] };
    const claude = { id: 'claude', model: anthropic('claude-haiku-4-5') };
    const refusalOf = async (
      options: Partial<Parameters<typeof defineAgent>[0]>,
      elsewhereMs = 0,
    ): Promise<unknown> => {
      const agent = defineAgent({ name: 'asker', model: 'gpt', ...options });
      const all = [gpt, claude, { id: 'free', model: silentModel }];
      const load = loadAgentActivity(createRegistry({ agents: [agent], models: all }), {
        heartbeatMs: 3_000,
        elsewhereMs,
      });
      const loaded = await worker(true).run(load, { ...input, agent: 'asker' });
      return (loaded as { readonly refusal?: unknown }).refusal;
    };

    test('refuses the run, and names the variables', async () => {
      expect(await refusalOf({})).toEqual({
        code: 'model_auth',
        message:
          'Expected a key for model `gpt` in OPENAI_API_KEY or ANTHROPIC_API_KEY, got none. Set one of them in the environment of the worker and start again.',
      });
      expect(await refusalOf({ model: 'claude' })).toMatchObject({
        message: expect.stringContaining('in ANTHROPIC_API_KEY, got none. Set it in'),
      });
    });

    test('refuses it for models that are named by their provider, and loaded for that', async () => {
      expect(await refusalOf({ model: 'openai/gpt-5-mini' })).toMatchObject({
        code: 'model_auth',
        message: expect.stringMatching(
          /^Expected a key for model `openai\/gpt-5-mini` in OPENAI_API_KEY, got none\./,
        ),
      });

      vi.stubEnv('OPENAI_API_KEY', 'a-key');
      expect(await refusalOf({ model: 'openai/gpt-5-mini' })).toBeUndefined();
      // Its package is absent, which its call reports.
      expect(await refusalOf({ model: 'xai/grok' })).toBeUndefined();
    });

    test('starts it where it may wait for another worker, or needs no key', async () => {
      const cache: ModelMiddleware = (request, next) => next(request);

      expect(await refusalOf({}, 7_000)).toBeUndefined();
      expect(await refusalOf({ model: 'free' })).toBeUndefined();
      expect(await refusalOf({ modelMiddleware: [cache] })).toBeUndefined();
    });
  });
});
