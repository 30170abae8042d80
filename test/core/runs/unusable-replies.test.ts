/** Replies that are no answers: cut ones, and those that their provider could not use. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent, defineTool } from '../../../src/index.ts';
import { scriptedModel, startInMemory } from '../../../src/testing.ts';
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
