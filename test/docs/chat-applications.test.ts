/** docs/chat-applications.md: its code is that of examples which run here. */
import { expect, test } from 'vitest';
import { shownAfter, type Shown } from '../../examples/docs/chat-applications.ts';
import type { RunUpdate } from '../../src/client/follow-run.ts';
import { blocksOf, regionsOf } from '../support/doc-pages.ts';

test('docs/chat-applications.md quotes its example', () => {
  expect(blocksOf('chat-applications').size).toBeGreaterThan(0);
  expect(blocksOf('chat-applications')).toEqual(regionsOf('chat-applications'));
});

const EMPTY: Shown = { draft: '', waiting: [], answer: null };

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
