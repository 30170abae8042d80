/** A page of the AI SDK and a conversation on a server, through the SDK's own transport. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { UIMessage as SdkMessage } from 'ai';
import { host } from '../../examples/docs/chat-applications.ts';
import { messagesOf, respond, serverWith } from '../../examples/docs/chat-ui.ts';
import { textOf } from '../../src/core/base/message.ts';
import type { Everloop } from '../../src/client/everloop-client.ts';
import { createChatHandler, type ChatHandlerOptions } from '../../src/ui/chat-handler.ts';
import { uiMessages } from '../../src/ui/ui-messages.ts';
import { fixtureProcesses, type FixtureProcess } from '../support/child-process.ts';
import type { ChatServer } from '../support/fixtures/serve-chats.ts';
import { booked, clerk } from '../support/chat-agents.ts';
import { eventually } from '../support/eventually.ts';
import { gate } from '../support/runs.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { Page } from '../support/ui-page.ts';

const SOON_MS = 60_000;

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
});
afterAll(() => stage.close());

let count = 0;
function newId(): string {
  count += 1;
  return `ui-${Date.now()}-${count}`;
}

/** What a test compares of messages: ids, and of parts what a person sees, without void ones. */
function seen(messages: readonly SdkMessage[]): readonly object[] {
  return messages.map(({ id, role, parts }) => ({
    id,
    role,
    parts: parts.flatMap((part): readonly object[] => {
      if (part.type === 'step-start') return [];
      if (part.type === 'text' || part.type === 'reasoning') {
        return part.providerMetadata === undefined ? [{ [part.type]: part.text }] : [];
      }
      if ('toolCallId' in part) {
        const { type, state, input } = part;
        const { output, errorText } = { output: null, errorText: null, ...part };
        return [{ type, state, input, output: output ?? null, errorText: errorText ?? null }];
      }
      if (part.type === 'data-question') {
        const { question, isAnswered } = part.data as Readonly<Record<string, unknown>>;
        return [{ question, isAnswered }];
      }
      return [{ type: part.type, ...('data' in part && { data: part.data }) }];
    }),
  }));
}

async function reloaded(everloop: Everloop, agent: string, id: string): Promise<SdkMessage[]> {
  return uiMessages(everloop.conversation(agent, { id }));
}

/** What `useChat` sends. */
function sent(body: object): Request {
  return new Request('http://page/api/chat', { method: 'POST', body: JSON.stringify(body) });
}

async function approve(page: Page, approved = true, reason?: string): Promise<void> {
  const part = page.messages
    .at(-1)
    ?.parts.findLast((one) => 'approval' in one && one.state === 'approval-requested');
  const id = part !== undefined && 'approval' in part ? (part.approval?.id ?? '') : '';
  await page.addToolApprovalResponse({ id, approved, ...(reason !== undefined && { reason }) });
  await eventually('the end', () => page.status === 'ready' && !isDeciding(page), SOON_MS);
}

function isDeciding({ messages }: Page): boolean {
  const parts = messages.at(-1)?.parts ?? [];
  return parts.some((part) => 'approval' in part && part.state === 'approval-responded');
}

