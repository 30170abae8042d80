import { describe, expect, it } from 'vitest';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import { openConversation } from '../../src/client/conversation.ts';
import { textOf } from '../../src/core/base/message.ts';
import type { ModelFunction } from '../../src/core/contract/model.ts';
import { eventually } from '../support/eventually.ts';
import { memoryEverloop, type MemoryEverloop } from '../support/memory-everloop.ts';
import { gate } from '../support/runs.ts';

/** Answers `re: {what was said last}`, asks when told to, and waits for `held` when told to wait. */
function parrot(held: Promise<void> = Promise.resolve()): ModelFunction {
  return async ({ messages }) => {
    const said = messages.filter(({ role }) => role === 'user').at(-1);
    // The context stands in front of the task.
    const text = said === undefined ? '' : textOf(said).split('\n').at(-1);
    const isFirst = messages.at(-1)?.role !== 'tool';
    if (text === 'ask' && isFirst) {
      return { toolCalls: [{ name: 'ask_user', args: { question: 'Where?' } }] };
    }
    if (text === 'wait') await held;
    return { content: `re: ${text}` };
  };
}

function everloopOf(held?: Promise<void>): MemoryEverloop {
  const agents = ['parrot', 'other'].map((name) =>
    defineAgent({ name, mode: 'chat', model: { id: name, model: parrot(held) }, askUser: true }),
  );
  return memoryEverloop(agents);
}

