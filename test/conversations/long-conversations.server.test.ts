/** Conversations that hand over every few events, compact, go back, and belong to tenants. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defineAgent } from '../../src/define/agent/define-agent.ts';
import type { ModelFunction, ModelRequest } from '../../src/core/contract/model.ts';
import { textOf } from '../../src/core/base/message.ts';
import { eventually } from '../support/eventually.ts';
import { gate } from '../support/runs.ts';
import { openHandoverStage, type Stage } from '../support/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await openHandoverStage(30);
});
afterAll(() => stage?.close());

/** Answers `re: {what was said last}`. */
function parrot(requests: ModelRequest[]): ModelFunction {
  return async (request) => {
    requests.push(request);
    const users = request.messages.filter(({ role }) => role === 'user');
    return {
      content: `re: ${textOf(users.at(-1) ?? { role: 'user', parts: [] })}`,
      usage: { inputTokens: 10, outputTokens: 1 },
    };
  };
}

function said({ messages }: ModelRequest): readonly string[] {
  return messages.filter(({ role }) => role !== 'system').map((message) => textOf(message));
}

describe('a long conversation', () => {
  it(
    'hands over between turns, and keeps totals, ids and order',
    { timeout: 120_000 },
    async () => {
      const requests: ModelRequest[] = [];
      const agent = defineAgent({
        name: 'long',
        model: { id: 'long-model', model: parrot(requests) },
      });
      const { everloop } = await stage.serve([agent]);
      const chat = everloop.conversation(agent, { id: 'long-1' });

      const answers: unknown[] = [];
      for (let n = 1; n <= 12; n++) {
        answers.push((await (await chat.say(`${n}`, { id: `m${n}` })).result()).value);
      }
      const again = await (await chat.say('1', { id: 'm1' })).result();

      expect(answers).toEqual(Array.from({ length: 12 }, (_, n) => `re: ${n + 1}`));
      expect(again.value).toBe('re: 1');
      expect(requests).toHaveLength(12);
      expect(said(requests[11] as ModelRequest)).toHaveLength(23);
      const { link, usage, conversation } = await chat.run.status();
      expect(link).toBeGreaterThan(2);
      expect(usage.modelCalls).toBe(12);
      expect(conversation?.count).toBe(12);
      expect((await chat.turns({ last: 2 })).map(({ text }) => text)).toEqual(['11', '12']);
      await chat.close();
      const step = await chat.run.result();
      expect(step.usage.modelCalls).toBe(12);
      await stage.replay(chat.run);
    },
  );

  it('goes back behind a compaction', { timeout: 120_000 }, async () => {
    const requests: ModelRequest[] = [];
    const agent = defineAgent({
      name: 'compacting',
      model: { id: 'compacting-model', model: parrot(requests) },
      compaction: {
        triggers: [{ kind: 'gauge', key: 'agent:scratchpad_length', at: 8 }],
        strategies: [{ kind: 'sliding_window', keep: 3 }],
      },
    });
    const { everloop } = await stage.serve([agent]);
    const chat = everloop.conversation(agent, { id: 'back-1' });
    for (let n = 1; n <= 8; n++) await (await chat.say(`${n}`, { id: `m${n}` })).result();
    const shortest = Math.min(...requests.slice(4).map((request) => said(request).length));

    const edited = await (await chat.say('three', { id: 'e', instead: 'm3' })).result();

    expect(shortest).toBeLessThan(8);
    expect(edited.value).toBe('re: three');
    expect(said(requests.at(-1) as ModelRequest)).toEqual(['1', 're: 1', '2', 're: 2', 'three']);
    await chat.close();
    await chat.run.result();
    await stage.replay(chat.run);
  });

  it(
    'ends when nobody speaks, and takes what is said while it ends',
    { timeout: 60_000 },
    async () => {
      const agent = defineAgent({ name: 'idle', model: { id: 'idle-model', model: parrot([]) } });
      const { everloop } = await stage.serve([agent]);
      const chat = everloop.conversation(agent, { id: 'idle-1', idleMs: 700 });
      await (await chat.say('one', { id: 'm1' })).result();
      expect(await chat.run.result()).toMatchObject({ status: 'success', reason: 'idle' });

      const turns = await Promise.all(
        Array.from({ length: 6 }, async (_, n) => {
          await new Promise((resolve) => setTimeout(resolve, n * 450));
          return (await chat.say(`more ${n}`, { id: `more-${n}` })).result();
        }),
      );

      expect(turns.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 'success'));
      expect((await chat.turns())[0]?.text).toBe('one');
    },
  );

  it(
    'takes its turn among the runs of its tenant only while it speaks',
    { timeout: 60_000 },
    async () => {
      const agent = defineAgent({
        name: 'rented',
        model: { id: 'rented-model', model: parrot([]) },
      });
      const { everloop } = await stage.serve([agent]);
      await everloop.tenants.set('acme', { concurrency: 1 });
      const chats = [1, 2, 3].map((n) =>
        everloop.conversation(agent, { id: `chat-${n}`, tenant: 'acme' }),
      );

      for (const round of [1, 2]) {
        const turns = await Promise.all(chats.map((chat) => chat.say(`${round}`)));
        const steps = await Promise.all(turns.map((turn) => turn.result()));
        expect(steps.map(({ status }) => status)).toEqual(['success', 'success', 'success']);
      }
      const run = await everloop.start(agent, { task: 'hello', tenant: 'acme' });
      expect(await run.result()).toMatchObject({ status: 'success' });
      const total = await chats[0]?.run.status();
      expect(total?.usage.modelCalls).toBe(2);
      for (const chat of chats) await chat.cancel('over');
    },
  );

  it(
    'leaves the line of its tenant when a turn is canceled there',
    { timeout: 60_000 },
    async () => {
      const held = gate();
      const agent = defineAgent({
        name: 'queued',
        model: {
          id: 'queued-model',
          model: async ({ messages }) => {
            if (textOf(messages.at(-1) ?? { role: 'user', parts: [] }) === 'hold')
              await held.opened;
            return { content: 'yes' };
          },
        },
      });
      const { everloop } = await stage.serve([agent]);
      await everloop.tenants.set('queue', { concurrency: 1 });
      const [first, second] = ['first', 'second'].map((id) =>
        everloop.conversation(agent, { id, tenant: 'queue' }),
      );
      await (await second?.say('hello'))?.result();
      const holding = await first?.say('hold');
      await holding?.number();
      await second?.say('wait', { id: 'waiting' });
      await eventually('a turn in line', async () =>
        (await second?.run.status())?.waitsFor.includes('turn of tenant queue'),
      );
      await second?.say('instead', { id: 'other', instead: 'none' });
      await second?.cancel('enough');
      expect(await second?.run.result()).toMatchObject({ status: 'canceled' });
      held.open();
      await holding?.result();

      const run = await everloop.start(agent, { task: 'hello', tenant: 'queue' });
      expect(await run.result()).toMatchObject({ status: 'success' });
      expect(await first?.run.status()).toMatchObject({ waitsFor: ['message'] });
      await first?.cancel('over');
    },
  );

  it('keeps to the limits of the whole conversation', { timeout: 60_000 }, async () => {
    const agent = defineAgent({
      name: 'bounded',
      model: { id: 'bounded-model', model: parrot([]) },
    });
    const { everloop } = await stage.serve([agent]);
    const chat = everloop.conversation(agent, { id: 'bounded-1', totalLimits: { modelCalls: 2 } });
    const ends: string[] = [];
    for (const n of [1, 2, 3]) ends.push((await (await chat.say(`${n}`)).result()).status);
    expect(ends).toEqual(['success', 'success', 'limit_exceeded']);
    await chat.cancel('over');
  });
});
