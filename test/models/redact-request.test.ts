/** What `redact` of an agent does to requests, and what its mistakes do to a run. */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { AgentOptions } from '../../src/define/agent/agent-options.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { RedactText } from '../../src/define/definition/definitions.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import type { ModelRequest } from '../../src/core/contract/model.ts';
import { redactRequest } from '../../src/models/redact-request.ts';
import { redactTexts } from '../../src/tools/redact-texts.ts';
import { startInMemory } from '../../src/testing/run-in-memory.ts';
import { scriptedModel, type ScriptedReply } from '../../src/testing/scripted-model.ts';

const CARD = '4111111111111111';
const redact: RedactText = (text) => text.replaceAll(/\b\d{16}\b/g, '[card]');

async function play(replies: readonly ScriptedReply[], options: Partial<AgentOptions>) {
  const script = scriptedModel(replies);
  const agent = defineAgent({
    name: 'clerk',
    mode: 'chat',
    model: script.model,
    redact,
    ...options,
  });
  const run = startInMemory({ agent, task: `Charge ${CARD}.`, context: { card: CARD } });
  const step = await run.result;
  return { step, run, requests: script.requests };
}

describe('redact of an agent', () => {
  it('takes its patterns out of all that models read, and changes nothing that is kept', async () => {
    const read = defineTool({
      name: 'read',
      description: 'Reads.',
      parameters: z.object({ card: z.string() }),
      execute: ({ card }) => ({ card, owner: 'Ada' }),
    });
    const { step, run, requests } = await play(
      [
        { toolCalls: [{ name: 'read', args: { card: CARD } }] },
        { toolCalls: [{ name: 'llm_query', args: { prompt: `Is ${CARD} valid?` } }] },
        'Yes.',
        `Charged ${CARD}.`,
      ],
      { tools: [read], llmQuery: true, instructions: `Never say ${CARD}.` },
    );

    expect(step).toMatchObject({ status: 'success', value: `Charged ${CARD}.` });
    expect(requests.length).toBe(4);
    for (const request of requests) {
      expect(JSON.stringify(request.messages)).toContain('[card]');
      expect(JSON.stringify(request.messages)).not.toContain(CARD);
    }
    const kept = JSON.stringify(run.state);
    expect(kept).toContain(CARD);
    expect(kept).not.toContain('[card]');
  });

  it('gives what the transcript has to tools', async () => {
    const seen: unknown[] = [];
    const pay = defineTool({
      name: 'pay',
      description: 'Pays.',
      parameters: z.object({ card: z.string() }),
      execute: (args) => void seen.push(args),
    });
    await play([{ toolCalls: [{ name: 'pay', args: { card: CARD } }] }, 'Done.'], { tools: [pay] });

    expect(seen).toEqual([{ card: CARD }]);
  });

  it.each([
    {
      name: 'throws',
      broken: () => {
        throw new Error('no pattern');
      },
      message: 'no pattern',
    },
    {
      name: 'returns no text',
      broken: () => 7 as unknown as string,
      message: 'Expected `redact` of clerk to return a text, got 7. Correct it.',
    },
    {
      name: 'returns a promise',
      broken: (() => Promise.reject(new Error('late'))) as unknown as RedactText,
      message: 'Expected `redact` of clerk to return a text, got a promise. Correct it.',
    },
    {
      name: 'returns far too much',
      broken: () => 'x'.repeat(10_000_000),
      message: 'characters, got more. Correct it.',
    },
  ])('asks no model when it $name', async ({ broken, message }) => {
    const { step, requests } = await play(['never'], { redact: broken });

    expect(requests).toEqual([]);
    expect(step.status).toBe('error');
    expect(step.message).toContain(message);
  });

  it.each([
    {
      name: 'that never ends',
      endless: (): string => {
        for (;;) void 0;
      },
    },
    {
      name: 'whose pattern never ends',
      endless: (text: string) => `${'a'.repeat(50)}!`.replace(/^(a+)+$/, text),
    },
  ])('cuts off a function $name, and goes on', ({ endless }) => {
    expect(() => redactTexts('clerk', endless, ['x'])).toThrow(
      '`redact` of clerk took longer than 1000 ms, so no model was asked.',
    );
    expect(redactTexts('clerk', redact, [CARD, 'x'])).toEqual(['[card]', 'x']);
  });

  it('leaves alone what providers check', () => {
    const parts = [
      { type: 'reasoning', text: CARD, providerData: { signature: CARD } },
      { type: 'media', mediaType: 'image/png', data: CARD },
      { type: 'tool_call', callId: '1.1', tool: 'read', args: [CARD], providerData: { id: CARD } },
      {
        type: 'sections',
        sections: [{ name: 'a', content: CARD, children: [{ name: 'b', content: CARD }] }],
      },
      {
        type: 'tool_result',
        callId: '1.1',
        tool: 'read',
        isError: false,
        parts: [{ type: 'text', text: CARD }],
      },
    ];
    const request = {
      agent: 'clerk',
      messages: [{ role: 'user', parts }],
    } as unknown as ModelRequest;

    expect(redactRequest(request, redact).messages[0]?.parts).toEqual([
      parts[0],
      parts[1],
      { ...parts[2], args: ['[card]'] },
      {
        type: 'sections',
        sections: [{ name: 'a', content: '[card]', children: [{ name: 'b', content: '[card]' }] }],
      },
      { ...parts[4], parts: [{ type: 'text', text: '[card]' }] },
    ]);
    expect(redactRequest(request, undefined)).toBe(request);
  });

  it('is a function', () => {
    expect(() =>
      defineAgent({ name: 'clerk', model: 'openai/gpt-5', redact: /x/ as unknown as RedactText }),
    ).toThrow('`redact` to be a function');
  });
});
