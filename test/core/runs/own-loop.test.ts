import { describe, expect, it } from 'vitest';
import { defineValidator } from '../../../src/define/tool/define-validator.ts';
import type { Next } from '../../../src/core/loop/work.ts';
import type { Entry } from '../../../src/core/contract/entry.ts';
import { textMessage, textOf } from '../../../src/core/base/message.ts';
import { scriptedModel } from '../../../src/testing/scripted-model.ts';
import { replyText } from '../../../src/core/contract/turn.ts';
import { answer, bodiesOf, ownEventsOf, startRun, typesOf } from '../../support/runs.ts';

/** Drafts, has the draft searched for, and ends after two rounds that a validator liked. */
const review: Next = async (work) => {
  const draft = replyText(await work.ask());
  const results = await work.call([
    { callId: `${work.iteration}.1`, tool: 'search', args: { query: draft } },
  ]);
  work.append({ messages: [textMessage('assistant', draft)] });
  work.count('review:rounds');
  work.gauge('review:length', draft.length);
  work.emit('review:drafted', { draft });
  work.setData({ drafts: work.iteration });
  const judgement = await work.judge(results[0]?.text ?? '');
  return judgement.kind === 'accepted'
    ? { kind: 'end', value: judgement.value }
    : { kind: 'continue' };
};

