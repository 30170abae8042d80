import { describe, expect, it, test } from 'vitest';
import { agentTool } from '../../../src/define/tool/agent-tool.ts';
import { counter, summarize } from '../../../src/define/agent/define-compaction.ts';
import {
  pipeline,
  type PipelineOptions,
  type PipelineStage,
} from '../../../src/define/pipeline/define-pipeline.ts';
import type { AgentDefinition } from '../../../src/define/definition/definitions.ts';
import { humanStep } from '../../../src/define/pipeline/human-step.ts';
import { previewPrompt } from '../../../src/registry/preview-prompt.ts';
import type { Json, JsonObject } from '../../../src/core/base/json.ts';
import { textOf } from '../../../src/core/base/message.ts';
import type { ModelRequest } from '../../../src/core/contract/model.ts';
import { createFakeClock } from '../../../src/testing/fake-clock.ts';
import type { MemoryRun } from '../../../src/testing/memory-run.ts';
import { startInMemory } from '../../../src/testing/run-in-memory.ts';
import { eventually } from '../../support/eventually.ts';
import { jsonStage, stage } from '../../support/pipelines.ts';
import { abortOf, act, answer, bodiesOf, gate, searchTool, typesOf } from '../../support/runs.ts';
import { delegate, observed, ownSums, player, runsOf, treeCounters } from '../../support/trees.ts';

const a = stage('a');
const b = stage('b');
const c = stage('c');
const review = { review: 'slow', score: 2 };
const triage = jsonStage('triage', '-> {review :string, score :int}', review, {
  fieldDescriptions: { review: 'what was said', score: 'from 1 to 5' },
});

/** An agent whose value is what it was given, as JSON. */
const echo = echoOf('echo');

function echoOf(name: string): AgentDefinition {
  return stage(name, ({ messages }) => dataOf(messages.map(textOf).join('\n')), {
    prompt: 'Echo.',
  });
}

/** The data that a request shows, as JSON. */
function dataOf(text: string): string {
  const found = [...text.matchAll(/<data name="([^"]*)"[^>]*>([^]*?)<\/data>/g)];
  return JSON.stringify(Object.fromEntries(found.map(([, name, value]) => [name, value])));
}

