import { describe, expect, test } from 'vitest';
import {
  agentTool,
  defineAgent,
  defineTool,
  defineValidator,
  type AgentDefinition,
  type ModelEntry,
  type ModelReply,
  type RunInfo,
  type ToolDefinition,
} from '../../src/index.ts';
import { textOf } from '../../src/core/base/message.ts';
import {
  scriptedModel,
  startInMemory,
  type MemoryRun,
  type ScriptedReply,
} from '../../src/testing.ts';
import { eventually } from '../support/eventually.ts';

const CONTEXT = { plan: 'pro', _token: 't-1' };

const call = (...names: string[]): ScriptedReply => ({
  toolCalls: names.map((name) => ({ name, args: {} })),
});

const START = { task: 'x', context: CONTEXT, tenant: 'acme', conversation: 'c', by: 'ada' };

describe('the info of a run', () => {
  test('is the same for every function of the agent', async () => {
    const seen: { readonly [name: string]: RunInfo[] } = {
      instructions: [],
      modelMiddleware: [],
      toolMiddleware: [],
      approval: [],
      enabled: [],
      prepare: [],
      modelFor: [],
      tool: [],
      validator: [],
    };
    const note = (name: string, info: RunInfo): void => {
      const { run, tenant, conversation, by, iteration, context } = info;
      const { runId, agent, agentPath } = info;
      seen[name]?.push({
        run,
        runId,
        agent,
        agentPath,
        tenant,
        conversation,
        by,
        iteration,
        context,
      } as RunInfo);
    };
    const script = scriptedModel([call('pay'), 'done']);
    const agent = defineAgent({
      name: 'clerk',
      model: {
        id: 'm',
        model: () => Promise.reject(new Error('the model without a key')),
        modelFor: (info) => {
          note('modelFor', info);
          return script.model;
        },
      },
      instructions: (info) => {
        note('instructions', info);
        return `For ${info.context?.['plan'] as string}.`;
      },
      prepare: (info) => note('prepare', info) as undefined,
      modelMiddleware: [
        (request, next, info) => {
          note('modelMiddleware', info);
          return next(request);
        },
      ],
      toolMiddleware: [
        (one, next, info) => {
          note('toolMiddleware', info);
          return next(one);
        },
      ],
      tools: [
        defineTool({
          name: 'pay',
          description: 'Pays.',
          readsContext: true,
          enabled: (info) => {
            note('enabled', info);
            return true;
          },
          approval: (_args, info) => {
            note('approval', info);
            return false;
          },
          execute: (_args, context) => note('tool', context),
        }),
      ],
      validators: [
        defineValidator({
          name: 'fine',
          readsContext: true,
          validate: (_answer, context) => {
            note('validator', context);
            return { accepted: true };
          },
        }),
      ],
    });

    const step = await startInMemory({ agent, ...START }).result;

    expect(step).toMatchObject({ status: 'success', value: 'done' });
    for (const [name, infos] of Object.entries(seen)) {
      expect(infos.length, name).toBeGreaterThan(0);
      expect(infos[0], name).toEqual({
        run: 'run-1',
        runId: 'run-1',
        agent: 'clerk',
        agentPath: 'clerk',
        tenant: 'acme',
        conversation: 'c',
        by: 'ada',
        iteration: name === 'validator' ? 2 : 1,
        context: CONTEXT,
      });
    }
    expect(textOf(script.requests[0]?.messages[0] ?? { role: 'system', parts: [] })).toBe(
      'For pro.',
    );
  });

  test('names who spoke last, also in the runs below, and nobody after an unnamed message', async () => {
    const named: string[] = [];
    const tool = defineTool({
      name: 'look',
      description: 'Looks.',
      execute: (_args, { agent: name, by = 'nobody' }) => void named.push(`${name}: ${by}`),
    });
    const inner = defineAgent({
      name: 'inner',
      model: { id: 'i', model: scriptedModel([call('look'), 'seen']).model },
      tools: [tool],
    });
    const said = (): ModelReply => {
      run.send('and now?');
      return { toolCalls: [{ name: 'look', args: {} }] };
    };
    const inside = { toolCalls: [{ name: 'inner', args: { task: 'go' } }] };
    const script = scriptedModel([inside, said, call('look'), 'done']);
    const agent = defineAgent({
      name: 'clerk',
      model: script.model,
      tools: [tool, agentTool({ agent: inner })],
    });
    const run: MemoryRun = startInMemory({ agent, task: 'x', by: 'ada' });

    await run.result;

    expect(named).toEqual(['inner: ada', 'clerk: ada', 'clerk: nobody']);
  });
});