describe('a conversation', () => {
  it('starts a turn for each message, which knows what was said before', async () => {
    const everloop = everloopOf();
    const chat = await openConversation(everloop, 'parrot', { id: 'c', context: { vip: true } });
    expect(chat.newest()).toBeNull();

    const first = await chat.say('ask');
    await eventually('a question', async () => (await first.run.pending()).length === 1);
    await first.run.answer('q1', 'outside');
    await first.run.result();
    const second = await chat.say({ text: 'two' });
    await second.run.result();

    expect([first, second].map(({ how, run }) => [how, run.id])).toEqual([
      ['started', 'c-1'],
      ['started', 'c-2'],
    ]);
    expect(everloop.started).toEqual([
      { task: 'ask', id: 'c-1', conversation: 'c', history: [], context: { vip: true } },
      {
        task: { text: 'two' },
        id: 'c-2',
        conversation: 'c',
        history: [
          { role: 'user', text: 'ask' },
          { role: 'assistant', text: 'Where?' },
          { role: 'user', text: 'outside' },
          { role: 'assistant', text: 're: ask' },
        ],
        context: { vip: true },
      },
    ]);
  });

  it('begins no second turn with a message that is said again in another process', async () => {
    const opened = gate();
    const everloop = everloopOf(opened.opened);
    const before = await openConversation(everloop, 'parrot', { id: 'c' });
    const first = await before.say('wait', { id: 'message-1' });
    const after = await openConversation(everloop, 'parrot', { id: 'c' });

    const again = await after.say('wait', { id: 'message-1' });
    const other = await after.say('more', { id: 'message-2' });
    opened.open();
    const step = await first.run.result();
    const late = await after.say('wait', { id: 'message-1' });

    expect([again.run.id, again.how]).toEqual(['c-1', 'started']);
    expect([other.run.id, other.how]).toEqual(['c-1', 'sent']);
    expect([late.run.id, late.how]).toEqual(['c-1', 'started']);
    expect(everloop.started).toHaveLength(1);
    expect(everloop.started[0]).toMatchObject({ messageId: 'message-1' });
    // The message of the turn is no input of it, and what came later is read once.
    expect(step.value).toBe('re: more');
  });

  it('starts each turn with its callbacks', async () => {
    const everloop = everloopOf();
    const onEvent = { url: 'https://hooks.example.com/x' };
    const chat = await openConversation(everloop, 'parrot', { onEvent });
    await (await chat.say('one')).run.result();
    await (await chat.say('two')).run.result();

    expect(everloop.started).toMatchObject([{ onEvent }, { onEvent }]);
  });

  it('goes on in another process, from the newest turn alone', async () => {
    const everloop = everloopOf();
    const before = await openConversation(everloop, 'parrot', { id: 'c', context: { vip: true } });
    for (const text of ['one', 'two']) await (await before.say(text)).run.result();
    everloop.forget('c-1');

    const chat = await openConversation(everloop, 'parrot', { id: 'c', historyBytes: 14 });
    const { run } = await chat.say('three');
    await run.result();

    expect(run.id).toBe('c-3');
    expect(everloop.started.at(-1)).toEqual({
      task: 'three',
      id: 'c-3',
      conversation: 'c',
      history: [
        { role: 'user', text: 'two' },
        { role: 'assistant', text: 're: two' },
      ],
      context: { vip: true },
    });
    expect(await chat.turns()).toEqual([
      { role: 'user', text: 'three' },
      { role: 'assistant', text: 're: three' },
    ]);
  });

  it('keeps what programs defined, from turn to turn', async () => {
    const programs = ['(def seats 4)\n(return "noted")', '(return seats)'];
    const model: ModelFunction = async ({ messages }) => {
      const isFirst = JSON.stringify(messages).includes('remember');
      return `\`\`\`clojure\n${programs[isFirst ? 0 : 1]}\n\`\`\``;
    };
    const agent = defineAgent({ name: 'scribe', mode: 'lisp', model: { id: 'scribe', model } });
    const everloop = memoryEverloop([agent]);
    const before = await openConversation(everloop, 'scribe', { id: 'c' });
    await (await before.say('remember four seats')).run.result();

    const chat = await openConversation(everloop, 'scribe', { id: 'c' });
    const { run } = await chat.say('how many?');

    expect(await run.result()).toMatchObject({ status: 'success', value: 4 });
  });

  it('gives what is said to the turn that goes on, and remembers it', async () => {
    const held = gate();
    const chat = await openConversation(everloopOf(held.opened), 'parrot', { id: 'c' });
    const { run } = await chat.say('wait');

    const said = await chat.say('hurry');
    held.open();
    await run.result();

    expect([said.how, said.run.id]).toEqual(['sent', 'c-1']);
    expect(await chat.turns()).toEqual([
      { role: 'user', text: 'wait' },
      { role: 'user', text: 'hurry' },
      { role: 'assistant', text: 're: hurry' },
    ]);
  });

  it('gives a repeated message to the turn that goes on once', async () => {
    const held = gate();
    const chat = await openConversation(everloopOf(held.opened), 'parrot', { id: 'c' });
    const { run } = await chat.say('wait');
    for (let time = 1; time <= 2; time++) await chat.say('hurry', { id: 'm1' });
    held.open();
    await run.result();

    const inputs = (await run.events()).filter(({ type }) => type === 'agent:input');
    expect(inputs).toMatchObject([{ inputId: 'm1' }]);
  });

  it('is not forked by two who speak at once, also where lists lag', async () => {
    const held = gate();
    const everloop = everloopOf(held.opened);
    everloop.isListing = false;
    const [one, other] = await Promise.all([
      openConversation(everloop, 'parrot', { id: 'c' }),
      openConversation(everloop, 'parrot', { id: 'c' }),
    ]);

    const first = await one.say('wait');
    const second = await other.say('me too');
    held.open();
    await first.run.result();

    expect([second.how, second.run.id, everloop.started.length]).toEqual(['sent', 'c-1', 1]);
  });

  it('has an id of its own unless told', async () => {
    const chat = await openConversation(everloopOf(), 'parrot');

    expect(chat.id).toMatch(/^parrot-[0-9a-f]{8}$/);
  });

  it.each([
    {
      name: 'the id of a conversation with another agent',
      agent: 'other',
      id: 'c',
      code: 'id_in_use',
      message:
        'Expected conversation `c` to be with agent `other`, got one with `parrot`. Choose another id.',
    },
    {
      name: 'what cannot be an id',
      agent: 'parrot',
      id: "it's",
      code: 'invalid_input',
      message:
        'Expected the id of a conversation to be 1 to 200 letters, digits or any of _ . : @ / + -, got "it\'s". Choose another.',
    },
  ])('refuses $name', async ({ agent, id, code, message }) => {
    const everloop = everloopOf();
    const chat = await openConversation(everloop, 'parrot', { id: 'c' });
    await (await chat.say('one')).run.result();

    await expect(openConversation(everloop, agent, { id })).rejects.toMatchObject({
      code,
      message,
    });
  });
});
