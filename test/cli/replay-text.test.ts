/** What `everloop replay` writes. */
import { expect, it } from 'vitest';
import { replayText } from '../../src/cli/views/replay-text.ts';

it('says how many fit, what was skipped and saved, and where a history does not fit', () => {
  const text = replayText({
    v: 1,
    links: 3,
    events: 120,
    ms: 2_000,
    skipped: [{ workflows: 'loops@4f2a9c01', links: 1 }],
    saved: { links: 2, left: ['link-3'] },
    failures: [
      {
        workflowId: 'clerk-7',
        executionId: 'link-1',
        agent: 'clerk',
        build: '4f2a9c1',
        message: 'Missing associated machine for Timer(2)',
        event: { id: 6, type: 'TIMER_STARTED' },
        after: { seq: 3, type: 'agent:model_call:before' },
        unknownPatches: ['later'],
      },
    ],
  });

  expect(text.split('\n')).toEqual([
    '2 of 3 links fit this code: 120 events in 2.0 s.',
    'skipped: needs workflows loops@4f2a9c01 (1 link). Name the file with --workflows.',
    'Saved 2 links.',
    'Not saved, since they replay differently without their texts: link-3. Use --raw to save them with all texts.',
    '',
    'clerk-7 does not fit (agent clerk, link link-1, build 4f2a9c1)',
    '  Missing associated machine for Timer(2)',
    '  at event 6 of its history, TIMER_STARTED',
    '  after event 3 of the run, agent:model_call:before',
    '  the history has patches that this code lacks: later',
  ]);
});