describe('what a function decides about a request', () => {
  const tool = (name: string, enabled?: (info: RunInfo) => boolean): ToolDefinition =>
    defineTool({
      name,
      description: name,
      execute: () => name,
      ...(enabled === undefined ? {} : { enabled }),
    });

  test('`prepare` narrows tools, chooses and sets; its outcome is recorded with the reply', async () => {
    const script = scriptedModel([call('look'), 'done']);
    const agent = defineAgent({
      name: 'clerk',
      model: script.model,
      tools: [tool('look'), tool('pay')],
      settings: { temperature: 1, topP: 1 },
      prepare: ({ iteration }) =>
        iteration === 1
          ? { tools: ['look'], toolChoice: { tool: 'look' }, settings: { temperature: 0 } }
          : undefined,
    });

    await startInMemory({ agent, task: 'x' }).result;

    const [first, second] = script.requests;
    expect(first).toMatchObject({
      toolChoice: { tool: 'look' },
      settings: { temperature: 0, topP: 1 },
      notOffered: ['pay'],
      prepared: { tools: ['look'] },
    });
    expect(first?.tools?.map(({ name }) => name)).toEqual(['look']);
    expect(second?.tools?.map(({ name }) => name)).toEqual(['look', 'pay']);
    expect(second).toMatchObject({ toolChoice: 'auto', settings: { temperature: 1, topP: 1 } });
  });

  test.each(['chat', 'react'] as const)(
    'a call of what was not offered is refused in mode %s, also in a later link',
    async (mode) => {
      const ran: string[] = [];
      const isPro = ({ context }: RunInfo): boolean => context?.['plan'] === 'pro';
      const pay = defineTool({
        name: 'pay',
        description: 'Pays.',
        enabled: isPro,
        execute: () => void ran.push('pay'),
      });
      const ask = defineTool({
        name: 'ask',
        description: 'Asks.',
        approval: 'always',
        sequential: true,
        execute: () => void ran.push('ask'),
      });
      const both: ScriptedReply =
        mode === 'chat' ? call('ask', 'pay') : '<action>\n- tool: ask\n- tool: pay\n</action>';
      const done = mode === 'chat' ? 'done' : '<final_answer>done</final_answer>';
      const script = scriptedModel([both, done]);
      const agent: AgentDefinition = defineAgent({
        name: 'clerk',
        mode,
        model: script.model,
        tools: [ask, pay],
      });
      const run = startInMemory({
        agent,
        task: 'x',
        context: { plan: 'free' },
        handoverDue: () => true,
      });

      await eventually('an approval', () => run.pending().length === 1);
      run.decide(run.pending()[0]?.id ?? '', { approve: true });
      await run.result;

      expect(ran).toEqual(['ask']);
      const [first, second] = script.requests.map((request) => JSON.stringify(request));
      expect(first).not.toContain('Pays.');
      expect(second).toContain('pay was not offered, so nothing was run');
    },
  );

  test('`prepare` chooses among the models of the agent; what it costs is that of the chosen', async () => {
    const small = scriptedModel([call('look'), 'done']);
    const large = scriptedModel([call('look')]);
    const usage = { inputTokens: 1_000_000, outputTokens: 0 };
    const priced = (id: string, { model }: typeof small, input: number): ModelEntry => ({
      id,
      model: async (request, io) => ({ ...((await model(request, io)) as ModelReply), usage }),
      price: { input, output: 0 },
    });
    const agent = defineAgent({
      name: 'clerk',
      model: { ...priced('small', small, 1), fallbacks: ['large'] },
      tools: [tool('look')],
      prepare: ({ iteration }) => (iteration === 1 ? { model: 'large' } : {}),
      limits: { costUsd: 100 },
    });
    const run = startInMemory({ agent, task: 'x', models: [priced('large', large, 10)] });

    const { stats, value } = await run.result;

    expect(value).toBe('done');
    expect(stats.counters).toMatchObject({
      'agent:model_calls:large': 1,
      'agent:model_calls:small': 2,
      'agent:cost_microusd:large': 10_000_000,
      'agent:cost_microusd:small': 2_000_000,
    });
    large.assertDone();
    small.assertDone();
  });

  test('a fallback is asked, whatever `prepare` chooses', async () => {
    const refused = Object.assign(new Error('no credit'), { statusCode: 402 });
    const small = scriptedModel(['done']);
    const agent = defineAgent({
      name: 'clerk',
      model: { id: 'large', model: scriptedModel([refused]).model, fallbacks: ['small'] },
      prepare: () => ({ model: 'large' }),
    });

    const step = await startInMemory({
      agent,
      task: 'x',
      models: [{ id: 'small', model: small.model }],
    }).result;

    expect(step).toMatchObject({ status: 'success', value: 'done' });
  });

  test('a budget above holds for the dearest model that `prepare` may choose', async () => {
    const usageOf = (output: number): object => ({ inputTokens: 10, outputTokens: output });
    const dear: ModelEntry = {
      id: 'dear',
      model: (request) => {
        const { maxOutputTokens = 100_000 } = request.settings as { maxOutputTokens?: number };
        return Promise.resolve({ content: 'x', usage: usageOf(maxOutputTokens) as never });
      },
      price: { input: 1, output: 100 },
    };
    const child = defineAgent({
      name: 'child',
      mode: 'text',
      model: {
        id: 'cheap',
        model: () => Promise.resolve('x'),
        price: { input: 1, output: 1 },
        fallbacks: ['dear'],
      },
      prepare: () => ({ model: 'dear' }),
    });
    const parent = defineAgent({
      name: 'parent',
      model: {
        id: 'main',
        model: scriptedModel([{ toolCalls: [{ name: 'child', args: { task: 'x' } }] }, 'done'])
          .model,
        price: { input: 0, output: 0 },
      },
      tools: [agentTool({ agent: child })],
      limits: { costUsd: 0.05 },
    });

    const { usage } = await startInMemory({ agent: parent, task: 'x', models: [dear] }).result;

    expect(usage.costMicroUsd).toBeGreaterThan(10_000);
    expect(usage.costMicroUsd).toBeLessThanOrEqual(50_000);
  });

  test.each([
    [{ model: 'huge' }, 'to name a model of the agent (main), got "huge"'],
    [{ tool: ['look'] }, 'Did you mean `tools`?'],
    [{ tools: ['lok'] }, 'to name tools of the agent (look), got "lok"'],
    [{ settings: { temprature: 1 } }, 'Did you mean `temperature`?'],
    [{ settings: { headers: { authorization: 'x' } } }, 'without keys'],
    [{ toolChoice: { tool: 'pay' } }, 'a tool of the agent (look)'],
    ['look', 'to give { model?, tools?, toolChoice?, settings? }'],
  ])('`prepare` that gives %j is an error that says so', async (given, message) => {
    const { model } = scriptedModel([]);
    const prepare = (): never => given as never;
    const entry = { id: 'main', model };
    const agent = defineAgent({ name: 'clerk', model: entry, tools: [tool('look')], prepare });

    const step = await startInMemory({ agent, task: 'x' }).result;

    expect(step.status).toBe('error');
    expect(step.message).toContain(message);
  });
});
