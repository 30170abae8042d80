import { describe, expect, test } from 'vitest';
import { toPrompt } from '../../src/models/model-prompt.ts';
import type { Message } from '../../src/core/base/message.ts';
import { textMessage } from '../../src/core/base/message.ts';

const call = {
  type: 'tool_call' as const,
  callId: '3.1',
  tool: 'look',
  args: { city: 'Oslo' },
};
const result = {
  type: 'tool_result' as const,
  callId: '3.1',
  tool: 'look',
  parts: [{ type: 'text' as const, text: 'Rain.' }],
  isError: false,
};
const signed = { id: 'toolu_1', data: { google: { thoughtSignature: 'abc' } } };

describe('toPrompt', () => {
  const cases: { name: string; messages: Message[]; prompt: unknown[] }[] = [
    {
      name: 'texts of each role',
      messages: [
        textMessage('system', 'Be brief.'),
        textMessage('user', 'Hi.'),
        textMessage('assistant', 'Hello.'),
      ],
      prompt: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'text', text: 'Hi.' }] },
        { role: 'assistant', content: [{ type: 'text', text: 'Hello.' }] },
      ],
    },
    {
      name: 'several texts of the system as lines of one',
      messages: [
        {
          role: 'system',
          parts: [
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b' },
          ],
        },
      ],
      prompt: [{ role: 'system', content: 'a\nb' }],
    },
    {
      name: 'nothing for what is empty',
      messages: [
        textMessage('system', ''),
        textMessage('user', ''),
        { role: 'assistant', parts: [{ type: 'reasoning', text: '' }] },
        { role: 'tool', parts: [] },
      ],
      prompt: [],
    },
    {
      name: 'media by url and by data',
      messages: [
        {
          role: 'user',
          parts: [
            { type: 'media', mediaType: 'image/png', url: 'https://a.example/b.png' },
            { type: 'media', mediaType: 'application/pdf', data: 'QUJD' },
          ],
        },
      ],
      prompt: [
        {
          role: 'user',
          content: [
            {
              type: 'file',
              mediaType: 'image/png',
              data: { type: 'url', url: new URL('https://a.example/b.png') },
            },
            { type: 'file', mediaType: 'application/pdf', data: { type: 'data', data: 'QUJD' } },
          ],
        },
      ],
    },
    {
      name: 'reasoning with what its provider wants back',
      messages: [
        {
          role: 'assistant',
          parts: [
            { type: 'reasoning', text: 'Hm.', providerData: { anthropic: { signature: 's' } } },
            { type: 'reasoning', text: '', providerData: { anthropic: { redactedData: 'r' } } },
            { type: 'reasoning', text: 'So.', providerData: 'odd' },
          ],
        },
      ],
      prompt: [
        {
          role: 'assistant',
          content: [
            {
              type: 'reasoning',
              text: 'Hm.',
              providerOptions: { anthropic: { signature: 's' } },
            },
            {
              type: 'reasoning',
              text: '',
              providerOptions: { anthropic: { redactedData: 'r' } },
            },
            { type: 'reasoning', text: 'So.' },
          ],
        },
      ],
    },
    {
      name: "a call and its result under the provider's id",
      messages: [
        { role: 'assistant', parts: [{ ...call, providerData: signed }] },
        { role: 'tool', parts: [result] },
      ],
      prompt: [
        {
          role: 'assistant',
          content: [
            {
              type: 'tool-call',
              toolCallId: 'toolu_1',
              toolName: 'look',
              input: { city: 'Oslo' },
              providerOptions: { google: { thoughtSignature: 'abc' } },
            },
          ],
        },
        {
          role: 'tool',
          content: [
            {
              type: 'tool-result',
              toolCallId: 'toolu_1',
              toolName: 'look',
              output: { type: 'text', value: 'Rain.' },
            },
          ],
        },
      ],
    },
    {
      name: 'a call and its result under an id of ours that all providers accept',
      messages: [
        { role: 'assistant', parts: [call] },
        { role: 'tool', parts: [{ ...result, isError: true }] },
      ],
      prompt: [
        {
          role: 'assistant',
          content: [
            {
              type: 'tool-call',
              toolCallId: 'call_3_1',
              toolName: 'look',
              input: { city: 'Oslo' },
            },
          ],
        },
        {
          role: 'tool',
          content: [
            {
              type: 'tool-result',
              toolCallId: 'call_3_1',
              toolName: 'look',
              output: { type: 'error-text', value: 'Rain.' },
            },
          ],
        },
      ],
    },
    {
      name: 'names of tools as providers accept them, invented ones too',
      messages: [
        {
          role: 'assistant',
          parts: [
            { ...call, callId: '1.1', tool: 'look-up' },
            { ...call, callId: '1.2', tool: 'web search!' },
            { ...call, callId: '1.3', tool: '' },
          ],
        },
      ],
      prompt: [
        {
          role: 'assistant',
          content: [
            { type: 'tool-call', toolCallId: 'call_1_1', toolName: 'look_up', input: call.args },
            {
              type: 'tool-call',
              toolCallId: 'call_1_2',
              toolName: 'web_search_',
              input: call.args,
            },
            { type: 'tool-call', toolCallId: 'call_1_3', toolName: 'unknown', input: call.args },
          ],
        },
      ],
    },
    {
      name: 'media in a result',
      messages: [
        {
          role: 'tool',
          parts: [
            {
              ...result,
              parts: [
                { type: 'text', text: 'Two.' },
                { type: 'media', mediaType: 'image/png', data: 'QUJD' },
                { type: 'media', mediaType: 'image/png', url: 'https://a.example/b.png' },
                { type: 'media', mediaType: 'application/pdf', data: 'QUJD' },
                { type: 'media', mediaType: 'application/pdf', url: 'https://a.example/b.pdf' },
              ],
            },
          ],
        },
      ],
      prompt: [
        {
          role: 'tool',
          content: [
            {
              type: 'tool-result',
              toolCallId: 'call_3_1',
              toolName: 'look',
              output: {
                type: 'content',
                value: [
                  { type: 'text', text: 'Two.' },
                  { type: 'file', data: { type: 'data', data: 'QUJD' }, mediaType: 'image/png' },
                  {
                    type: 'file',
                    data: { type: 'url', url: new URL('https://a.example/b.png') },
                    mediaType: 'image/png',
                  },
                  {
                    type: 'file',
                    data: { type: 'data', data: 'QUJD' },
                    mediaType: 'application/pdf',
                  },
                  {
                    type: 'file',
                    data: { type: 'url', url: new URL('https://a.example/b.pdf') },
                    mediaType: 'application/pdf',
                  },
                ],
              },
            },
          ],
        },
      ],
    },
    {
      name: 'what stands beside results in a user message after them',
      messages: [{ role: 'tool', parts: [{ type: 'text', text: 'Go on.' }, result] }],
      prompt: [
        {
          role: 'tool',
          content: [
            {
              type: 'tool-result',
              toolCallId: 'call_3_1',
              toolName: 'look',
              output: { type: 'text', value: 'Rain.' },
            },
          ],
        },
        { role: 'user', content: [{ type: 'text', text: 'Go on.' }] },
      ],
    },
  ];

  test.each(cases)('writes $name', ({ messages, prompt }) => {
    expect(toPrompt(messages, { cacheUpTo: 0 })).toEqual(prompt);
  });

  test('marks the end of the stable beginning for prompt caches', () => {
    const messages = [
      textMessage('system', 'a'),
      textMessage('user', 'b'),
      textMessage('user', 'c'),
    ];

    const prompt = toPrompt(messages, { cacheUpTo: 2 });

    expect(prompt).toEqual([
      { role: 'system', content: 'a' },
      {
        role: 'user',
        content: [{ type: 'text', text: 'b' }],
        providerOptions: {
          anthropic: { cacheControl: { type: 'ephemeral' } },
          openrouter: { cacheControl: { type: 'ephemeral' } },
        },
      },
      { role: 'user', content: [{ type: 'text', text: 'c' }] },
    ]);
  });

  test('refuses sections, which the format of the agent writes', () => {
    const messages: Message[] = [
      { role: 'user', parts: [{ type: 'sections', sections: [{ name: 'task' }] }] },
    ];

    expect(() => toPrompt(messages, { cacheUpTo: 0 })).toThrow(
      'Expected text in a message for a model, got the sections task. ' +
        "Write them with the agent's format first.",
    );
  });
});