describe('a pipeline', () => {
  it('hands the Step of each stage to the next, as one run with exact sums [sub 16]', async () => {
    const run = startInMemory({ agent: pipeline('line', [a, b, triage]), task: 'x' });

    const step = await run.result;

    const stages = await Promise.all(run.children.map(({ result }) => result));
    const last = stages.at(-1);
    expect(stages.map(({ value }) => value)).toEqual(['a(x)', 'b(a(x))', review]);
    expect(step).toEqual({
      v: 1,
      runId: 'run-1',
      agent: 'line',
      mode: 'json',
      status: 'success',
      value: review,
      reason: 'answered',
      signature: '-> {review :string, score :int}',
      fieldDescriptions: { review: 'what was said', score: 'from 1 to 5' },
      usage: {
        inputTokens: 270,
        outputTokens: 30,
        totalTokens: 300,
        cachedInputTokens: 0,
        reasoningTokens: 0,
        costMicroUsd: 300,
        modelCalls: 3,
        modelCallRetries: 0,
        toolCalls: 0,
        durationMs: 0,
      },
      stats: run.state.stats,
      memory: last?.memory,
      notes: [],
      iterations: 3,
      children: stages.map(({ agent, usage }, index) => ({
        childId: `run-1/${index + 1}.spawn-1`,
        agent,
        status: 'success',
        reason: 'answered',
        usage,
      })),
      trace: {
        workflowId: 'run-1',
        executionId: 'run-1',
        firstExecutionId: 'run-1',
        unreadInputs: [],
        chain: { links: 1, events: 16, entries: 0, inputs: 0 },
      },
    });
    const kept = ['iteration:before', 'child:spawn', 'child:complete', 'data:change'];
    expect(typesOf(run.events)).toEqual([
      'execution:before',
      ...kept,
      'iteration:after',
      ...kept,
      'iteration:after',
      ...kept.slice(0, -1),
      'iteration:after',
      'execution:after',
    ]);
    expect(run.children.map(({ events }) => events[0]?.agentPath)).toEqual([
      'line/1/a',
      'line/2/b',
      'line/3/triage',
    ]);
    expect(treeCounters(step.stats)).toEqual(ownSums(runsOf(run).map(({ state }) => state.stats)));
  });

  test.each<{
    name: string;
    stages: readonly PipelineStage[];
    options?: PipelineOptions;
    agents?: readonly AgentDefinition[];
    task?: string;
    context?: JsonObject;
    value: Json;
  }>([
    { name: 'one stage', stages: [a], task: 'x', value: 'a(x)' },
    {
      name: 'a stage by its name',
      stages: ['a', 'b'],
      agents: [a, b],
      task: 'x',
      value: 'b(a(x))',
    },
    {
      name: 'context of the start for the first stage alone',
      stages: [echo, echoOf('second')],
      context: { k: 'v' },
      value: '{"input":"{\\"k\\":\\"v\\"}"}',
    },
    {
      name: 'an object, whose fields are the context',
      stages: [triage, echo],
      value: '{"review":"slow","score":"2"}',
    },
    {
      name: 'a list, which is `input`',
      stages: [jsonStage('list', '-> [:int]', { items: [1, 2] }), echo],
      value: '{"input":"[1,2]"}',
    },
    {
      name: 'agents in parallel',
      stages: [a, [b, 'c']],
      agents: [c],
      task: 'x',
      value: { b: 'b(a(x))', c: 'c(a(x))' },
    },
    {
      name: 'what parallel agents gave, joined under their names',
      stages: [[a, b], echo],
      task: 'x',
      value: '{"a":"a(x)","b":"b(x)"}',
    },
    {
      name: 'the same agent twice, one after the other',
      stages: [a, a],
      task: 'x',
      value: 'a(a(x))',
    },
    {
      name: 'a pipeline as a stage, also among parallel ones',
      stages: [pipeline('inner', [a, b]), [c, pipeline('other', [a, [b, c]])]],
      task: 'x',
      value: {
        c: 'c(b(a(x)))',
        other: { b: 'b(a(b(a(x))))', c: 'c(a(b(a(x))))' },
      },
    },
    {
      name: 'renamed fields',
      stages: [triage, echo],
      options: { map: { review: 'text' } },
      value: '{"text":"slow","score":"2"}',
    },
    {
      name: 'swapped fields',
      stages: [triage, echo],
      options: { map: { review: 'score', score: 'review' } },
      value: '{"score":"slow","review":"2"}',
    },
    {
      name: 'a renamed field that takes the place of another',
      stages: [triage, echo],
      options: { map: { review: 'score' } },
      value: '{"score":"slow"}',
    },
    {
      name: 'a renamed text and a renamed agent, but not in the last value',
      stages: [[a, b], echo, [echo, triage]],
      options: { map: { b: 'second', input: 'said', echo: 'never' } },
      task: 'x',
      value: {
        echo: '{"said":"{\\"a\\":\\"a(x)\\",\\"second\\":\\"b(x)\\"}"}',
        triage: review,
      },
    },
  ])('works with $name [sub 16]', async ({ name: _name, stages, options, value, ...start }) => {
    const agent = pipeline('line', stages, options);

    const step = await startInMemory({ agent, ...start }).result;

    expect([step.status, step.value]).toEqual(['success', value]);
  });

  it('tells each stage what the fields of the one before mean, under their new names', async () => {
    const requests: ModelRequest[] = [];
    const reader = stage('reader', (request) => (requests.push(request), 'read'), {
      prompt: 'Read.',
      contextDescriptions: { score: 'own words' },
    });
    const ask = humanStep({ question: 'More?' });
    const agent = pipeline('line', [triage, ask, reader], { map: { review: 'text' } });
    const run = startInMemory({ agent });
    await run.resultOrPending();
    run.answer('q1', 'no');

    await run.result;

    expect(requests.map(({ messages }) => messages.map(textOf))).toEqual([
      [
        'Read.\n# Context\n<data name="text" about="what was said">slow</data>\n' +
          '<data name="score" about="own words">2</data>\n<data name="answer">no</data>',
      ],
    ]);
  });

  it('begins with a Step, and refuses one without success before any stage [sub 7]', async () => {
    const first = await startInMemory({ agent: triage, task: 'Go' }).result;
    const agent = pipeline('line', [echo]);

    const step = await startInMemory({ agent, context: first }).result;
    const failed = await startInMemory({ agent, context: { ...first, status: 'canceled' } }).result;

    expect(step.value).toBe('{"review":"slow","score":"2"}');
    expect([failed.status, failed.reason, failed.children]).toEqual([
      'error',
      'chained_failure',
      [],
    ]);
  });

  it('takes the inputs of its first stage, and checks them before it starts any', async () => {
    const signed = stage('signed', 'fine', {
      mode: 'json',
      signature: '(n :int) -> :string',
      prompt: '{{n}}',
    });
    const agent = pipeline('line', [signed, a]);

    const refused = await startInMemory({ agent, context: { n: 'many' } }).result;

    expect([refused.reason, refused.message, refused.children]).toEqual([
      'invalid_input',
      'n: cannot coerce string "many" to integer',
      [],
    ]);
    expect(agent.spec.signature).toEqual(expect.objectContaining({ text: '(n :int) -> :any' }));
  });

  it('is a tool like any agent', async () => {
    const line = pipeline('line', [a, b], { description: 'Does a, then b.' });
    const agent = player(
      'boss',
      (request) => (request.iteration === 1 ? delegate(['line', 'x']) : answer(observed(request))),
      { tools: [agentTool({ agent: line })] },
    );
    const run = startInMemory({ agent, task: 'Go' });

    const step = await run.result;

    expect(step.value).toBe('<line>\nb(a(x))\n</line>');
    expect(runsOf(run).map(({ address }) => address)).toEqual([
      'run-1',
      'run-1/1.1',
      'run-1/1.1/1.spawn-1',
      'run-1/1.1/2.spawn-1',
    ]);
    expect(treeCounters(step.stats)).toEqual(ownSums(runsOf(run).map(({ state }) => state.stats)));
  });

  it('hands the model of its start on to all stages, also of pipelines in it', async () => {
    const agent = pipeline('line', [a, pipeline('inner', [b])]);
    const other = { id: 'other', model: () => Promise.resolve('other') };

    const step = await startInMemory({ agent, task: 'x', model: 'other', models: [other] }).result;

    expect(step.value).toBe('other');
    expect(step.stats.counters['agent:model_calls:other']).toBe(2);
  });

  it('refuses a conversation and an unknown model, and has no request to preview', async () => {
    const agent = pipeline('line', [a]);
    const history = [{ role: 'user', text: 'Hi' }] as const;

    expect(() => startInMemory({ agent, task: 'x', history })).toThrow(
      'Expected no `history` for a pipeline, got some. Put what its stages need into `context`.',
    );
    expect(() => startInMemory({ agent, task: 'x', model: 'none' })).toThrow(
      'Expected a model that the worker has (a/m), got `none`. Add an entry for it.',
    );
    await expect(previewPrompt(agent)).rejects.toThrow(
      'Expected an agent that asks a model, got the pipeline `line`. Preview one of its stages.',
    );
  });
});

