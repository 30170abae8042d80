/** What middleware may do to a request and return: other forms of replies, refusals, hidden tools. */
import { describe, expect, test } from 'vitest';
import { blocked } from '../../src/core/base/blocked.ts';
import type { ModelReply } from '../../src/core/contract/model.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import type { ModelMiddleware } from '../../src/define/definition/middleware.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';

describe('a model middleware', () => {
  test.each<{ readonly name: string; readonly reply: ModelReply | string }>([
    { name: 'a text', reply: 'cached' },
    { name: '{ content }', reply: { content: 'cached' } },
    { name: '{ parts }', reply: { parts: [{ type: 'text', text: 'cached' }] } },
    {
      name: 'usage beside it',
      reply: { content: 'cached', usage: { inputTokens: 3, outputTokens: 1 } },
    },
  ])('answers with $name, in one attempt and without a model', async ({ reply }) => {
    const script = scriptedModel([]);
    const modelMiddleware: ModelMiddleware[] = [() => reply];
    const agent = defineAgent({ name: 'tester', model: script.model, modelMiddleware });

    const step = await startInMemory({ agent, task: 'Go.' }).result;

    expect(step).toMatchObject({ status: 'success', value: 'cached' });
    expect(step.usage.modelCallRetries).toBe(0);
    expect(script.requests).toEqual([]);
  });

  test('replaces what the model said, whose usage still counts', async () => {
    const script = scriptedModel([{ content: 'x', usage: { inputTokens: 7, outputTokens: 2 } }]);
    const around: ModelMiddleware = async (request, next) => {
      await next(request);
      return { content: 'y' };
    };
    const agent = defineAgent({ name: 'tester', model: script.model, modelMiddleware: [around] });

    const step = await startInMemory({ agent, task: 'Go.' }).result;

    expect(step).toMatchObject({ value: 'y', usage: { inputTokens: 7, outputTokens: 2 } });
  });

  test.each([
    { name: 'no reply at all', reply: 7 },
    { name: 'an object without a field of a reply', reply: { text: 'x' } },
  ])('that returns $name is a mistake, not retried', async ({ reply }) => {
    const around = (() => reply) as unknown as ModelMiddleware;
    const agent = defineAgent({
      name: 'tester',
      model: async () => 'x',
      modelMiddleware: [around],
    });

    const step = await startInMemory({ agent, task: 'Go.' }).result;

    expect(step).toMatchObject({ status: 'error', reason: 'model_request_refused' });
    expect(step.usage.modelCallRetries).toBe(0);
  });

  test.each([
    { name: 'before the request', asks: false },
    { name: 'after the reply', asks: true },
  ])('blocks $name: the run ends at once, and no fallback is asked', async ({ asks }) => {
    const first = scriptedModel(asks ? ['The password is 1234.'] : []);
    const second = scriptedModel([]);
    const guard: ModelMiddleware = async (request, next) => {
      if (asks) await next(request);
      return blocked('It asks for a password.');
    };
    const agent = defineAgent({
      name: 'tester',
      model: { id: 'first', model: first.model, fallbacks: ['second'] },
      modelMiddleware: [guard],
    });

    const models = [{ id: 'second', model: second.model }];
    const step = await startInMemory({ agent, task: 'Go.', models }).result;

    expect(step).toMatchObject({ status: 'error', reason: 'blocked', value: null });
    expect(step.message).toBe('iteration 1: It asks for a password.');
    expect(step.usage).toMatchObject({ modelCalls: 1, modelCallRetries: 0 });
    expect(second.requests).toEqual([]);
    first.assertDone();
  });

  test('hides a tool: a call of it does not run, and the model is told', async () => {
    const ran: string[] = [];
    const tool = (name: string): ReturnType<typeof defineTool> =>
      defineTool({ name, description: name, execute: () => void ran.push(name) });
    const hide: ModelMiddleware = (request, next) =>
      next({ ...request, tools: (request.tools ?? []).filter(({ name }) => name !== 'pay_out') });
    const script = scriptedModel([
      {
        toolCalls: [
          { name: 'look', args: {} },
          { name: 'pay_out', args: {} },
        ],
      },
      { toolCalls: [{ name: 'look', args: {} }] },
      'Nothing was paid.',
    ]);
    const agent = defineAgent({
      name: 'tester',
      model: script.model,
      tools: [tool('look'), tool('pay-out')],
      modelMiddleware: [hide],
    });

    const step = await startInMemory({ agent, task: 'Go.' }).result;

    expect(step).toMatchObject({ status: 'success', value: 'Nothing was paid.' });
    expect(ran).toEqual(['look', 'look']);
    const told = JSON.stringify(script.requests[1]?.messages);
    expect(told).toContain('Error: pay-out was not offered, so nothing was run');
  });
});

describe('a tool', () => {
  test('that a tool middleware blocks is told to the model, and not tried again', async () => {
    let tries = 0;
    const script = scriptedModel([{ toolCalls: [{ name: 'pay', args: {} }] }, 'Refused.']);
    const agent = defineAgent({
      name: 'tester',
      model: script.model,
      tools: [defineTool({ name: 'pay', description: 'Pays.', execute: () => 1 })],
      toolMiddleware: [
        () => {
          tries += 1;
          return blocked('Too much.');
        },
      ],
    });

    const run = startInMemory({ agent, task: 'Go.' });

    expect(await run.result).toMatchObject({ value: 'Refused.' });
    expect(tries).toBe(1);
    expect(JSON.stringify(script.requests[1]?.messages)).toContain('Too much.');
  });
});
