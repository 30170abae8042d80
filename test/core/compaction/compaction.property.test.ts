import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StrategySpec } from '../../../src/core/contract/compaction.ts';
import { planOf } from '../../../src/core/compaction/plan.ts';
import { textMessage } from '../../../src/core/base/message.ts';
import { isPinned, type Entry } from '../../../src/core/contract/entry.ts';
import {
  compactionIsIdempotent,
  compactionKeepsPins,
  compactionKeepsTask,
  compactionNeverGrows,
} from '../../support/laws.ts';
import { startState } from '../../../src/core/run/run-state.ts';
import { chatSpec, reactSpec } from '../runs/spec-fixture.ts';
import { entryOf, importantEntry, observation, summaryOf } from './entries.ts';

const text = fc.integer({ min: 0, max: 200 }).map((length) => 'ä'.repeat(length));

const entryAt = (index: number): fc.Arbitrary<Entry> =>
  fc.oneof(
    text.map((hits) =>
      entryOf(index, { messages: [textMessage('assistant', 'go'), observation(['search', hits])] }),
    ),
    fc.constantFrom(9.9, 10, 'x').map((importance) => importantEntry(index, importance)),
    text.map((words) => ({ ...summaryOf(1, words), index: -1 - index })),
  );

const entries: fc.Arbitrary<readonly Entry[]> = fc
  .nat({ max: 12 })
  .chain((count) => fc.tuple(...Array.from({ length: count }, (_, index) => entryAt(index))));

const strategy: fc.Arbitrary<StrategySpec> = fc.oneof(
  fc.record({
    kind: fc.constant('sliding_window' as const),
    keep: fc.integer({ min: 1, max: 8 }),
  }),
  fc.record({
    kind: fc.constant('mask' as const),
    keepRecent: fc.nat({ max: 4 }),
    minBytes: fc.integer({ min: 1, max: 300 }),
    tools: fc.constantFrom(null, ['search'], ['other']),
  }),
  fc.record({
    kind: fc.constant('summarize' as const),
    keepRecent: fc.nat({ max: 4 }),
    models: fc.constant([]),
    prompt: fc.constant(null),
    system: fc.constant(null),
  }),
);

/** The scratchpad after one strategy, with a model that writes one word. */
function compacted(before: readonly Entry[], spec: StrategySpec): readonly Entry[] {
  const plan = planOf(spec, { entries: before, nextEpoch: 99, iteration: 9, tools: ['search'] });
  switch (plan.kind) {
    case 'nothing':
      return before;
    case 'replace':
      return plan.entries;
    case 'ask':
      return plan.conclude('S');
  }
}

describe('a compaction', () => {
  it.each([
    { name: 'keeps pinned entries as they are', law: compactionKeepsPins },
    { name: 'never grows', law: compactionNeverGrows },
    { name: 'has nothing to do right after itself', law: compactionIsIdempotent },
  ])('[row 50] [row 51] $name', ({ law }) => {
    fc.assert(
      fc.property(entries, strategy, (before, spec) =>
        law(before, (list) => compacted(list, spec)),
      ),
    );
  });

  it.each([
    { name: 'react', spec: reactSpec({ instructions: { kind: 'text', text: 'Be kind.' } }) },
    { name: 'chat', spec: chatSpec({ examples: [textMessage('user', 'Hello?')] }) },
  ])('[row 50] [row 51] keeps the task, and all before the scratchpad: $name', ({ spec }) => {
    const task = fc.string({ minLength: 1 }).map((words) => `Sort ${words.replace(/[^a-z]/g, '')}`);
    const identity = { runId: 'run-1', agentPath: 'tester', depth: 0, startedAt: 0 };
    fc.assert(
      fc.property(entries, strategy, task, (before, one, words) => {
        const fresh = startState(identity, { spec, task: { text: words } });
        const state = { ...fresh, scratchpad: before, historyLength: before.length };
        compactionKeepsTask(state, (list) => compacted(list, one));
      }),
    );
  });

  it('[row 50] drops or changes what is not pinned, so that the laws are about something', () => {
    const spec = { kind: 'sliding_window', keep: 1 } as const;
    const before = [entryOf(0), importantEntry(1, 10), entryOf(2)];

    expect(compacted(before, spec).filter((entry) => !isPinned(entry))).toHaveLength(1);
  });
});