describe('a stage without success', () => {
  const bad = jsonStage('bad', '-> {n :int}', { n: 'x' }, { maxTurns: 1 });
  const greedy = player('greedy', () => act('q'), {
    tools: [searchTool()],
    limits: { toolCalls: 0 },
  });
  const crowded = player('crowded', ({ iteration }) => (iteration === 1 ? act('q') : ' '), {
    tools: [searchTool()],
    compaction: { triggers: [counter('agent:iterations', 1)], strategies: [summarize()] },
  });
  const lost = stage('lost', 'never', { prompt: '{{nowhere}}' });
  const slow = stage('slow', async (_request, { signal }) => {
    await abortOf(signal);
    throw signal.reason;
  });

  test.each<{
    name: string;
    stages: readonly PipelineStage[];
    /** Called when the named agent asks its model. */
    meanwhile?: (run: MemoryRun) => void;
    message: string;
    upstream: JsonObject;
    children: readonly string[];
  }>([
    {
      name: 'error',
      stages: [a, bad, c],
      message:
        'upstream `bad` ended with validation_error: iteration 1: no answer could be used: n: expected integer, got string "x"',
      upstream: {
        id: 'run-1/2.spawn-1',
        runId: 'run-1/2.spawn-1',
        agent: 'bad',
        status: 'error',
        reason: 'validation_error',
      },
      children: ['a success', 'bad error'],
    },
    {
      name: 'error before its first model call',
      stages: [lost, a],
      message: 'upstream `lost` ended with template_error: missing: {{nowhere}} (line 1, column 1)',
      upstream: {
        id: 'run-1/1.spawn-1',
        runId: 'run-1/1.spawn-1',
        agent: 'lost',
        status: 'error',
        reason: 'template_error',
      },
      children: ['lost error'],
    },
    {
      name: 'limit_exceeded by a limit of its own',
      stages: [greedy, a],
      message:
        'upstream `greedy` ended with agent:tool_calls: limit reached: agent:tool_calls would be 1, the limit is 0',
      upstream: {
        id: 'run-1/1.spawn-1',
        runId: 'run-1/1.spawn-1',
        agent: 'greedy',
        status: 'limit_exceeded',
        reason: 'agent:tool_calls',
      },
      children: ['greedy limit_exceeded'],
    },
    {
      name: 'compaction_failed',
      stages: [crowded, a],
      message:
        'upstream `crowded` ended with compaction_failed: compaction after iteration 2: the summary was empty',
      upstream: {
        id: 'run-1/1.spawn-1',
        runId: 'run-1/1.spawn-1',
        agent: 'crowded',
        status: 'compaction_failed',
        reason: 'compaction_failed',
      },
      children: ['crowded compaction_failed'],
    },
    {
      name: 'canceled by somebody who canceled it alone',
      stages: [a, slow, c],
      meanwhile: (run) => run.children[1]?.cancel('not this one'),
      message: 'upstream `slow` ended with canceled: not this one',
      upstream: {
        id: 'run-1/2.spawn-1',
        runId: 'run-1/2.spawn-1',
        agent: 'slow',
        status: 'canceled',
        reason: 'canceled',
      },
      children: ['a success', 'slow canceled'],
    },
    {
      name: 'error when it was terminated',
      stages: [slow, c],
      meanwhile: (run) => run.children[0]?.terminate(),
      message: 'upstream `slow` ended with internal: terminated',
      upstream: { id: 'run-1/1.spawn-1', agent: 'slow', status: 'error', reason: 'internal' },
      children: ['slow error'],
    },
    {
      name: 'error in a pipeline that is a stage',
      stages: [pipeline('inner', [a, bad])],
      message:
        'upstream `inner` ended with chained_failure: upstream `bad` ended with validation_error: iteration 1: no answer could be used: n: expected integer, got string "x"',
      upstream: {
        id: 'run-1/1.spawn-1',
        runId: 'run-1/1.spawn-1',
        agent: 'inner',
        status: 'error',
        reason: 'chained_failure',
      },
      children: ['inner error'],
    },
    {
      name: 'error beside parallel ones, which it ends',
      stages: [[slow, bad], c],
      message:
        'upstream `bad` ended with validation_error: iteration 1: no answer could be used: n: expected integer, got string "x"',
      upstream: {
        id: 'run-1/1.spawn-2',
        runId: 'run-1/1.spawn-2',
        agent: 'bad',
        status: 'error',
        reason: 'validation_error',
      },
      children: ['bad error', 'slow canceled'],
    },
  ])('ends it: $name [sub 16]', async ({ stages, meanwhile, message, upstream, children }) => {
    const run = startInMemory({
      agent: pipeline('line', stages),
      task: 'x',
      onEvent: (event, child) => {
        if (event.type === 'agent:model_call:before' && event.agent === 'slow') {
          void Promise.resolve(child).then(() => meanwhile?.(run));
        }
      },
    });

    const step = await run.result;

    expect([step.status, step.reason, step.value]).toEqual(['error', 'chained_failure', null]);
    expect(step.message).toBe(message);
    const said = step.message?.slice(step.message.indexOf(': ') + 2);
    expect(step.details).toEqual({ upstream: { ...upstream, message: said } });
    expect(step.children.map(({ agent, status }) => `${agent} ${status}`)).toEqual(children);
  });
});

