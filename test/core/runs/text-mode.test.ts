import { describe, expect, test } from 'vitest';
import type { AgentOptions } from '../../../src/define/agent/agent-options.ts';
import { defineAgent } from '../../../src/define/agent/define-agent.ts';
import { startInMemory, type MemoryRunOptions } from '../../../src/testing/run-in-memory.ts';
import { scriptedModel, type ScriptedReply } from '../../../src/testing/scripted-model.ts';
import { renderRequest } from '../../support/render-request.ts';

function start(
  reply: ScriptedReply,
  agent: Partial<AgentOptions> = {},
  options: Partial<MemoryRunOptions> = {},
) {
  const script = scriptedModel([reply]);
  const definition = defineAgent({ name: 'writer', mode: 'text', model: script.model, ...agent });
  const run = startInMemory({ agent: definition, task: 'Write a line.', ...options });
  return { run, script };
}

describe('A run of text [sub 6]', () => {
  test.each([
    '  A line.\r\n\n',
    '{"not": "parsed"}',
    '<answer>x</answer>',
    '```json\n{}\n```',
    'nonsense ☃\u0000 %%',
  ])('the value is the reply exactly as it came: %j', async (text) => {
    const { run, script } = start(text, { signature: '(nothing of this' });

    const step = await run.result;

    script.assertDone();
    expect(step).toMatchObject({
      mode: 'text',
      status: 'success',
      value: text,
      signature: null,
      usage: { modelCalls: 1 },
    });
    expect('schemaUsed' in step.usage).toBe(false);
  });

  test.each(['', ' \n\t '])('a blank reply is `empty_response`: %j', async (text) => {
    const { run, script } = start(text);

    const step = await run.result;

    script.assertDone();
    expect([step.status, step.reason, step.message]).toEqual([
      'error',
      'empty_response',
      'iteration 1: the reply is empty',
    ]);
  });

  test('one that was cut off is no value', async () => {
    const { run } = start(
      { content: 'A long li', finishReason: 'length' },
      { maxContinuations: 0 },
    );

    const step = await run.result;

    expect([step.status, step.reason, step.value]).toEqual(['error', 'answer_cut', null]);
    expect(step.details).toEqual({ text: 'A long li' });
  });

  test('the request: instructions, the task, then what the template left of the context', async () => {
    const { run, script } = start(
      'A line.',
      { instructions: 'You write.', rules: 'Briefly.', prompt: 'About {{topic}}: {{task}}' },
      { context: { topic: 'snow', mood: 'calm', _key: 'SENTINEL' } },
    );

    await run.result;

    const [request] = script.requests;
    await expect(request === undefined ? '' : renderRequest(request)).toMatchFileSnapshot(
      '../../golden/prompts/text-1.txt',
    );
    expect(['schema', 'tools', 'toolChoice'].filter((field) => field in (request ?? {}))).toEqual(
      [],
    );
  });
});
