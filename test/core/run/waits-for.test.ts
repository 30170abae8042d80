import { expect, it } from 'vitest';
import type { WaitingItem } from '../../../src/core/contract/pending.ts';
import { waitsFor } from '../../../src/core/run/waits-for.ts';
import { START } from '../../support/runs.ts';

const QUESTION: WaitingItem = {
  kind: 'question',
  id: 'q1',
  callId: '1.p2',
  since: START,
  question: 'Who?',
  free: false,
};

it.each([
  { name: 'nothing', state: {}, inFlight: [], timers: [], texts: [] },
  { name: 'what no state says yet', state: null, inFlight: ['definition'], texts: ['definition'] },
  {
    name: 'all at once, calls first',
    state: { pending: [QUESTION], leaseAsked: 2, leaseAnswered: 1 },
    inFlight: ['tool search', 'tool search'],
    timers: [START, START + 86_400_001],
    texts: [
      'tool search',
      'tool search',
      'timer until 2026-03-10T09:00:00.000Z',
      'timer until 2026-03-11T09:00:00.001Z',
      'budget from above',
      'question q1',
    ],
  },
  {
    name: 'no budget that was answered',
    state: { pending: [], leaseAsked: 2, leaseAnswered: 2 },
    texts: [],
  },
])('a run says what it waits for: $name', ({ state, inFlight = [], timers = [], texts }) => {
  expect(waitsFor(state, { inFlight, timers })).toEqual(texts);
});
