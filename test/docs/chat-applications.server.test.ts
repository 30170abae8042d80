/** docs/chat-applications.md: its examples, on a real server. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import {
  answer,
  edit,
  host,
  hostWith,
  limited,
  open,
  say,
  shownAfter,
  stop,
  type Shown,
} from '../../examples/docs/chat-applications.ts';
import type { Everloop } from '../../src/client/everloop-client.ts';
import type { RunUpdate } from '../../src/client/follow-run.ts';
import { eventually } from '../support/eventually.ts';
import { openStage, type Stage } from '../support/stage.ts';

let stage: Stage;
let everloop: Everloop;
beforeAll(async () => {
  stage = await openStage(inject('temporal'));
  ({ everloop } = await stage.serve([host]));
});
afterAll(() => stage.close());

const EMPTY: Shown = { draft: '', waiting: [], answer: null };

/** A page: what it was sent, and what it shows of that. */
function page(): {
  send: (update: RunUpdate) => void;
  shown: () => Shown;
  signal: AbortSignal;
  close: () => void;
} {
  let shown = EMPTY;
  const gone = new AbortController();
  return {
    send: (update) => {
      shown = shownAfter(shown, update);
    },
    shown: () => shown,
    signal: gone.signal,
    close: () => gone.abort(),
  };
}

test('a browser says something, goes away, and another one answers [sub 17] [sub 18]', async () => {
  const id = randomUUID();
  const first = page();
  const said = { id, text: 'A table for two, please.', messageId: 'm1' };
  const saying = say(everloop, said, first.send, first.signal);
  await eventually('a question', () => first.shown().waiting.length === 1);
  first.close();
  await saying;

  const second = page();
  expect(await open(everloop, id, second.send, second.signal)).toMatchObject([
    { number: 1, messageId: 'm1', text: 'A table for two, please.', step: null },
  ]);
  await eventually('the same question', () => second.shown().waiting[0]?.id === 'q1');
  await answer(everloop, id, 'q1', 2, 'click-1');
  await eventually('a call to approve', () => second.shown().waiting[0]?.kind === 'approval');
  expect(second.shown().waiting).toMatchObject([
    { id: '2.1', tool: 'book', args: { guests: 2, place: 'outside' } },
  ]);
  await everloop.conversation('host', { id }).run.decide('2.1', { approve: true });
  await eventually('an answer', () => second.shown().answer !== null);

  expect(second.shown()).toEqual({ ...EMPTY, answer: 'Booked: table 7, outside, for two.' });
});

test('a turn is stopped, and what was said is replaced', async () => {
  const id = randomUUID();
  const first = page();
  const said = { id, text: 'A table for two, please.', messageId: 'm1' };
  void say(everloop, said, first.send, first.signal);
  await eventually('a question', () => first.shown().waiting.length === 1);
  await stop(everloop, id);
  await eventually('the end of the turn', () => first.shown().answer !== null);

  const step = await edit(everloop, id, 'm1', 'Good evening!');

  expect(first.shown().answer).toBe('The guest pressed stop.');
  expect(step).toMatchObject({ status: 'success', value: 'Good evening! How can I help?' });
  const turns = await everloop.conversation('host', { id }).turns();
  expect(turns.map(({ text, replaced }) => [text, replaced])).toEqual([
    ['A table for two, please.', true],
    ['Good evening!', undefined],
  ]);
});

test('a conversation of a tenant with limits', async () => {
  const price = { input: 1, output: 1 };
  const priced = hostWith({ id: 'host/m', price, model: async () => 'Good evening!' });
  const served = await stage.serve([priced]);
  const chat = limited(served.everloop, randomUUID());

  const turn = await chat.say('Good evening!');

  expect(await turn.result()).toMatchObject({ status: 'success' });
  expect(chat.run.id).toMatch(/^acme:~conversation:/);
  const [before] = await turn.events();
  expect(before).toMatchObject({
    type: 'agent:turn:before',
    limits: expect.arrayContaining([
      expect.objectContaining({ key: 'agent:cost_microusd', max: 200_000 }),
    ]) as unknown,
  });
  await chat.close();
  expect(await chat.run.result()).toMatchObject({ status: 'success', reason: 'closed' });
});
