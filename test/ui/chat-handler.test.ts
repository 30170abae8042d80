import { expect, test } from 'vitest';
import { host } from '../../examples/docs/chat-applications.ts';
import { respond, serverWith } from '../../examples/docs/chat-ui.ts';
import type { Everloop } from '../../src/client/everloop-client.ts';
import type { AgentEvent } from '../../src/core/contract/events.ts';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { createChatHandler } from '../../src/ui/chat-handler.ts';
import type { UIChunk } from '../../src/ui/ui-chunk.ts';
import { createUIWriter } from '../../src/ui/ui-writer.ts';
import { blocksOf, regionsOf } from '../support/doc-pages.ts';
import { eventually } from '../support/eventually.ts';
import { memoryEverloop } from '../support/memory-everloop.ts';
import { Page } from '../support/ui-page.ts';

test('docs/chat-ui.md quotes its example', () => {
  expect(blocksOf('chat-ui').size).toBeGreaterThan(0);
  expect(blocksOf('chat-ui')).toEqual(regionsOf('chat-ui'));
});

test('a page asks for a table, answers a question, approves the call, and asks again', async () => {
  const everloop = memoryEverloop([host]) as unknown as Everloop;
  const { fetch } = serverWith(everloop, () => 'ada');
  const page = new Page('c1', fetch);

  await page.sendMessage({ text: 'A table for two, please.' });
  expect(page.error).toBeUndefined();
  expect(page.status).toBe('ready');
  expect(page.parts()).toMatchObject([
    { question: { question: 'Inside or outside?', options: ['inside', 'outside'] } },
  ]);

  await page.sendMessage({ text: 'outside' });
  expect(page.parts()).toMatchObject([
    { text: 'I have what I need.' },
    { type: 'tool-book', state: 'approval-requested', input: { guests: 2, place: 'outside' } },
  ]);

  const tool = page.messages.at(-1)?.parts.find((part) => part.type === 'tool-book');
  const id = tool !== undefined && 'approval' in tool ? (tool.approval?.id ?? '') : '';
  await page.addToolApprovalResponse({ id, approved: true });
  await eventually('the answer', () => page.status === 'ready' && page.text().includes('Booked'));
  expect(page.parts()).toMatchObject([
    { text: 'I have what I need.' },
    { type: 'tool-book', state: 'output-available', output: 'Table 7, outside, for 2.' },
    { text: 'Booked: table 7, outside, for two.' },
  ]);

  await page.sendMessage({ text: 'Which table is it?' });
  expect(page.text()).toBe('Table 7, outside.');
  expect(page.messages.map(({ role }) => role)).toEqual([
    'user',
    'assistant',
    'user',
    'assistant',
    'user',
    'assistant',
  ]);
});

test('a page that is opened again shows the open question, and nothing when no turn runs', async () => {
  const everloop = memoryEverloop([host]) as unknown as Everloop;
  const { fetch } = serverWith(everloop, () => 'ada');
  const first = new Page('c2', fetch);
  await first.sendMessage({ text: 'A table for two, please.' });

  const second = new Page('c2', fetch, first.messages.slice(0, 1));
  await second.resumeStream();
  const other = new Page('c3', fetch);
  await other.resumeStream();

  expect(second.parts()).toMatchObject([{ question: { question: 'Inside or outside?' } }]);
  expect(other.messages).toEqual([]);
  expect(other.error).toBeUndefined();
});

