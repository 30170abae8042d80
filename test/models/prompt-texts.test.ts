/** A prompt of one's own in whole requests. */
import { describe, expect, test } from 'vitest';
import type { AgentOptions } from '../../src/define/agent/agent-options.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { PromptFunction, PromptInput } from '../../src/define/definition/definitions.ts';
import { textMessage, textOf } from '../../src/core/base/message.ts';
import { createFakeClock } from '../../src/testing/fake-clock.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { START } from '../support/runs.ts';

async function play(prompt: PromptFunction, options: Partial<AgentOptions> = {}) {
  const script = scriptedModel(['no section', '<answer>done</answer>']);
  const agent = defineAgent({
    name: 'tester',
    mode: 'react',
    model: script.model,
    prompt,
    ...options,
  });
  const step = await startInMemory({ agent, task: 'Go', clock: createFakeClock(START) }).result;
  return { step, requests: script.requests };
}

describe('[row 32] a prompt of one’s own', () => {
  test('replaces the system message and nothing else, in every request', async () => {
    const seen: PromptInput[] = [];
    const { step, requests } = await play(
      (input) => {
        seen.push(input);
        const { format, instructions, rules, outputFormat, time } = input;
        return [
          textMessage('system', `${instructions} ${rules} It is ${time.weekday()}.`),
          textMessage(
            'user',
            format.format([{ name: 'layout', content: outputFormat, isVerbatim: true }]),
          ),
        ];
      },
      {
        instructions: ({ iteration }) => `Step ${iteration}.`,
        rules: 'Be brief.',
        thinking: false,
        examples: [textMessage('user', 'An example.')],
      },
    );

    expect(step).toMatchObject({ status: 'success', value: 'done' });
    const layout = seen[0]?.outputFormat ?? '';
    const [first, second] = requests.map(({ messages }) =>
      messages.map((message) => [message.role, textOf(message)]),
    );
    expect(first).toEqual([
      ['system', 'Step 1. Be brief. It is Tuesday.'],
      ['user', `<layout>\n${layout}\n</layout>`],
      ['user', 'An example.'],
      ['user', '<task>\nGo\n</task>'],
      ['user', 'Begin.'],
    ]);
    expect(second?.[0]).toEqual(['system', 'Step 2. Be brief. It is Tuesday.']);
    expect(seen[0]).toMatchObject({
      instructions: 'Step 1.',
      rules: 'Be brief.',
      tools: '',
      method: expect.stringContaining('You solve the task in your reply.') as string,
    });
    expect(layout).toContain('<answer>');
  });

  test.each([
    { name: 'a text', made: 'You are …' },
    { name: 'a message without parts', made: [{ role: 'system' }] },
    { name: 'a message of nobody', made: [{ role: 'boss', parts: [] }] },
  ])('ends the run, with a reason, when it gives $name', async ({ made }) => {
    const { step } = await play(() => made as never);

    expect(step).toMatchObject({ status: 'error', reason: 'model_request_refused' });
    expect(step.message).toContain('Expected `prompt` of tester to return a list of messages, got');
  });
});
