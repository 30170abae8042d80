import { describe, expect, test } from 'vitest';
import {
  textMessage,
  type Author,
  type Message,
  type Part,
} from '../../../src/core/base/message.ts';
import { fitMessages } from '../../../src/models/fit/fit-messages.ts';
import { createMediaFetcher } from '../../../src/models/fit/fetch-media.ts';
import { fitRequest } from '../../../src/models/fit/fit-request.ts';
import { traitsOf } from '../../../src/models/fit/traits.ts';
import { modelAt, type Protocol } from '../../support/aimock.ts';

const claude: Author = { provider: 'anthropic.messages', model: 'claude-sonnet-4-5' };
const user = textMessage('user', 'Go.');
const thought: Part = {
  type: 'reasoning',
  text: 'Hm.',
  providerData: { anthropic: { signature: 's' } },
};
const call: Part = { type: 'tool_call', callId: '1.1', tool: 'look', args: {} };
const result: Message = {
  role: 'tool',
  parts: [
    {
      type: 'tool_result',
      callId: '1.1',
      tool: 'look',
      parts: [{ type: 'text', text: 'Rain.' }],
      isError: false,
    },
  ],
};

function replyBy(by: Author | undefined, ...parts: readonly Part[]): Message {
  return { role: 'assistant', parts, ...(by === undefined ? {} : { by }) };
}

async function fitted(protocol: Protocol, modelId: string, ...messages: readonly Message[]) {
  return fitMessages(messages, await traitsOf(modelAt('http://127.0.0.1:1', protocol, modelId)));
}

describe('what a model does not take', () => {
  const image = { type: 'media', mediaType: 'image/tiff', data: 'AAAA' } as const;

  test('becomes a text that says so, with a warning before it was told', async () => {
    const asked: Message = { role: 'user', parts: [image] };

    const first = await fitted('anthropic', claude.model, asked);

    expect(first.messages).toEqual([
      textMessage(
        'user',
        '[image/tiff left out: this model does not take media of type image/tiff.]',
      ),
    ]);
    expect(first.warnings).toEqual([
      {
        code: 'item_left_out',
        message:
          'Model claude-sonnet-4-5 of anthropic.messages was asked without media of type image/tiff: it does not take them.',
      },
    ]);
    const later = await fitted(
      'anthropic',
      claude.model,
      asked,
      replyBy(claude, { type: 'text', text: 'I see none.' }),
      user,
    );
    expect(later.warnings).toEqual([]);
  });

  test('by its URL becomes a text; what the adapter or the server takes stays', async () => {
    const gif = { type: 'media', mediaType: 'image/gif', url: 'https://a.example/a.gif' } as const;
    const asked: Message = { role: 'user', parts: [gif] };

    expect((await fitted('google', 'gemini-2.5-pro', asked)).messages).toEqual([
      textMessage(
        'user',
        '[image/gif left out: this model does not take media of type image/gif by their URL.]',
      ),
    ]);
    for (const protocol of ['anthropic', 'openai-responses', 'openai-compatible'] as const) {
      expect((await fitted(protocol, 'm', asked)).messages).toEqual([asked]);
    }
  });

  test('of another provider is left out, with a warning for what that one ran', async () => {
    const { messages, warnings } = await fitted(
      'openai-responses',
      'gpt-5',
      user,
      replyBy(
        claude,
        thought,
        { type: 'hosted_call', id: 's', tool: 'web_search', args: {} },
        { type: 'hosted_result', id: 's', tool: 'web_search', output: [], isError: false },
        { type: 'text', text: 'Rain.', providerData: { anthropic: { x: 1 } } },
      ),
      user,
    );

    expect(messages[1]?.parts).toEqual([{ type: 'text', text: 'Rain.' }]);
    expect(warnings.map(({ message }) => message)).toEqual([
      'Model gpt-5 of openai.responses was asked without calls of web_search: it does not take them.',
    ]);
  });

  test('is reasoning for servers that refuse it, and not for those that read it', async () => {
    const ask = async (modelId: string) => {
      const own = replyBy({ provider: 'mock.chat', model: modelId }, thought, call);
      const { messages } = await fitted('openai-compatible', modelId, user, own, result);
      return messages[1]?.parts.map(({ type }) => type);
    };

    expect(await ask('deepseek-chat')).toEqual(['reasoning', 'tool_call']);
    expect(await ask('moonshotai/kimi-k2')).toEqual(['reasoning', 'tool_call']);
    expect(await ask('llama-3.3-70b')).toEqual(['tool_call']);
    expect(await ask('openai/gpt-oss-120b')).toEqual(['tool_call']);
  });
});

