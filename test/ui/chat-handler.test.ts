import { expect, test } from 'vitest';
import { createChatHandler } from '../../src/ui/chat-handler.ts';
import { blocksOf, regionsOf } from '../support/doc-pages.ts';
import { Page } from '../support/ui-page.ts';

test('docs/chat-ui.md quotes its example', () => {
  expect(blocksOf('chat-ui').size).toBeGreaterThan(0);
  expect(blocksOf('chat-ui')).toEqual(regionsOf('chat-ui'));
});

/** A client that no request may reach. */
const everloop = {
  conversation: () => {
    throw new Error('Expected a refusal.');
  },
};

const said = '{"id":"m","role":"user","parts":[{"type":"text","text":"x"}]}';
const replied = '{"id":"m/reply","role":"assistant","parts":[{"type":"text","text":"y"}]}';

test.each([
  { name: 'no JSON', body: 'x', text: /^Expected a JSON object in the request/ },
  { name: 'no id', body: '{}', text: /^Expected `id` of the chat/ },
  { name: 'no message', body: '{"id":"c","messages":[]}', text: /^Expected `messages`/ },
  {
    name: 'another reply to nothing',
    body: `{"id":"c","messages":[${said},${replied}],"trigger":"regenerate-message"}`,
    text: /^Expected a message of the person as the last one/,
  },
  {
    name: 'a message of the agent without a decision',
    body: `{"id":"c","messages":[${said},${replied}]}`,
    text: /^Expected a message of the person, a decision or an output/,
  },
  {
    name: 'too much',
    body: JSON.stringify({ id: 'c', more: 'x'.repeat(2_000) }),
    text: /^Expected a body of at most 1000 bytes/,
  },
])('refuses $name with the reason', async ({ body, text }) => {
  const handler = createChatHandler({ everloop, agent: 'host', maxBodyBytes: 1_000 });

  const response = await handler(new Request('http://page/api/chat', { method: 'POST', body }));

  expect(response.status).toBe(400);
  expect(await response.text()).toMatch(text);
});

test('refuses a person who may not use the conversation', async () => {
  const handler = createChatHandler({ everloop, agent: 'host', conversation: () => null });
  const page = new Page('c', handler);

  await page.sendMessage({ text: 'Good evening.' });

  expect(page.error?.message).toBe('Expected a conversation that you may use.\n');
  const stream = 'http://page/api/chat/c/stream';
  for (const method of ['GET', 'DELETE']) {
    expect((await handler(new Request(stream, { method }))).status).toBe(403);
  }
});

test('refuses other requests', async () => {
  const handler = createChatHandler({ everloop, agent: 'host' });

  const put = await handler(new Request('http://page/api/chat', { method: 'PUT' }));
  const elsewhere = await handler(new Request('http://page/api/chat'));

  expect([put.status, elsewhere.status]).toEqual([405, 400]);
  expect(await elsewhere.text()).toMatch(/^Expected the path to end with/);
});