describe('a page with useChat', () => {
  it('shows every kind of part, and after a reload the same ones', async () => {
    const { agent } = clerk('shower');
    const { everloop } = await stage.serve([agent]);
    const page = new Page(newId(), createChatHandler({ everloop, agent: 'shower' }));

    await page.sendMessage({
      text: 'hello',
      files: [{ type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,aGk=' }],
    });
    await page.sendMessage({ text: 'look up' });
    await page.sendMessage({ text: 'draw' });
    await page.sendMessage({ text: 'ask' });
    await page.sendMessage({ text: 'coffee' });
    await page.sendMessage({ text: 'book' });
    await approve(page);
    await page.sendMessage({ text: 'book' });
    await approve(page, false, 'Not today.');

    expect(page.error).toBeUndefined();
    const shown = seen(page.messages);
    expect(shown.map((message) => ('parts' in message ? message.parts : []))).toEqual([
      [{ type: 'file' }, { text: 'hello' }],
      [{ text: 're: hello' }],
      [{ text: 'look up' }],
      [
        { reasoning: 'Where? ' },
        { text: 'I look.' },
        expect.objectContaining({ type: 'tool-search', state: 'output-available' }),
        expect.objectContaining({ type: 'tool-broken', state: 'output-error' }),
        { text: expect.stringMatching(/^Got hits for x, Error: No paper/) },
      ],
      [{ text: 'draw' }],
      [
        expect.objectContaining({ type: 'tool-draw', output: 'drawn' }),
        { type: 'file' },
        { text: expect.stringMatching(/^Got drawn/) },
      ],
      [{ text: 'ask' }],
      [{ question: 'Tea or coffee?', isAnswered: false }],
      [{ text: 'coffee' }],
      [{ text: 'Got coffee.' }],
      [{ text: 'book' }],
      [
        { text: 'I book.' },
        expect.objectContaining({ type: 'tool-book', output: 'a table is booked' }),
        { text: 'Got a table is booked.' },
      ],
      [{ text: 'book' }],
      [
        { text: 'I book.' },
        expect.objectContaining({ type: 'tool-book', state: 'output-denied' }),
        { text: expect.stringContaining('Not today.') },
      ],
    ]);
    const after = seen(await reloaded(everloop, 'shower', page.id));
    expect(after).toEqual(shown);
    expect(page.messages.at(-1)?.metadata).toMatchObject({
      everloop: {
        status: 'success',
        model: 'shower-model',
        usage: { inputTokens: 20, outputTokens: 4 },
        costUsd: 0.000_04,
        durationMs: expect.any(Number),
      },
    });
    expect((await reloaded(everloop, 'shower', page.id)).at(-1)?.metadata).toEqual(
      page.messages.at(-1)?.metadata,
    );
  });

  it('shows the whole reply after a reload in its middle, and ends nothing when it goes', async () => {
    const held = gate();
    const { agent } = clerk('waiter', held.opened);
    const { everloop } = await stage.serve([agent]);
    const handler = createChatHandler({ everloop, agent: 'waiter' });
    const first = new Page(newId(), handler);
    const sending = first.sendMessage({ text: 'wait' });
    await eventually('a half', () => first.text() === 'Half', SOON_MS);
    await first.stop();
    await sending;

    const before = await reloaded(everloop, 'waiter', first.id);
    const second = new Page(first.id, handler, before);
    const resuming = second.resumeStream();
    await eventually('the same half', () => second.text() === 'Half', SOON_MS);
    held.open();
    await resuming;

    expect(second.error).toBeUndefined();
    expect(second.parts()).toEqual([{ text: 'Half and half.' }]);
    expect(second.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
    const third = new Page(first.id, handler);
    await third.resumeStream();
    expect([third.status, third.messages]).toEqual(['ready', []]);
  });

  it('shows what is said in the course of a turn, and the rest of the turn after it', async () => {
    const held = gate();
    const { agent } = clerk('steered', held.opened);
    const { everloop } = await stage.serve([agent]);
    const page = new Page(newId(), createChatHandler({ everloop, agent: 'steered' }));
    const first = page.sendMessage({ text: 'wait' });
    await eventually('a half', () => page.text() === 'Half', SOON_MS);

    const second = page.sendMessage({ text: 'hurry' });
    const chat = everloop.conversation('steered', { id: page.id });
    await eventually(
      'the message',
      async () => (await chat.run.status()).unreadInputs === 1,
      SOON_MS,
    );
    held.open();
    await Promise.all([first, second]);

    expect(page.error).toBeUndefined();
    const parts = seen(page.messages).map((message) => 'parts' in message && message.parts);
    expect(parts).toEqual([
      [{ text: 'wait' }],
      [{ text: 'Half and half.' }],
      [{ text: 'hurry' }],
      [{ text: 're: hurry' }],
    ]);
    expect(seen(await reloaded(everloop, 'steered', page.id))).toEqual(seen(page.messages));
  });

  it('ends the turn where the page asks for it, and goes on with the next', async () => {
    const { agent } = clerk('stopper', new Promise(() => undefined));
    const { everloop } = await stage.serve([agent]);
    const handler = createChatHandler({ everloop, agent: 'stopper' });
    const page = new Page(newId(), handler);
    const sending = page.sendMessage({ text: 'wait' });
    await eventually('a half', () => page.text() === 'Half', SOON_MS);

    const url = `http://page/api/chat/${page.id}/stream`;
    const stopped = await handler(new Request(url, { method: 'DELETE' }));
    await sending;
    await page.sendMessage({ text: 'next' });

    expect(stopped.status).toBe(204);
    expect(page.error).toBeUndefined();
    expect(page.text()).toBe('re: next');
    expect(page.messages[1]?.metadata).toMatchObject({ everloop: { status: 'canceled' } });
    const turns = await everloop.conversation('stopper', { id: page.id }).turns();
    expect(turns.map(({ step }) => step?.status)).toEqual(['canceled', 'success']);
  });

  it('replies again, and to a message that was edited', async () => {
    const { agent, requests } = clerk('again');
    const { everloop } = await stage.serve([agent]);
    const page = new Page(newId(), createChatHandler({ everloop, agent: 'again' }));
    await page.sendMessage({ text: 'one' });
    await page.sendMessage({ text: 'two' });

    await page.regenerate();
    await page.regenerate();
    expect(page.text()).toBe('re: two');
    await page.sendMessage({ text: 'zero', messageId: page.messages[0]?.id ?? '' });
    await page.sendMessage({ text: 'one', messageId: page.messages[0]?.id ?? '' });
    await page.sendMessage({ text: 'zero', messageId: page.messages[0]?.id ?? '' });
    await page.sendMessage({ text: 'last' });

    expect(page.error).toBeUndefined();
    const texts = (requests.at(-1)?.messages ?? [])
      .filter(({ role }) => role !== 'system')
      .map(textOf);
    expect(texts).toEqual(['zero', 're: zero', 'last']);
    expect(seen(await reloaded(everloop, 'again', page.id))).toEqual(seen(page.messages));
    const turns = await everloop.conversation('again', { id: page.id }).turns();
    expect(turns.map(({ text, replaced = false }) => [text, replaced])).toEqual([
      ['one', true],
      ['two', true],
      ['two', true],
      ['two', true],
      ['zero', true],
      ['one', true],
      ['zero', false],
      ['last', false],
    ]);
  });

  it('says again what began a turn together with what was answered in it', async () => {
    const { agent } = clerk('joined');
    const { everloop } = await stage.serve([agent]);
    const page = new Page(newId(), createChatHandler({ everloop, agent: 'joined' }));
    await page.sendMessage({ text: 'ask' });
    await page.sendMessage({ text: 'tea' });

    await page.regenerate();

    expect(page.text()).toBe('re: ask\n\ntea');
  });

  it('takes each request once', async () => {
    const { agent } = clerk('once');
    const { everloop } = await stage.serve([agent]);
    const handler = createChatHandler({ everloop, agent: 'once' });
    const id = newId();
    const twice = async (body: object): Promise<readonly string[]> => {
      const responses = await Promise.all([handler(sent(body)), handler(sent(body))]);
      const later = await Promise.all(responses.map((response) => response.text()));
      return [...later, await (await handler(sent(body))).text()];
    };
    const said = (messageId: string, text: string): object => {
      return { id: messageId, role: 'user', parts: [{ type: 'text', text }] };
    };
    const asked = (isAnswered: boolean): object => {
      const question = { type: 'data-question', id: 'q1', data: { id: 'q1', isAnswered } };
      return { id: 'm1/reply', role: 'assistant', parts: [question] };
    };

    const asking = await twice({ id, messages: [said('m1', 'ask')] });
    const answering = [said('m1', 'ask'), asked(false), said('m2', 'tea')];
    const answered = await twice({ id, messages: answering, trigger: 'submit-message' });
    const again = { trigger: 'submit-message', messageId: 'm1' };
    const edit = { id, messages: [said('m1', 'hello')], ...again };
    const edited = await Promise.all([handler(sent(edit)), handler(sent(edit))]);
    const replies = await Promise.all(edited.map((response) => response.text()));

    for (const text of asking) expect(text).toContain('Tea or coffee?');
    for (const text of answered.slice(0, 2)) expect(text).toContain('Got tea.');
    for (const text of replies) expect(text).toContain('re: hello');
    const turns = await everloop.conversation('once', { id }).turns();
    expect(turns.map(({ text, replaced = false }) => [text, replaced])).toEqual([
      ['ask', true],
      ['hello', false],
    ]);
  });

  it('keeps parts that a tool emits, and executes tools of its own', async () => {
    const { agent } = clerk('keeper');
    const { everloop } = await stage.serve([agent]);
    const page = new Page(newId(), createChatHandler({ everloop, agent: 'keeper' }));

    await page.sendMessage({ text: 'track' });
    await page.sendMessage({ text: 'place' });
    expect(page.parts()).toMatchObject([{ type: 'tool-place', state: 'input-available' }]);
    const toolCallId = page.messages.at(-1)?.parts.flatMap((part) => {
      return 'toolCallId' in part ? [part.toolCallId] : [];
    })[0];
    await page.addToolOutput({ tool: 'place', toolCallId: toolCallId ?? '', output: 'Pisa' });
    await eventually('the answer', () => page.text() === 'Got Pisa.', SOON_MS);
    await eventually('the end', () => page.status === 'ready', SOON_MS);

    expect(page.error).toBeUndefined();
    expect(seen(page.messages.slice(1, 2))).toMatchObject([
      {
        parts: [
          { type: 'tool-track', output: 'in Pisa' },
          { type: 'data-shop:parcel', data: { at: 'Pisa' } },
          { text: 'Got in Pisa.' },
        ],
      },
    ]);
    expect(seen(await reloaded(everloop, 'keeper', page.id))).toEqual(seen(page.messages));
  });

  it('shows what child runs ask, and sends the answers there', async () => {
    const { agent } = clerk('parent');
    const { everloop } = await stage.serve([agent]);
    const page = new Page(newId(), createChatHandler({ everloop, agent: 'parent' }));
    booked.length = 0;

    await page.sendMessage({ text: 'delegate' });
    expect(page.parts()).toMatchObject([
      { type: 'tool-helper', state: 'input-available' },
      { question: { question: 'Which colour?', isAnswered: false } },
    ]);
    await page.sendMessage({ text: 'blue' });
    expect(page.parts()).toMatchObject([
      { type: 'tool-book', state: 'approval-requested', input: { what: 'the blue one' } },
    ]);
    const before = await reloaded(everloop, 'parent', page.id);
    expect(seen(before)).toEqual(seen(page.messages));
    const reopened = new Page(page.id, createChatHandler({ everloop, agent: 'parent' }), before);
    await reopened.resumeStream();
    expect(seen(reopened.messages)).toEqual(seen(page.messages));
    await approve(page);
    expect(seen(await reloaded(everloop, 'parent', page.id))).toEqual(seen(page.messages));

    expect(page.error).toBeUndefined();
    expect(booked).toEqual(['the blue one']);
    expect(page.parts()).toMatchObject([
      { type: 'tool-book', state: 'output-available', output: 'the blue one is booked' },
      { type: 'tool-helper', state: 'output-available' },
      { text: 'Got Done: the blue one is booked..' },
    ]);
  });

  it('goes on in another process after the one that it spoke to was killed', async () => {
    const { agent } = clerk('survivor');
    const { everloop, taskQueue } = await stage.serve([agent]);
    const { address, namespace } = stage;
    const servers = fixtureProcesses<ChatServer>('serve-chats');
    const open = async (): Promise<{ process: FixtureProcess; send: Serve }> => {
      const process = await servers.start({ address, namespace, taskQueue, agent: 'survivor' });
      const { url } = process.firstLine as { readonly url: string };
      return {
        process,
        send: (request) => fetch(new Request(toServer(request.url, url), request)),
      };
    };
    try {
      const one = await open();
      const first = new Page(newId(), one.send);
      const sending = first.sendMessage({ text: 'book' });
      await eventually('the approval', () => first.status === 'ready' && isAsked(first), SOON_MS);
      await sending;
      await one.process.kill('SIGKILL');
      await first.sendMessage({ text: 'Is anybody there?' });
      expect(first.error).toBeDefined();

      const two = await open();
      const before = await reloaded(everloop, 'survivor', first.id);
      const second = new Page(first.id, two.send, before);
      await second.resumeStream();
      expect(second.parts()).toMatchObject([
        { text: 'I book.' },
        { type: 'tool-book', state: 'approval-requested' },
      ]);
      await approve(second);

      expect(second.error).toBeUndefined();
      expect(second.text()).toBe('I book.Got a table is booked.');
      expect(seen(await reloaded(everloop, 'survivor', first.id))).toEqual(seen(second.messages));
    } finally {
      await servers.stop();
    }
  });

  it('shows why a turn failed, and after a reload too', async () => {
    const { agent } = clerk('failing');
    const { everloop } = await stage.serve([agent]);
    const page = new Page(newId(), createChatHandler({ everloop, agent: 'failing' }));

    await page.sendMessage({ text: 'fail' });

    expect(page.error?.message).toMatch(/no/);
    const metadata = { everloop: { status: 'error', reason: 'model_request_refused' } };
    expect(page.messages.at(-1)?.metadata).toMatchObject(metadata);
    const [, reply] = await reloaded(everloop, 'failing', page.id);
    expect(reply?.metadata).toMatchObject(metadata);
  });

  it('gives a turn what the server knows of its person', async () => {
    const { agent } = clerk('greeter');
    const { everloop } = await stage.serve([agent]);
    const turn: ChatHandlerOptions['turn'] = (request, { plan }) => {
      const by = request.headers.get('x-user');
      return by === null ? null : { by, limits: { iterations: plan === 'pro' ? 9 : 2 } };
    };
    const handler = createChatHandler({ everloop, agent: 'greeter', turn });
    const id = newId();
    const messages = [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }];
    const body = JSON.stringify({ id, messages, plan: 'pro' });
    const say = (headers: Record<string, string>): Promise<Response> =>
      handler(new Request('http://page/api/chat', { method: 'POST', body, headers }));

    const answered = await say({ 'x-user': 'ada' });
    await answered.text();
    const refused = await say({});

    expect([answered.status, refused.status]).toEqual([200, 403]);
    const [one, ...more] = await everloop.conversation('greeter', { id }).turns();
    expect([one?.by, more]).toEqual(['ada', []]);
    expect(one?.events[0]).toMatchObject({
      limits: expect.arrayContaining([expect.objectContaining({ max: 9 })]),
    });
  });
});

type Serve = (request: Request) => Promise<Response>;

function toServer(address: string, server: string): string {
  return address.replace(/^http:\/\/page/, server);
}

function isAsked({ messages }: Page): boolean {
  const parts = messages.at(-1)?.parts ?? [];
  return parts.some((part) => 'state' in part && part.state === 'approval-requested');
}

describe('the examples of the documentation', () => {
  it('book a table with a question, an approval and a second turn', async () => {
    const { everloop } = await stage.serve([host]);
    const { fetch } = serverWith(everloop, () => 'ada');
    const page = new Page(newId(), fetch);

    await page.sendMessage({ text: 'A table for two, please.' });
    expect(page.parts()).toMatchObject([
      { question: { question: 'Inside or outside?', options: ['inside', 'outside'] } },
    ]);
    await page.sendMessage({ text: 'outside' });
    expect(page.parts()).toMatchObject([
      { text: 'I have what I need.' },
      { type: 'tool-book', state: 'approval-requested', input: { guests: 2, place: 'outside' } },
    ]);
    await approve(page);
    await page.sendMessage({ text: 'Which table is it?' });

    expect(page.text()).toBe('Table 7, outside.');
    const messages = await messagesOf(everloop, `ada:${page.id}`);
    expect(seen(messages)).toEqual(seen(page.messages));
  });

  it('answer a request with one turn', async () => {
    const { everloop } = await stage.serve([host]);

    const response = await respond(everloop, newId(), 'Good evening.');

    expect(response.headers.get('x-vercel-ai-ui-message-stream')).toBe('v1');
    const text = await response.text();
    const deltas = [...text.matchAll(/"delta":"([^"]*)"/g)].map(([, delta]) => delta);
    expect(deltas.join('')).toBe('Good evening! How can I help?');
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  });
});
