/** docs/chat-applications.md: its code is that of examples which run here. */
import { expect, test } from 'vitest';
import {
  answer,
  host,
  open,
  say,
  shownAfter,
  type Shown,
} from '../../examples/docs/chat-applications.ts';
import type { Everloop } from '../../src/client/everloop-client.ts';
import type { RunUpdate } from '../../src/client/follow-run.ts';
import { blocksOf, regionsOf } from '../support/doc-pages.ts';
import { eventually } from '../support/eventually.ts';
import { memoryEverloop } from '../support/memory-everloop.ts';

test('docs/chat-applications.md quotes its example', () => {
  expect(blocksOf('chat-applications').size).toBeGreaterThan(0);
  expect(blocksOf('chat-applications')).toEqual(regionsOf('chat-applications'));
});

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
  const everloop = memoryEverloop([host]) as unknown as Everloop;
  const first = page();
  const saying = say(everloop, 'c', 'A table for two, please.', first.send, first.signal);
  await eventually('a question', () => first.shown().waiting.length === 1);
  first.close();
  await saying;

  const second = page();
  expect(await open(everloop, 'c', second.send, second.signal)).toEqual([
    { role: 'user', text: 'A table for two, please.' },
  ]);
  await eventually('the same question', () => second.shown().waiting[0]?.id === 'q1');
  await answer(everloop, 'c', 'q1', 2, 'click-1');
  await eventually('a call to approve', () => second.shown().waiting[0]?.kind === 'approval');
  expect(second.shown().waiting).toMatchObject([
    { id: '2.1', tool: 'book', args: { guests: 2, place: 'outside' } },
  ]);
  await everloop.attach('c-1').decide('2.1', { approve: true });
  await eventually('an answer', () => second.shown().answer !== null);

  expect(second.shown()).toEqual({ ...EMPTY, answer: 'Booked: table 7, outside, for two.' });
});

test.each<{ name: string; update: RunUpdate; shown: Shown }>([
  {
    name: 'text',
    update: { kind: 'text', iteration: 1, delta: 'lo' },
    shown: { ...EMPTY, draft: 'Hello' },
  },
  { name: 'another attempt', update: { kind: 'restart', iteration: 1 }, shown: EMPTY },
  { name: 'a gap', update: { kind: 'gap', iteration: 1 }, shown: { ...EMPTY, draft: 'Hel' } },
])('shows $name', ({ update, shown }) => {
  expect(shownAfter({ ...EMPTY, draft: 'Hel' }, update)).toEqual(shown);
});
