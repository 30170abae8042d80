/** Conversations on a real server: one run each, whose transcript is its memory. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { defineTool } from '../../src/define/tool/define-tool.ts';
import type { ModelFunction, ModelRequest } from '../../src/core/contract/model.ts';
import { textOf } from '../../src/core/base/message.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { startTestServer } from '../support/test-server.ts';
import { eventually } from '../support/eventually.ts';
import { gate } from '../support/runs.ts';

let stage: Stage;
let stop: () => Promise<void>;
beforeAll(async () => {
  const server = await startTestServer();
  stop = () => server.stop();
  stage = await openStage(server);
});
afterAll(async () => {
  await stage?.close();
  await stop?.();
});

/** All texts of a request, with results of tools. */
function shownTo({ messages }: ModelRequest): string {
  return messages
    .flatMap((message) =>
      message.parts.map((part) =>
        part.type === 'tool_result'
          ? `result ${part.tool}: ${textOf({ role: 'tool', parts: part.parts })}`
          : part.type === 'media'
            ? `media ${part.mediaType}`
            : part.type === 'tool_call'
              ? `call ${part.tool}`
              : `${message.role}: ${textOf({ ...message, parts: [part] })}`,
      ),
    )
    .join('\n');
}

const order = defineTool({
  name: 'order',
  description: 'Looks an order up.',
  effect: 'read',
  parameters: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
  execute: async (args) => `order ${(args as { readonly n: number }).n}: shipped in May`,
});
const mailed: string[] = [];
const mail = defineTool({
  name: 'mail',
  description: 'Sends a mail.',
  effect: 'once',
  parameters: { type: 'object', properties: {} },
  execute: async () => {
    mailed.push('mail');
    return 'sent';
  },
});

interface Clerk {
  readonly requests: ModelRequest[];
  readonly agent: ReturnType<typeof defineAgent>;
}

/** Looks orders up when asked to, mails when told to; else answers `re: {what was said last}`. */
function clerk(name: string, held: Promise<void> = Promise.resolve(), words = 'Be kind.'): Clerk {
  const requests: ModelRequest[] = [];
  const model: ModelFunction = async (request) => {
    requests.push(request);
    const { messages } = request;
    const users = messages.filter(({ role }) => role === 'user');
    const text = textOf(users.at(-1) ?? { role: 'user', parts: [] });
    const isFirst = messages.at(-1)?.role === 'user';
    if (text === 'look up' && isFirst) {
      return {
        toolCalls: [
          { name: 'order', args: { n: 1 } },
          { name: 'order', args: { n: 2 } },
        ],
      };
    }
    if (text === 'mail it' && isFirst) return { toolCalls: [{ name: 'mail', args: {} }] };
    if (text === 'wait') await held;
    if (text === 'fail') throw Object.assign(new Error('no'), { statusCode: 400 });
    return { content: `re: ${text}`, usage: { inputTokens: 10, outputTokens: 1 } };
  };
  const agent = defineAgent({
    name,
    instructions: words,
    tools: [order, mail],
    model: { id: `${name}-model`, model },
  });
  return { requests, agent };
}