test('one run is a response', async () => {
  const everloop = memoryEverloop([host]) as unknown as Everloop;

  const response = await respond(everloop, 'Good evening.');

  expect(response.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1');
  const text = await response.text();
  expect(text).toContain('"type":"start","messageId":"host-0"');
  const deltas = [...text.matchAll(/"delta":"([^"]*)"/g)].map(([, delta]) => delta);
  expect(deltas.join('')).toBe('Good evening! How can I help?');
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
});

test.each([
  { name: 'no JSON', body: 'x', status: 400, text: /^Expected a JSON object in the request/ },
  { name: 'no id', body: '{}', status: 400, text: /^Expected `id` of the chat/ },
  {
    name: 'no message',
    body: '{"id":"c","messages":[]}',
    status: 400,
    text: /^Expected `messages`/,
  },
  {
    name: 'an old message again',
    body: '{"id":"c","messages":[],"trigger":"regenerate-message"}',
    status: 400,
    text: /^Expected a new message/,
  },
  {
    name: 'too much',
    body: JSON.stringify({ id: 'c', more: 'x'.repeat(2_000) }),
    status: 400,
    text: /^Expected a body of at most 1000 bytes/,
  },
  {
    name: 'an id that no conversation has',
    body: '{"id":"\\u0000","messages":[{"role":"user","parts":[{"type":"text","text":"x"}]}]}',
    status: 400,
    text: /^Expected the id of a conversation/,
  },
])('refuses $name with the reason', async ({ body, status, text }) => {
  const everloop = memoryEverloop([host]) as unknown as Everloop;
  const handler = createChatHandler({ everloop, agent: 'host', maxBodyBytes: 1_000 });

  const response = await handler(new Request('http://page/api/chat', { method: 'POST', body }));

  expect(response.status).toBe(status);
  expect(await response.text()).toMatch(text);
});

test('refuses a person who may not use the conversation', async () => {
  const everloop = memoryEverloop([host]) as unknown as Everloop;
  const { fetch } = serverWith(everloop, () => null);
  const page = new Page('c', fetch);

  await page.sendMessage({ text: 'Good evening.' });

  expect(page.error?.message).toBe('Expected a conversation that you may use.\n');
  const get = await fetch(new Request('http://page/api/chat/c/stream'));
  expect(get.status).toBe(403);
});

const greeter = defineAgent({
  name: 'greeter',
  model: async ({ messages }) =>
    `Hello ${/(ada|bob)/.exec(JSON.stringify(messages))?.[1] ?? 'you'}`,
});

test('a turn gets what the server knows of its person', async () => {
  const everloop = memoryEverloop([greeter]);
  const handler = createChatHandler({
    everloop: everloop as unknown as Everloop,
    agent: 'greeter',
    limits: { costUsd: 5 },
    turn: async (request, { plan }) => {
      const name = request.headers.get('x-user');
      return name === null
        ? null
        : { context: { name }, limits: { iterations: plan === 'pro' ? 9 : 2 } };
    },
  });
  const say = (id: string, headers: Record<string, string>, plan?: string): Promise<Response> => {
    const messages = [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }];
    const body = JSON.stringify({ id, messages, plan });
    return handler(new Request('http://page/api/chat', { method: 'POST', body, headers }));
  };

  const answers = [await say('a', { 'x-user': 'ada' }, 'pro'), await say('b', { 'x-user': 'bob' })];
  const refused = await say('c', {});

  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(
    (await Promise.all(answers.map((answer) => answer.text()))).map(
      (text) => text.match(/Hello \w+/)?.[0],
    ),
  ).toEqual(['Hello ada', 'Hello bob']);
  expect(everloop.started.map(({ limits }) => limits)).toEqual([
    { iterations: 9 },
    { iterations: 2 },
  ]);
  expect([refused.status, everloop.started.length]).toEqual([403, 2]);
});

test('sources are parts of the message, each once', () => {
  const writer = createUIWriter({
    messageId: 'm',
    afterIteration: 0,
    knownCalls: [],
    showsText: true,
  });
  const page = { url: 'https://a.example', title: 'A' };
  const named = (sources: readonly object[]) =>
    writer.event({ type: 'agent:model_call:after', iteration: 1, sources } as AgentEvent);

  const chunks = [
    ...named([page, { title: 'Report', mediaType: 'application/pdf' }]),
    ...named([page]),
  ];

  expect(chunks).toEqual([
    { type: 'source-url', sourceId: page.url, ...page },
    {
      type: 'source-document',
      sourceId: 'Report',
      mediaType: 'application/pdf',
      title: 'Report',
    },
  ]);
});

test('only the calls of MCP tools are dynamic', () => {
  const chunksOf = (mcp: boolean): readonly UIChunk[] => {
    const writer = createUIWriter({
      messageId: 'm',
      afterIteration: 0,
      knownCalls: [],
      showsText: true,
    });
    const server = mcp ? { mcp: { server: 'files', tool: 'read' } } : {};
    const base = { iteration: 1, callId: '1.1', tool: 'read', args: {}, ...server };
    return [
      ...writer.event({ ...base, type: 'agent:tool_call:before' } as AgentEvent),
      ...writer.event({
        ...base,
        type: 'agent:tool_call:after',
        outcome: 'ok',
        output: 1,
      } as AgentEvent),
    ].filter(({ type }) => type.startsWith('tool-'));
  };

  expect(chunksOf(false).map((chunk) => 'dynamic' in chunk)).toEqual([false, false]);
  expect(chunksOf(true)).toMatchObject([{ dynamic: true }, { dynamic: true }]);
});