describe('a loop of a user’s own', () => {
  it('[row 7] has statistics, events and data without any code for them', async () => {
    const validator = defineValidator({
      name: 'long-enough',
      validate: (text) => ({ accepted: String(text).length > 12 }),
    });
    const { run, script } = startRun(['one', 'three'], {
      next: review,
      agent: { validators: [validator] },
    });

    const step = await run.result;

    script.assertDone();
    expect([step.status, step.value]).toEqual(['success', 'hits for three']);
    expect(run.state.data).toEqual({ drafts: 2 });
    expect(step.stats.counters).toMatchObject({
      'review:rounds': 2,
      '$self:review:rounds': 2,
      'agent:tool_calls:search': 2,
      'agent:answer_rejected_by:long-enough': 1,
    });
    expect(step.stats.gauges['review:length']).toBe(5);
    expect(ownEventsOf(run.events).slice(0, 3)).toEqual([
      { type: 'review:rounds', data: null, counts: { 'review:rounds': 1 } },
      { type: 'review:length', data: null, gauges: { 'review:length': 3 } },
      { type: 'review:drafted', data: { draft: 'one' } },
    ]);
    expect(typesOf(run.events).slice(1, 16)).toEqual([
      'iteration:before',
      'model_call:before',
      'model_call:after',
      'tool_call:before',
      'tool_call:after',
      'review:rounds',
      'review:length',
      'review:drafted',
      'data:change',
      'validator:called',
      'validator:result',
      'answer:judged',
      'iteration:after',
      'iteration:before',
      'model_call:before',
    ]);
  });

  it.each([
    {
      name: 'on its own key',
      limits: { custom: [{ kind: 'exact', key: 'review:rounds', max: 1 }] },
      ending: ['review:rounds', 2],
    },
    { name: 'on iterations', limits: { iterations: 3 }, ending: ['$self:agent:iterations', 3] },
    { name: 'on calls', limits: { toolCalls: 2 }, ending: ['agent:tool_calls', 2] },
  ] as const)('[row 7] ends at a limit $name', async ({ limits, ending: [reason, iterations] }) => {
    const validator = defineValidator({ name: 'never', validate: () => ({ accepted: false }) });
    const { run } = startRun(['a', 'b', 'c'], {
      next: review,
      limits,
      agent: { validators: [validator] },
    });

    const step = await run.result;

    expect([step.status, step.reason]).toEqual(['limit_exceeded', reason]);
    expect(step.iterations).toBeLessThanOrEqual(iterations + 1);
  });

  it('[row 5] [row 7] replaces its scratchpad in a new epoch, and the history keeps all', async () => {
    const { run, script } = startRun(['a', 'b', 'c'], {
      next: async (work) => {
        const text = replyText(await work.ask());
        work.append({ messages: [textMessage('assistant', text)] });
        if (work.iteration === 2) {
          const summary: Entry = {
            index: 0,
            iteration: 2,
            origin: 'compacted_synthetic',
            messages: [textMessage('user', 'summary')],
          };
          work.setScratchpad([summary]);
        }
        return work.iteration < 3 ? { kind: 'continue' } : { kind: 'end', value: null };
      },
    });

    const step = await run.result;

    expect(step.status).toBe('success');
    expect(run.entries.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(bodiesOf(run.events, 'agent:scratchpad:change')[2]).toEqual({
      type: 'agent:scratchpad:change',
      epoch: 2,
      lengthBefore: 2,
      lengthAfter: 1,
      added: 0,
      removed: 1,
    });
    expect(run.state.mark).toMatchObject({ epoch: 2, length: 2 });
    expect(JSON.stringify(script.requests[2]?.messages)).toContain('summary');
  });

  it('[row 7] asks again in one iteration under a new attempt', async () => {
    const { run, script } = startRun([answer('a'), answer('b')], {
      next: async (work) => {
        await work.ask();
        await work.ask();
        return { kind: 'end', value: null };
      },
    });

    await run.result;

    expect(script.requests.map(({ iteration, attempt }) => [iteration, attempt])).toEqual([
      [1, 1],
      [1, 2],
    ]);
  });

  it('[row 7] asks in its own words, alone or behind the conversation, and nothing of it is kept', async () => {
    const asked = [textMessage('system', 'You judge.'), textMessage('user', 'Good?')];
    const prompted: number[] = [];
    const critic = scriptedModel([
      { content: 'yes', usage: { input_tokens: 900, output_tokens: 1 } },
    ]);
    const { run, script } = startRun(['draft', { content: 'short', usage: { input_tokens: 5 } }], {
      next: async (work) => {
        const draft = replyText(await work.ask());
        work.append({ messages: [textMessage('assistant', draft)] });
        const verdict = replyText(await work.ask({ messages: asked, models: ['critic'] }));
        const title = await work.ask({
          messages: [textMessage('user', 'Give it a title.')],
          conversation: true,
        });
        return { kind: 'end', value: [draft, verdict, replyText(title)] };
      },
      agent: {
        instructions: ({ iteration }) => {
          prompted.push(iteration);
          return 'You write.';
        },
      },
      models: [{ id: 'critic', model: critic.model }],
    });

    const step = await run.result;

    script.assertDone();
    expect(step).toMatchObject({ status: 'success', value: ['draft', 'yes', 'short'] });
    expect(critic.requests).toHaveLength(1);
    expect(critic.requests[0]).toMatchObject({ messages: asked, attempt: 2, iteration: 1 });
    expect(critic.requests[0]?.tools).toBeUndefined();
    expect(script.requests[1]?.messages.slice(1).map(textOf)).toEqual([
      '<task>\nGo\n</task>',
      'draft',
      'Give it a title.',
      'Continue.',
    ]);
    // Instructions are written for requests that have them.
    expect(prompted).toEqual([1, 1]);
    expect(run.entries).toHaveLength(1);
    expect(
      bodiesOf(run.events, 'agent:model_call:before').map(({ model, messages, own }) => [
        model,
        messages,
        own,
      ]),
    ).toEqual([
      ['m', 0, undefined],
      ['critic', 2, true],
      ['m', 2, true],
    ]);
    expect(step.stats.counters).toMatchObject({
      'agent:model_calls': 3,
      'agent:model_calls:critic': 1,
      'agent:input_tokens:critic': 900,
    });
    // How full the window is says the last request of the conversation, not what a critic read.
    expect(run.state.compaction.lastReply).toMatchObject({ messages: 0 });
  });

  it('[row 40] is limited in what it asks in its own words, as in all it asks', async () => {
    const { run } = startRun(['a', 'b'], {
      next: async (work) => {
        await work.ask({ messages: [textMessage('user', 'x')] });
        return { kind: 'continue' };
      },
      limits: { modelCalls: 2 },
    });

    const step = await run.result;

    expect([step.status, step.reason, step.usage.modelCalls]).toEqual([
      'limit_exceeded',
      'agent:model_calls',
      2,
    ]);
  });

  it('[row 4] ends when a model of its own is none that the worker has', async () => {
    const { run } = startRun([], {
      next: async (work) => {
        await work.ask({ messages: [textMessage('user', 'x')], models: ['nobody'] });
        return { kind: 'continue' };
      },
    });

    const step = await run.result;

    expect([step.status, step.reason]).toEqual(['error', 'model_error']);
    expect(step.message).toContain('Expected a model that this worker knows (m), got nobody.');
  });

  it.each<{ name: string; use: (work: Parameters<Next>[0]) => void; message: string }>([
    {
      name: 'a key of the loop',
      use: (work) => work.count('agent:iterations'),
      message:
        'iteration 1: Expected a key of your own, that starts with neither `agent:` nor `$self:`, got `agent:iterations`. Rename it.',
    },
    {
      name: 'a twin',
      use: (work) => work.gauge('$self:mine:x', 1),
      message:
        'iteration 1: Expected a key of your own, that starts with neither `agent:` nor `$self:`, got `$self:mine:x`. Rename it.',
    },
    {
      name: 'a negative step',
      use: (work) => work.count('mine:x', -1),
      message:
        'iteration 1: Expected a step of `mine:x` to be a whole number from 0 up, got -1. Use a gauge for values that fall.',
    },
    {
      name: 'an event that is too large',
      use: (work) => work.emit('mine:x', 'x'.repeat(16_384)),
      message:
        'iteration 1: Expected the data of event `mine:x` to be at most 16384 bytes, got 16386. Send less, or a reference.',
    },
    {
      name: 'an empty request',
      use: (work) => void work.ask({ messages: [] }),
      message: 'iteration 1: Expected a request with messages, got none. Change it.',
    },
    {
      name: 'a request to nobody',
      use: (work) => void work.ask({ messages: [textMessage('user', 'x')], models: [] }),
      message:
        'iteration 1: Expected a request with models, or with those of the agent, got none. Change it.',
    },
    {
      name: 'a request that history could not carry',
      use: (work) => void work.ask({ messages: [textMessage('user', 'x'.repeat(1_000_000))] }),
      message: 'iteration 1: Expected a request of at most 1000000 bytes, got 1000053. Change it.',
    },
  ])('[row 39] [row 47] may not use $name', async ({ use, message }) => {
    const { run } = startRun([], {
      next: async (work) => {
        use(work);
        return { kind: 'end', value: null };
      },
    });

    const step = await run.result;

    expect([step.status, step.reason, step.message]).toEqual(['error', 'loop_error', message]);
  });
});