describe('a conversation', () => {
  it('remembers calls, results and media of earlier turns, in one run', async () => {
    const { agent, requests } = clerk('rememberer');
    const { everloop } = await stage.serve([agent]);
    const chat = everloop.conversation(agent, { id: 'remember-1' });

    const first = await chat.say(
      { text: 'look up', media: [{ type: 'media', mediaType: 'image/png', data: 'aGk=' }] },
      { id: 'm1' },
    );
    const step = await first.result();
    const second = await chat.say('and now?', { id: 'm2', by: 'ada' });

    expect(step).toMatchObject({ status: 'success', value: 're: look up', iterations: 2 });
    expect(await second.result()).toMatchObject({ value: 're: and now?', iterations: 1 });
    expect(await second.how()).toBe('started');
    const last = shownTo(requests.at(-1) as ModelRequest);
    expect(last).toContain('result order: order 1: shipped in May');
    expect(last).toContain('media image/png');
    expect(last).toContain('assistant: re: look up');
    expect(await chat.run.status()).toMatchObject({
      state: 'waiting',
      waitsFor: ['message'],
      usage: { modelCalls: 3, toolCalls: 2 },
      conversation: { count: 2, isOpen: false },
    });
    const turns = await chat.turns();
    expect(turns.map(({ number, text, by, step: end }) => [number, text, by, end?.value])).toEqual([
      [1, 'look up', undefined, 're: look up'],
      [2, 'and now?', 'ada', 're: and now?'],
    ]);
    await chat.close();
    expect(await chat.run.result()).toMatchObject({ status: 'success', reason: 'closed' });
    await stage.replay(chat.run);
  });

  it('takes a message once by its id, and steers the turn that goes on', async () => {
    const held = gate();
    const { agent, requests } = clerk('steered', held.opened);
    const { everloop } = await stage.serve([agent]);
    const chat = everloop.conversation(agent, { id: 'steer-1' });

    const first = await chat.say('wait', { id: 'a' });
    await first.number();
    const [again, steering] = await Promise.all([
      chat.say('wait', { id: 'a' }),
      chat.say('hurry', { id: 'b' }),
    ]);
    held.open();

    const step = await first.result();
    expect(step.value).toBe('re: hurry');
    expect((await again.result()).value).toBe('re: hurry');
    expect((await steering.result()).value).toBe('re: hurry');
    expect([await again.how(), await steering.how()]).toEqual(['started', 'sent']);
    expect(requests).toHaveLength(2);
    expect(await chat.run.status()).toMatchObject({ conversation: { count: 1 } });
    await chat.cancel('enough');
    expect(await chat.run.result()).toMatchObject({ status: 'canceled' });
    await stage.replay(chat.run);
  });

  it('goes on after a turn that failed, was canceled or reached a limit', async () => {
    const held = gate();
    const { agent } = clerk('failing', held.opened);
    const { everloop } = await stage.serve([agent]);
    const chat = everloop.conversation(agent, { id: 'fail-1' });

    const failed = await (await chat.say('fail')).result();
    const waiting = await chat.say('wait');
    await waiting.number();
    await waiting.cancel('stop that');
    const canceled = await waiting.result();
    const limited = await (await chat.say('look up', { limits: { toolCalls: 1 } })).result();
    const fine = await (await chat.say('well?')).result();

    expect(failed).toMatchObject({ status: 'error', reason: 'model_request_refused' });
    expect(canceled).toMatchObject({ status: 'canceled', message: 'stop that' });
    expect(limited).toMatchObject({ status: 'limit_exceeded', reason: 'agent:tool_calls' });
    expect(fine).toMatchObject({ status: 'success', value: 're: well?' });
    held.open();
    await chat.close();
    await chat.run.result();
    await stage.replay(chat.run);
  });

  it('replaces a turn by `instead`, and tells the model of effects that stay', async () => {
    const { agent, requests } = clerk('replacing');
    const { everloop } = await stage.serve([agent]);
    const chat = everloop.conversation(agent, { id: 'instead-1' });

    await (await chat.say('one', { id: 'm1' })).result();
    await (await chat.say('mail it', { id: 'm2' })).result();
    await (await chat.say('three', { id: 'm3' })).result();
    const edited = await (await chat.say('two', { id: 'm4', instead: 'm2' })).result();

    expect(edited).toMatchObject({ status: 'success' });
    const last = shownTo(requests.at(-1) as ModelRequest);
    expect(last).toContain('re: one');
    expect(last).not.toContain('three');
    expect(last).not.toContain('mail it');
    expect(last).toMatch(/took effect: mail/);
    const turns = await chat.turns();
    expect(turns.map(({ text, replaced }) => [text, replaced ?? false])).toEqual([
      ['one', false],
      ['mail it', true],
      ['three', true],
      ['two', false],
    ]);
    const again = await (await chat.say('begin', { id: 'm5', instead: 'm1' })).result();
    expect(again.value).toContain('re: begin');
    expect(shownTo(requests.at(-1) as ModelRequest)).not.toContain('re: one');
    await chat.close();
    await chat.run.result();
    await stage.replay(chat.run);
  });

  it('takes a message in place of another once, also while its turn is open', async () => {
    const held = gate();
    const { agent, requests } = clerk('replacing-once', held.opened);
    const { everloop } = await stage.serve([agent]);
    const chat = everloop.conversation(agent, { id: 'instead-2' });
    await (await chat.say('one', { id: 'm1' })).result();

    const edited = await chat.say('wait', { id: 'm2', instead: 'm1' });
    await edited.number();
    const again = await chat.say('wait', { id: 'm2', instead: 'm1' });
    held.open();

    expect(await again.result()).toMatchObject({ status: 'success', value: 're: wait' });
    expect(requests).toHaveLength(2);
    await chat.close();
    await chat.run.result();
    await stage.replay(chat.run);
  });

  it('goes on with its turn when a message is to replace one that it does not know', async () => {
    const held = gate();
    const { agent } = clerk('replacing-none', held.opened);
    const { everloop } = await stage.serve([agent]);
    const chat = everloop.conversation(agent, { id: 'instead-3' });

    const open = await chat.say('wait', { id: 'm1' });
    await open.number();
    const other = await chat.say('other', { id: 'm2', instead: 'nobody' });
    // A query is answered behind all signals, so the worker has read the message.
    await chat.run.status();
    held.open();

    expect(await open.result()).toMatchObject({ status: 'success', value: 're: wait' });
    expect(await other.result()).toMatchObject({
      status: 'error',
      message: expect.stringContaining('got `nobody`'),
    });
    await chat.close();
    await chat.run.result();
    await stage.replay(chat.run);
  });

  it('that was never begun has no turns, and none is waited for', async () => {
    const { agent } = clerk('never-begun');
    const { everloop } = await stage.serve([agent]);
    const chat = everloop.conversation(agent, { id: 'never-1' });

    expect([await chat.newest(), await chat.turns()]).toEqual([null, []]);
    await expect(chat.turn('m1').result()).rejects.toMatchObject({ code: 'run_not_found' });
  });

  it('goes on after it was closed, with what it knew', async () => {
    const { agent, requests } = clerk('closing');
    const { everloop } = await stage.serve([agent]);
    const chat = everloop.conversation(agent, { id: 'close-1' });

    await (await chat.say('look up', { id: 'm1' })).result();
    await chat.close();
    await chat.run.result();
    const other = everloop.conversation(agent, { id: 'close-1' });
    const next = await other.say('and now?', { id: 'm2' });

    expect((await next.result()).value).toBe('re: and now?');
    expect(shownTo(requests.at(-1) as ModelRequest)).toContain('order 2: shipped in May');
    expect((await other.turns()).map(({ text }) => text)).toEqual(['look up', 'and now?']);
    expect(await next.number()).toBe(2);
    await other.close();
    await other.run.result();
  });

  it('is listed with those of the same person, once', async () => {
    const { agent } = clerk('listed');
    const { everloop } = await stage.serve([agent]);
    for (const id of ['ada.1', 'ada.2', 'bob.1']) {
      const chat = everloop.conversation(agent, { id });
      await (await chat.say(`hello of ${id}`)).result();
    }
    const closed = everloop.conversation(agent, { id: 'ada.1' });
    await closed.close();
    await closed.run.result();
    await (await closed.say('again')).result();

    await eventually('the list of ada', async () => {
      const { conversations } = await everloop.conversations({ idPrefix: 'ada.', agent: 'listed' });
      const shown = conversations.map(({ id, text, isOpen }) => [id, text, isOpen]);
      return (
        JSON.stringify(shown) ===
        JSON.stringify([
          ['ada.1', 'again', true],
          ['ada.2', 'hello of ada.2', true],
        ])
      );
    });
  });

  it('takes the definition of today at each turn', async () => {
    const before = clerk('changing');
    const { everloop, taskQueue, stop: stopFirst } = await stage.serve([before.agent]);
    const chat = everloop.conversation('changing', { id: 'change-1' });
    await (await chat.say('look up')).result();
    await stopFirst();
    const after = clerk('changing', undefined, 'Be brief.');
    await stage.serve([after.agent], { taskQueue });

    const step = await (await chat.say('well?')).result();

    expect(step.value).toBe('re: well?');
    const shown = shownTo(after.requests.at(-1) as ModelRequest);
    expect(shown).toContain('Be brief.');
    expect(shown).toContain('order 1: shipped in May');
    await chat.close();
    await chat.run.result();
  });
});