describe('limits of a pipeline', () => {
  const costly = (name: string): AgentDefinition => stage(name);

  test.each<{ name: string; options: PipelineOptions; key: string; asked: number }>([
    {
      name: 'model calls',
      options: { limits: { modelCalls: 2 } },
      key: 'agent:model_calls',
      asked: 2,
    },
    // A call for which it leaves no room is not made.
    {
      name: 'tokens',
      options: { limits: { totalTokens: 450 } },
      key: 'agent:total_tokens',
      asked: 2,
    },
    {
      name: 'cost',
      options: { limits: { costUsd: 0.00045 } },
      key: 'agent:cost_microusd',
      asked: 2,
    },
    { name: 'children', options: { limits: { children: 2 } }, key: 'agent:children', asked: 2 },
    {
      name: 'iterations',
      options: { limits: { iterations: 2 } },
      key: '$self:agent:iterations',
      asked: 2,
    },
    {
      name: 'children that are refused',
      options: {
        limits: { custom: [{ kind: 'exact', key: 'agent:children', max: 1, onReach: 'refuse' }] },
      },
      key: 'agent:children',
      asked: 1,
    },
    { name: 'depth', options: { limits: { depth: 0 } }, key: 'agent:depth', asked: 0 },
  ])('hold for the whole: $name [row 57]', async ({ options, key, asked }) => {
    const agent = pipeline('line', ['a', 'b', 'c'].map(costly), options);

    const step = await startInMemory({ agent, task: 'x' }).result;

    expect([step.status, step.reason, step.exceededLimit?.origin]).toEqual([
      'limit_exceeded',
      key,
      'self',
    ]);
    expect(step.usage.modelCalls).toBe(asked);
  });

  it('hold for the whole: time, also inside a stage', async () => {
    const clock = createFakeClock();
    const slow = stage('slow', async (_request, { signal }) => {
      const ended = abortOf(signal);
      clock.advance(2_000);
      await ended;
      throw signal.reason;
    });
    const agent = pipeline('line', [a, slow, c], { limits: { wallClockMs: 1_000 } });

    const step = await startInMemory({ agent, task: 'x', clock }).result;

    expect([step.status, step.reason]).toEqual(['limit_exceeded', 'agent:wall_clock_ms']);
    expect(step.children.map(({ agent: name, status }) => `${name} ${status}`)).toEqual([
      'a success',
      'slow limit_exceeded',
    ]);
  });

  it('share what is left among parallel stages, and end all that are in one', async () => {
    const agent = pipeline('line', [[a, b, c]], { limits: { modelCalls: 2 } });

    const step = await startInMemory({ agent, task: 'x' }).result;

    expect([step.status, step.reason]).toEqual(['limit_exceeded', 'agent:model_calls']);
    expect(step.usage.modelCalls).toBeLessThanOrEqual(2);
  });

  it('name the run above whose limit it was', async () => {
    const inner = pipeline('inner', [a, b, c]);
    const agent = pipeline('outer', [inner], { limits: { modelCalls: 2 } });
    const run = startInMemory({ agent, task: 'x' });

    const step = await run.result;
    const below = await run.children[0]?.result;

    expect([step.status, step.reason, step.exceededLimit?.origin]).toEqual([
      'limit_exceeded',
      'agent:model_calls',
      'self',
    ]);
    expect([below?.status, below?.exceededLimit?.origin]).toEqual([
      'limit_exceeded',
      { runId: 'run-1', agent: 'outer' },
    ]);
  });
});

