/** Guards look at each message that begins a turn; what they block no model sees, in no later turn. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { blocked, defineAgent } from '../../src/index.ts';
import { textOf } from '../../src/core/base/message.ts';
import type { ModelRequest } from '../../src/core/contract/model.ts';
import { openStage, type Stage } from '../support/stage.ts';
import { startTestServer } from '../support/test-server.ts';

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

it.each([
  { name: 'first', said: ['bomb one', 'card 4111', 'fine'] },
  { name: 'later', said: ['fine', 'bomb two', 'card 4111', 'also fine'] },
])('guards each turn: $name', { timeout: 60_000 }, async ({ name, said }) => {
  const requests: ModelRequest[] = [];
  const agent = defineAgent({
    name: `guarded-${name}`,
    guards: [
      {
        name: 'words',
        check: ({ text }) => {
          if (text.includes('bomb')) throw blocked('no bombs');
          return { rewrite: text.replaceAll(/\d+/g, '[number]') };
        },
      },
    ],
    model: {
      id: `guarded-${name}-model`,
      model: async (request) => {
        requests.push(request);
        return { content: 'yes' };
      },
    },
  });
  const { everloop } = await stage.serve([agent]);
  const chat = everloop.conversation(agent, { id: `guarded-${name}` });

  const ends: string[] = [];
  for (const text of said) ends.push((await (await chat.say(text)).result()).reason);

  expect(ends).toEqual(said.map((text) => (text.includes('bomb') ? 'blocked' : 'answered')));
  const shown = requests.flatMap(({ messages }) => messages.map((message) => textOf(message)));
  expect(shown.filter((text) => /bomb|4111/.test(text))).toEqual([]);
  expect(shown).toContain('card [number]');
  expect((await chat.turns()).map(({ text }) => text)).toEqual(said);
  await chat.close();
  await chat.run.result();
  await stage.replay(chat.run);
});