describe('an order that a model does not take', () => {
  test('is mended by words of ours: a person after results, for Mistral', async () => {
    const { messages } = await fitted(
      'openai-compatible',
      'mistral-large',
      user,
      replyBy(undefined, call),
      result,
      textMessage('user', 'Faster.'),
      textMessage('user', 'Now.'),
    );

    expect(messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
    ]);
    expect(messages.at(-1)?.parts).toHaveLength(2);
  });

  test('has a message of the user at its start and at its end', async () => {
    const { messages } = await fitted(
      'anthropic',
      claude.model,
      textMessage('system', 'Be brief.'),
      textMessage('user', ' '),
      replyBy(claude, { type: 'text', text: 'Hello.' }),
    );

    expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
  });
});

const NO_FETCH = createMediaFetcher({ signal: new AbortController().signal, hosts: [] });

describe('Claude that takes over', () => {
  const enabled = {
    anthropic: { thinking: { type: 'enabled', budgetTokens: 1_024 }, effort: 'low' },
  };
  const thinkingFor = async (...messages: readonly Message[]): Promise<unknown> => {
    const model = modelAt('http://127.0.0.1:1', 'anthropic', claude.model);
    const { request } = await fitRequest(
      model,
      {
        mode: 'chat',
        agent: 'a',
        runId: 'r',
        iteration: 1,
        attempt: 1,
        messages,
        settings: { providerOptions: enabled },
        cacheUpTo: 0,
      },
      NO_FETCH,
    );
    return request.settings['providerOptions'];
  };
  const off = { anthropic: { thinking: { type: 'disabled' }, effort: 'low' } };

  test('a turn with calls of another model does not think in it', async () => {
    const foreign = replyBy({ provider: 'openai.responses', model: 'gpt-5' }, call);
    const own = replyBy(claude, { ...call, callId: '2.1' });

    expect(await thinkingFor(user, foreign, result)).toEqual(off);
    // Its own calls in that turn are without thoughts, too.
    expect(await thinkingFor(user, foreign, result, own, result)).toEqual(off);
  });

  test('thinks in its own turns, and in the next one', async () => {
    const foreign = replyBy({ provider: 'openai.responses', model: 'gpt-5' }, call);
    const first = replyBy(claude, thought, call);
    const second = replyBy(claude, { ...call, callId: '2.1' });

    expect(await thinkingFor(user, first, result)).toEqual(enabled);
    expect(await thinkingFor(user, first, result, second, result)).toEqual(enabled);
    expect(await thinkingFor(user, foreign, result, user)).toEqual(enabled);
  });
});

test('the stable beginning of a request stays so', async () => {
  const model = modelAt('http://127.0.0.1:1', 'anthropic', claude.model);
  const blank = textMessage('user', '\n');
  const { request } = await fitRequest(
    model,
    {
      mode: 'chat',
      agent: 'a',
      runId: 'r',
      iteration: 1,
      attempt: 1,
      messages: [
        textMessage('system', 'Be brief.'),
        blank,
        user,
        textMessage('user', 'Last turn.'),
      ],
      settings: {},
      cacheUpTo: 3,
    },
    NO_FETCH,
  );

  expect(request.cacheUpTo).toBe(2);
  expect(request.messages).toHaveLength(3);
});