describe('messages to a pipeline', () => {
  test.each<{
    name: string;
    at: number;
    stages: readonly PipelineStage[];
    children: readonly string[];
  }>([
    { name: 'the first stage', at: 1, stages: ['slow', 'b'], children: ['slow canceled'] },
    {
      name: 'the last stage',
      at: 2,
      stages: ['a', 'slow'],
      children: ['a success', 'slow canceled'],
    },
    {
      name: 'a parallel stage',
      at: 2,
      stages: ['a', ['slow', 'slow2']],
      children: ['a success', 'slow canceled', 'slow2 canceled'],
    },
    {
      name: 'a question',
      at: 2,
      stages: ['a', humanStep({ question: 'Go on?' }), 'b'],
      children: ['a success'],
    },
  ])('a cancel ends it in $name [row 2]', async ({ stages, children, at }) => {
    const slow = ['slow', 'slow2'].map((name) =>
      stage(name, async (_request, { signal }) => {
        await abortOf(signal);
        throw signal.reason;
      }),
    );
    const run = startInMemory({
      agent: pipeline('line', stages),
      agents: [a, b, ...slow],
      task: 'x',
      onEvent: ({ type, agent, iteration }) => {
        const isThere =
          (type === 'agent:model_call:before' && agent.startsWith('slow')) ||
          (type === 'agent:question:asked' && iteration === at);
        if (isThere) void Promise.resolve().then(() => run.cancel('enough'));
      },
    });

    const step = await run.result;

    expect([step.status, step.reason, step.message]).toEqual(['canceled', 'canceled', 'enough']);
    expect(step.children.map(({ agent, status }) => `${agent} ${status}`)).toEqual(children);
  });

  it('input goes into the task of the stages that follow [row 8]', async () => {
    const held = gate();
    const first = stage('first', async () => (await held.opened, 'one'));
    const reader = (name: string): AgentDefinition =>
      stage(name, ({ messages }) => messages.map(textOf).join('|'), {
        prompt: '{{task}} after {{input}}',
      });
    const run = startInMemory({
      agent: pipeline('line', [first, reader('second'), reader('third')]),
      task: 'x',
    });
    run.send('mind the tone');
    await Promise.resolve();
    held.open();

    const step = await run.result;

    expect(step.value).toBe('x\n\nmind the tone after x\n\nmind the tone after one');
    expect(step.trace.unreadInputs).toEqual([]);
  });

  test.each<{ name: string; kind: 'queue' | 'interrupt'; children: readonly string[] }>([
    {
      name: 'an interrupting one begins the stage anew',
      kind: 'interrupt',
      children: ['a success', 'last canceled', 'last success'],
    },
    {
      name: 'one that comes in the last stage lets it run again',
      kind: 'queue',
      children: ['a success', 'last success', 'last success'],
    },
  ])('input: $name [row 8]', async ({ kind, children }) => {
    let asked = 0;
    const last = stage(
      'last',
      async ({ messages }, { signal }) => {
        asked += 1;
        if (asked === 1) {
          const aborted = abortOf(signal);
          run.send('shorter', { kind });
          if (kind === 'interrupt') {
            await aborted;
            throw signal.reason;
          }
        }
        return messages.map(textOf).join('');
      },
      { prompt: '{{task}}: {{input}}' },
    );
    const run: MemoryRun = startInMemory({ agent: pipeline('line', [a, last]), task: 'x' });

    const step = await run.result;

    expect([step.status, step.value]).toEqual(['success', 'x\n\nshorter: a(x)']);
    expect(step.children.map(({ agent, status }) => `${agent} ${status}`)).toEqual(children);
  });

  it('a pause lets the stage end, and none begin', async () => {
    const run = startInMemory({
      agent: pipeline('line', [a, b]),
      task: 'x',
      onEvent: ({ type, agent }) => {
        if (type === 'agent:model_call:after' && agent === 'a') run.pause();
      },
    });
    // What does not wait for something goes on at once behind it, before anybody looks.
    const outcomes = await eventually('the end of the first stage', () => {
      const ends = bodiesOf(run.events, 'agent:iteration:after');
      return ends.length > 0 && ends.map(({ outcome }) => outcome);
    });
    const spawned = run.children.map(({ state }) => state.head.spec.name);
    run.resume();

    const step = await run.result;

    expect([spawned, outcomes, step.value]).toEqual([['a'], ['continue'], 'b(a(x))']);
  });
});

