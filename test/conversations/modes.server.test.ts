/** The second turn of a conversation in each mode, and what anybody may send to one. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { AgentOptions } from '../../src/define/agent/agent-options.ts';
import { MAX_JSON_DEPTH } from '../../src/core/base/json.ts';
import { conversationWorkflow } from '../../src/core/base/ids.ts';
import type { ModelRequest } from '../../src/core/contract/model.ts';
import { textOf } from '../../src/core/base/message.ts';
import { AGENT_WORKFLOW } from '../../src/core/contract/messages.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { startTestServer } from '../support/test-server.ts';
import { eventually } from '../support/eventually.ts';

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

const REPLIES: Readonly<Record<string, (n: number) => string>> = {
  chat: (n) => `answer ${n}`,
  text: (n) => `answer ${n}`,
  react: (n) => `<thinking>so</thinking><answer>answer ${n}</answer>`,
  json: (n) => `{"word":"answer ${n}"}`,
  lisp: (n) => `\`\`\`lisp\n(return "answer ${n}")\n\`\`\``,
};

describe.each(Object.keys(REPLIES))('in mode %s', (mode) => {
  it('the second turn has the words of the first', { timeout: 60_000 }, async () => {
    const requests: ModelRequest[] = [];
    const agent = defineAgent({
      name: `mode-${mode}`,
      mode: mode as NonNullable<AgentOptions['mode']>,
      ...(mode === 'json' ? { signature: '() -> {word :string}' } : {}),
      model: {
        id: `mode-${mode}-model`,
        model: async (request) => {
          requests.push(request);
          return { content: REPLIES[mode]?.(requests.length) ?? '' };
        },
      },
    });
    const { everloop } = await stage.serve([agent]);
    const chat = everloop.conversation(agent.name, { id: `mode-${mode}` });

    const first = await (await chat.say('The code is 4711.')).result();
    const second = await (await chat.say('What is the code?')).result();

    expect([first.status, second.status]).toEqual(['success', 'success']);
    const shown = (requests.at(-1)?.messages ?? []).map((message) => textOf(message)).join('\n');
    expect(shown).toContain('The code is 4711.');
    expect(shown).toContain('answer 1');
    expect(shown).toContain('What is the code?');
    await chat.close();
    await chat.run.result();
    await stage.replay(chat.run);
  });
});

describe('an old chat', () => {
  it('is what the conversation begins with, once', { timeout: 60_000 }, async () => {
    const requests: ModelRequest[] = [];
    const agent = defineAgent({
      name: 'heir',
      model: {
        id: 'heir-model',
        model: async (request) => {
          requests.push(request);
          return { content: `answer ${requests.length}` };
        },
      },
    });
    const { everloop } = await stage.serve([agent]);
    const messages = [
      { role: 'user', content: 'The code is 4711.' },
      { role: 'assistant', content: 'Noted.' },
    ];
    const chat = everloop.conversation(agent, { id: 'heir-1', messages });

    await (await chat.say('What is it?', { id: 'm1' })).result();
    await (await chat.say('Sure?', { id: 'm2' })).result();
    await (await chat.say('Again?', { id: 'm3', instead: 'm1' })).result();

    const texts = requests.map((request) =>
      request.messages.filter(({ role }) => role !== 'system').map((message) => textOf(message)),
    );
    const brought = ['The code is 4711.', 'Noted.'];
    expect(texts).toEqual([
      [...brought, 'What is it?'],
      [...brought, 'What is it?', 'answer 1', 'Sure?'],
      [...brought, 'Again?'],
    ]);
    const turns = await chat.turns();
    expect(turns.map(({ number, text }) => [number, text])).toEqual([
      [0, 'The code is 4711.'],
      [1, 'What is it?'],
      [2, 'Sure?'],
      [3, 'Again?'],
    ]);
    await chat.close();
    await chat.run.result();
    await stage.replay(chat.run);
  });
});

describe('what anybody may send', () => {
  it(
    'refuses what is no message, takes no fields of a start, and goes on',
    { timeout: 60_000 },
    async () => {
      const agent = defineAgent({
        name: 'open',
        model: { id: 'open-model', model: async () => ({ content: 'yes' }) },
      });
      const other = defineAgent({
        name: 'secret',
        model: { id: 'secret-model', model: async () => ({ content: 'secret' }) },
      });
      const { everloop } = await stage.serve([agent, other]);
      const chat = everloop.conversation(agent, { id: 'open-1' });
      await (await chat.say('hello')).result();
      const raw = stage.client.workflow.getHandle(conversationWorkflow('open-1'));

      for (const message of [
        null,
        7,
        {},
        { id: 'x', text: '' },
        { id: 'x'.repeat(300), text: 'a', agent: 'open' },
        { id: 'deep', text: 'a', agent: 'open', turn: nested(MAX_JSON_DEPTH + 10) },
        { id: 'large', text: 'a', agent: 'open', turn: { context: { a: 'x'.repeat(70_000) } } },
        { id: 'limits', text: 'a', agent: 'open', turn: { totalLimits: { modelCalls: -1 } } },
      ]) {
        await raw.signal('say', message);
      }
      await raw.signal('say', {
        id: 'forged',
        text: 'a',
        agent: 'open',
        turn: { agent: 'secret', tenant: 'acme', fork: {}, parent: {}, compiled: {} },
      });
      const wrong = everloop.conversation(other, { id: 'open-1' });

      expect((await chat.turn('forged').result()).value).toBe('yes');
      expect(await (await wrong.say('for another')).result()).toMatchObject({
        status: 'error',
        reason: 'id_in_use',
      });
      const limits = { modelCalls: 'many' } as never;
      expect(await turnOf(() => chat.say('x', { limits }))).toMatch(/limit/);
      expect((await (await chat.say('still there?')).result()).value).toBe('yes');
      const warnings = (await chat.run.events()).filter(({ type }) => type === 'agent:warning');
      expect(warnings).toHaveLength(8);
      await chat.cancel('over');
    },
  );

  it('a send to a conversation that waits is a message', { timeout: 60_000 }, async () => {
    const agent = defineAgent({
      name: 'sent-to',
      model: { id: 'sent-to-model', model: async () => ({ content: 'yes' }) },
    });
    const { everloop } = await stage.serve([agent]);
    const chat = everloop.conversation(agent, { id: 'sent-to-1' });
    await (await chat.say('hello')).result();
    await chat.run.send('anybody?', { id: 'sent' });
    expect((await chat.turn('sent').result()).value).toBe('yes');
    await chat.cancel('over');
  });

  it('no other start takes the id of a conversation', { timeout: 60_000 }, async () => {
    const agent = defineAgent({
      name: 'squatter',
      model: { id: 'squatter-model', model: async () => ({ content: 'yes' }) },
    });
    const { everloop, taskQueue } = await stage.serve([agent]);
    await expect(
      everloop.start(agent, { task: 'a', id: '~conversation:mine' }),
    ).rejects.toMatchObject({ code: 'invalid_input' });
    const handle = await stage.client.workflow.start(AGENT_WORKFLOW, {
      workflowId: '~conversation:mine',
      taskQueue,
      args: [
        { v: 1, agent: 'squatter', task: { text: 'a' }, conversation: 'other', converses: {} },
      ],
    });
    await expect(handle.result()).rejects.toThrow();
  });

  it('waits for a worker without losing what was said', { timeout: 60_000 }, async () => {
    const agent = defineAgent({
      name: 'late',
      model: { id: 'late-model', model: async () => ({ content: 'yes' }) },
    });
    const taskQueue = 'late-queue';
    const everloop = stage.everloopOf(taskQueue);
    const chat = everloop.conversation(agent, { id: 'late-1' });
    const began = Date.now();
    const turn = await chat.say('hello', { id: 'm' });
    expect(Date.now() - began).toBeLessThan(5_000);
    const step = turn.result();
    await stage.serve([agent], { taskQueue });
    expect((await step).value).toBe('yes');
    await eventually('an end of the turn', async () => (await chat.newest()) !== null);
    await chat.cancel('over');
  });
});

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = { context: value };
  return value;
}

async function turnOf(
  say: () => Promise<{ result(): Promise<{ readonly message?: string }> }>,
): Promise<string> {
  try {
    return (await (await say()).result()).message ?? '';
  } catch (error) {
    return String(error);
  }
}
