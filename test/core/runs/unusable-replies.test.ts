/** Replies that are no answers: cut ones, and those that their provider could not use. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent, defineTool } from '../../../src/index.ts';
import { scriptedModel, startInMemory } from '../../../src/testing.ts';
import { joinedText } from '../../../src/core/loop/go-on.ts';
import type { ModelReply } from '../../../src/core/contract/model.ts';

/** An agent of mode chat with a tool whose calls are noted. */
function purging(replies: readonly (ModelReply | string)[], calls: unknown[] = []) {
  const purge = defineTool({
    name: 'purge',
    description: 'Deletes everything, or what `only` names.',
    parameters: z.object({ only: z.string().optional() }),
    effect: 'once',
    execute: (args) => {
      calls.push(args);
      return 'purged';
    },
  });
  const scripted = scriptedModel(replies);
  const agent = defineAgent({ name: 'a', mode: 'chat', model: scripted.model, tools: [purge] });
  return { agent, scripted, calls };
}

describe('a call of a reply that was cut', () => {
  it.each([
    { name: 'without arguments', call: { name: 'purge' } },
    { name: 'with blank ones', call: { name: 'purge', arguments: ' ' } },
    { name: 'with the beginning of them', call: { name: 'purge', arguments: '{"on' } },
  ])('does not run $name', async ({ call }) => {
    const { agent, calls } = purging([{ toolCalls: [call], finishReason: 'length' }, 'Done.']);

    const step = await startInMemory({ agent, task: 'Purge.' }).result;

    expect(calls).toEqual([]);
    expect(step.value).toBe('Done.');
  });

  it('runs with arguments that are whole', async () => {
    const whole = { name: 'purge', arguments: '{"only":"x"}' };
    const { agent, calls } = purging([{ toolCalls: [whole], finishReason: 'length' }, 'Done.']);

    await startInMemory({ agent, task: 'Purge.' }).result;

    expect(calls).toEqual([{ only: 'x' }]);
  });

  it('runs without arguments after a normal end', async () => {
    const { agent, calls } = purging([{ toolCalls: [{ name: 'purge' }] }, 'Done.']);

    await startInMemory({ agent, task: 'Purge.' }).result;

    expect(calls).toEqual([{}]);
  });
});

describe('an empty reply in mode chat', () => {
  it.each([
    { name: 'without anything', reply: '', said: 'the reply is empty' },
    {
      name: 'with reasoning only',
      reply: { reasoning: 'The capital is Rome.' },
      said: 'the reply is empty: it has only reasoning, which nobody reads',
    },
  ])('$name is told without sections, and named at the end', async ({ reply, said }) => {
    const { agent, scripted } = purging([reply, reply, reply, reply]);

    const step = await startInMemory({ agent, task: 'Capital?' }).result;

    const told = JSON.stringify(scripted.requests[1]?.messages.at(-1));
    expect(told).toContain(said);
    expect(told).not.toContain('section');
    expect(step.reason).toBe('agent:format_parse_error_consecutive');
    expect(step.message).toContain(`The last reply: ${said}`);
  });
});

const cut = (content: string): ModelReply => ({ content, finishReason: 'length' });

describe('an answer that was cut off', () => {
  const agentOf = (
    mode: 'chat' | 'text' | 'react',
    replies: readonly (ModelReply | string)[],
    more: object = {},
  ) => {
    const scripted = scriptedModel(replies);
    const base = { name: 'a', model: scripted.model, ...more };
    const agent =
      mode === 'text'
        ? defineAgent({ ...base, mode, prompt: 'Count.' })
        : defineAgent({ ...base, mode });
    return { agent, scripted };
  };

  it.each([
    { mode: 'chat', parts: ['One, tw', 'o, thr', 'ee.'] },
    { mode: 'text', parts: ['One, tw', 'o, thr', 'ee.'] },
    { mode: 'react', parts: ['<answer>\nOne, tw', 'o, thr', 'ee.\n</answer>'] },
  ] as const)('is joined in mode $mode', async ({ mode, parts: [first, second, last] }) => {
    const { agent, scripted } = agentOf(mode, [cut(first), cut(second), last]);

    const step = await startInMemory({ agent, task: 'Count.' }).result;

    scripted.assertDone();
    expect([step.status, step.value, step.iterations]).toEqual(['success', 'One, two, three.', 1]);
    expect(step.usage.modelCalls).toBe(3);
    const [partial, asked] = (scripted.requests[2]?.messages ?? [])
      // Mode react says `Continue.` at the end of each request.
      .filter(({ parts }) => !JSON.stringify(parts).includes('"Continue."'))
      .slice(-2);
    expect(partial?.role).toBe('assistant');
    expect(JSON.stringify(partial)).toContain('One, two, thr');
    expect(asked?.role).toBe('user');
    expect(JSON.stringify(asked)).toContain('Go on exactly where it stopped');
  });

  it.each(['chat', 'text', 'react'] as const)(
    'ends the run when it is always cut, in mode %s',
    async (mode) => {
      const open = mode === 'react' ? '<answer>\n' : '';
      const { agent, scripted } = agentOf(mode, [
        cut(`${open}One, `),
        cut('two, '),
        cut('three, '),
      ]);

      const step = await startInMemory({ agent, task: 'Count.' }).result;

      scripted.assertDone();
      expect([step.status, step.reason, step.value]).toEqual(['error', 'answer_cut', null]);
      expect(step.message).toContain('asked 2 times to go on');
      expect(step.details).toEqual({ text: `${open}One, two, three, ` });
    },
  );

  it('is not asked for with `maxContinuations: 0`', async () => {
    const { agent, scripted } = agentOf('chat', [cut('One, ')], { maxContinuations: 0 });

    const step = await startInMemory({ agent, task: 'Count.' }).result;

    scripted.assertDone();
    expect([step.reason, step.details]).toEqual(['answer_cut', { text: 'One, ' }]);
  });

  it('is not whole because the model says nothing more', async () => {
    const { agent } = agentOf('chat', [cut('One, '), '', { reasoning: 'Hm.' }]);

    expect((await startInMemory({ agent, task: 'Count.' }).result).reason).toBe('answer_cut');
  });

  it('may end in calls', async () => {
    const { agent, calls } = purging([
      cut('I will pur'),
      { content: 'ge.', toolCalls: [{ name: 'purge', args: {} }] },
      'Done.',
    ]);

    const step = await startInMemory({ agent, task: 'Purge.' }).result;

    expect([calls, step.value]).toEqual([[{}], 'Done.']);
  });

  it.each([
    ['One, tw', 'o.', 'One, two.'],
    [
      'The three steps are: first',
      'The three steps are: first, second.',
      'The three steps are: first, second.',
    ],
    [
      'It says: the quick brown fox jumps',
      'the quick brown fox jumps over.',
      'It says: the quick brown fox jumps over.',
    ],
    ['<answer>\nOne, tw', '<answer>\nOne, two.\n</answer>', '<answer>\nOne, two.\n</answer>'],
    ['# Title\nOne', '# Title\nOne, two.', '# Title\nOne, two.'],
    ['```js\na', '```js\nb', '```js\na```js\nb'],
    ['- **Step 1**: a\n', '- **Step 2**: b', '- **Step 1**: a\n- **Step 2**: b'],
  ])('%j and %j are %j', (before, next, whole) => {
    expect(joinedText(before, next)).toBe(whole);
  });
});