describe('humanStep', () => {
  it('waits for a person, whose answer joins as `answer` [sub 16] [sub 17]', async () => {
    const ask = humanStep({ question: 'Send {{review}} for {{task}}?', options: ['yes', 'no'] });
    const run = startInMemory({ agent: pipeline('line', [triage, ask, echo]), task: 'x' });

    const waiting = await run.resultOrPending();
    expect(() => run.answer('q1', 'maybe')).toThrow('answer one of: 1 yes, 2 no');
    run.answer('q1', 1);
    const step = await run.result;

    expect(waiting).toEqual({
      kind: 'pending',
      pending: [
        {
          id: 'q1',
          kind: 'question',
          agent: 'line',
          path: 'line',
          since: run.events[0]?.at,
          question: 'Send slow for x?',
          options: ['yes', 'no'],
          free: false,
        },
      ],
    });
    expect(step.value).toBe('{"review":"slow","score":"2","answer":"yes"}');
    expect(step.stats.counters['agent:questions']).toBe(1);
  });

  test.each<{
    name: string;
    stages: readonly PipelineStage[];
    options?: PipelineOptions;
    context?: JsonObject;
    value: Json;
  }>([
    {
      name: 'first',
      stages: ['ask', 'echo'],
      context: { k: 'v' },
      value: '{"k":"v","answer":"fine"}',
    },
    { name: 'alone', stages: ['ask'], value: { answer: 'fine' } },
    { name: 'last, behind a text', stages: ['a', 'ask'], value: { input: 'a(x)', answer: 'fine' } },
    {
      name: 'renamed',
      stages: ['ask', 'echo'],
      options: { map: { answer: 'verdict' } },
      value: '{"verdict":"fine"}',
    },
    {
      name: 'twice, of which the later answer stays',
      stages: ['ask', 'ask', 'echo'],
      value: '{"answer":"fine"}',
    },
  ])('stands anywhere: $name', async ({ stages, options, context, value }) => {
    const ask = humanStep({ question: 'How is it?' });
    const placed = stages.map((name) => (name === 'ask' ? ask : name));
    const run = startInMemory({
      agent: pipeline('line', placed, options),
      agents: [a, echo],
      task: 'x',
      ...(context === undefined ? {} : { context }),
      onEvent: (event) => {
        if (event.type !== 'agent:question:asked') return;
        void Promise.resolve().then(() => run.answer(event.questionId, 'fine'));
      },
    });

    const step = await run.result;

    expect([step.status, step.value]).toEqual(['success', value]);
  });

  it('shows its question in the runs above, with the path', async () => {
    const inner = pipeline('inner', [humanStep({ question: 'Go on?' })]);
    const run = startInMemory({ agent: pipeline('outer', [a, inner]), task: 'x' });

    const waiting = await run.resultOrPending();

    expect(waiting).toMatchObject({
      kind: 'pending',
      pending: [{ question: 'Go on?', path: 'outer/2/inner', run: 'run-1/2.spawn-1' }],
    });
    run.children[1]?.answer('q1', 'yes');
    expect((await run.result).value).toEqual({ input: 'a(x)', answer: 'yes' });
  });

  it('ends the pipeline when nobody answers in time', async () => {
    const clock = createFakeClock();
    const ask = humanStep({ question: 'Print {{input}}?', timeoutMs: 3_600_000 });
    const run = startInMemory({ agent: pipeline('line', [a, ask, b]), task: 'x', clock });
    await run.resultOrPending();

    clock.advance(3_600_000);
    const step = await run.result;

    const said = 'Nobody answered "Print a(x)?" within 1 h.';
    expect([step.reason, step.message]).toEqual([
      'chained_failure',
      `upstream \`humanStep\` ended with unanswered: ${said}`,
    ]);
    expect(step.details).toEqual({
      upstream: {
        runId: 'run-1',
        agent: 'humanStep',
        status: 'error',
        reason: 'unanswered',
        message: said,
      },
    });
  });

  test.each<{ name: string; limits: PipelineOptions['limits'] }>([
    { name: 'a limit', limits: { questions: 0 } },
    {
      name: 'a limit that refuses, for a model would be told so and a pipeline has none',
      limits: { custom: [{ kind: 'exact', key: 'agent:questions', max: 0, onReach: 'refuse' }] },
    },
  ])('is under limits: $name', async ({ limits = {} }) => {
    const ask = humanStep({ question: 'Go on?' });

    const step = await startInMemory({ agent: pipeline('line', [ask], { limits }) }).result;

    expect([step.status, step.reason]).toEqual(['limit_exceeded', 'agent:questions']);
  });

  it('ends the pipeline when its question names what is not there', async () => {
    const ask = humanStep({ question: 'Send {{letter}}?' });

    const step = await startInMemory({ agent: pipeline('line', [a, ask]), task: 'x' }).result;

    expect([step.reason, step.message]).toEqual([
      'template_error',
      'the question of stage 2 cannot be written: missing: {{letter}} (line 1, column 6)',
    ]);
  });
});

describe('a hand-over of a pipeline', () => {
  it('changes nothing, between stages and while a question waits [row 6]', async () => {
    const ask = humanStep({ question: 'Go on?' });
    const agent = pipeline('line', [triage, ask, [a, echo], echoOf('last')], {
      map: { review: 'input' },
    });
    const play = async (handoverDue: () => boolean): Promise<MemoryRun> => {
      const run = startInMemory({ agent, task: 'x', handoverDue });
      await run.resultOrPending();
      run.answer('q1', 'yes');
      await run.result;
      return run;
    };

    const plain = await play(() => false);
    const handed = await play(() => true);

    const links = bodiesOf(handed.events, 'agent:execution:handover').map(({ run }) => run);
    expect(links).toEqual([1, 2, 3, 4, 5]);
    const step = await handed.result;
    const same = await plain.result;
    const trace = { ...same.trace, chain: step.trace.chain };
    expect(step).toEqual({ ...same, stats: step.stats, trace });
    expect(step.trace.chain.links).toBe(6);
    expect(bodiesOf(handed.events, 'agent:question:asked')).toHaveLength(1);
    expect(handed.state.link).toBe(6);
  });
});

describe('memory of programs [sub 7]', () => {
  /** An agent that plays one program. */
  const program = (name: string, source: string): AgentDefinition =>
    stage(name, `\`\`\`clojure\n${source}\n\`\`\``, { mode: 'lisp', prompt: 'Go.', maxTurns: 1 });
  const first = program('first', '(def kept 41) (return {:a 1})');
  const adds = program('adds', '(def kept (inc kept)) (return kept)');
  const between = jsonStage('between', '-> {b :int}', { b: 2 });

  it('carries from one lisp stage to the next, over stages without programs', async () => {
    const agent = pipeline('line', [first, between, adds, a, adds], { memory: 'carry' });

    const step = await startInMemory({ agent, task: 'x' }).result;

    expect([step.status, step.value]).toEqual(['success', 43]);
    expect(step.memory).toMatchObject({ v: 1 });
  });

  it.each([undefined, 'none'] as const)('starts empty with memory %s', async (memory) => {
    const options = memory === undefined ? {} : { memory };
    const agent = pipeline('line', [first, between, adds], options);

    const step = await startInMemory({ agent, task: 'x' }).result;

    expect([step.status, step.reason]).toEqual(['error', 'chained_failure']);
    expect(step.message).toContain('upstream `adds` ended with');
  });

  it('carries what the last of parallel stages in the list left', async () => {
    const agent = pipeline(
      'line',
      [
        [program('one', '(def kept 1) (return 1)'), program('two', '(def kept 2) (return 2)'), a],
        adds,
      ],
      { memory: 'carry' },
    );

    expect((await startInMemory({ agent, task: 'x' }).result).value).toBe(3);
  });

  it('carries over hand-overs, and begins with what the start gives', async () => {
    const { memory } = await startInMemory({ agent: first }).result;
    const agent = pipeline('line', [between, adds, adds], { memory: 'carry' });

    const step = await startInMemory({ agent, memory, handoverDue: () => true }).result;

    expect(step.value).toBe(43);
  });
});
