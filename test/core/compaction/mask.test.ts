import { describe, expect, it } from 'vitest';
import { mask } from '../../../src/index.ts';
import type { StrategySpec } from '../../../src/core/contract/compaction.ts';
import { planOf } from '../../../src/core/compaction/plan.ts';
import { textMessage, type Message } from '../../../src/core/base/message.ts';
import { IMPORTANCE_KEY, type Entry } from '../../../src/core/contract/entry.ts';
import { entryOf, observation } from './entries.ts';

const LARGE = 'x'.repeat(1_024);
const LINE = '[result of search left out, 1024 bytes]';
const TOOLS = ['search', 'read_page'];

function masked(
  entries: readonly Entry[],
  strategy: StrategySpec = mask({ keepRecent: 0 }),
): readonly Entry[] | null {
  const plan = planOf(strategy, { entries, nextEpoch: 2, iteration: 9, tools: TOOLS });
  return plan.kind === 'replace' ? plan.entries : null;
}

function withResults(index: number, ...results: readonly (readonly [string, string])[]): Entry {
  return entryOf(index, { messages: [textMessage('assistant', 'go'), observation(...results)] });
}

function modified(entry: Entry, ...messages: readonly Message[]): Entry {
  return { ...entry, origin: 'compacted_modified', messages };
}

describe('masking', () => {
  it('[row 50] leaves the last five entries alone unless told otherwise', () => {
    const entries = [0, 1, 2, 3, 4, 5, 6].map((index) => withResults(index, ['search', LARGE]));

    const after = masked(entries, mask());

    expect(after?.map(({ origin }) => origin)).toEqual([
      'compacted_modified',
      'compacted_modified',
      ...Array.from({ length: 5 }, () => 'original'),
    ]);
    expect(after?.[0]).toEqual(
      modified(withResults(0), textMessage('assistant', 'go'), observation(['search', LINE])),
    );
    expect(after?.slice(2)).toEqual(entries.slice(2));
  });

  it.each<{ name: string; entry: Entry; strategy?: StrategySpec }>([
    { name: 'a result one byte smaller', entry: withResults(0, ['search', LARGE.slice(1)]) },
    {
      name: 'a pinned entry',
      entry: { ...withResults(0, ['search', LARGE]), metadata: { [IMPORTANCE_KEY]: 10 } },
    },
    {
      name: 'what a tool of another name gave',
      entry: withResults(0, ['search', LARGE]),
      strategy: mask({ keepRecent: 0, tools: ['read_page'] }),
    },
    { name: 'an error', entry: withResults(0, ['error', LARGE]) },
    {
      name: 'a large reply of the model',
      entry: entryOf(0, { messages: [textMessage('assistant', LARGE)] }),
    },
    {
      name: 'a result that is shorter than the line for it',
      entry: withResults(0, ['search', 'short']),
      strategy: mask({ keepRecent: 0, minBytes: 1 }),
    },
    {
      name: 'a line that stands for a result already',
      entry: withResults(0, ['search', LINE]),
      strategy: mask({ keepRecent: 0, minBytes: 1 }),
    },
  ])('[row 50] leaves $name as it is', ({ entry, strategy }) => {
    expect(masked([entry], strategy)).toBeNull();
  });

  it('[row 50] counts UTF-8 bytes', () => {
    const entry = withResults(0, ['search', 'ä'.repeat(512)]);

    expect(masked([entry])).toEqual([
      modified(entry, textMessage('assistant', 'go'), observation(['search', LINE])),
    ]);
  });

  it('[row 50] masks the large results of a batch and keeps the others', () => {
    const entry = withResults(0, ['search', LARGE], ['error', 'e'], ['read_page', 'small']);

    expect(masked([entry])).toEqual([
      modified(
        entry,
        textMessage('assistant', 'go'),
        observation(['search', LINE], ['error', 'e'], ['read_page', 'small']),
      ),
    ]);
  });

  it('[row 50] keeps instructions beside a result', () => {
    const sectionsWith = (text: string): Message => ({
      role: 'user',
      parts: [
        {
          type: 'sections',
          sections: [
            {
              name: 'observation',
              children: [
                {
                  name: 'search',
                  children: [
                    { name: 'result', content: text },
                    { name: 'instructions', content: LARGE },
                  ],
                },
              ],
            },
          ],
        },
      ],
    });
    const entry = entryOf(0, { messages: [sectionsWith(LARGE)] });

    expect(masked([entry])).toEqual([modified(entry, sectionsWith(LINE))]);
  });

  it('[row 50] keeps native calls and results paired', () => {
    const call: Message = {
      role: 'assistant',
      parts: [{ type: 'tool_call', callId: '1.1', tool: 'search', args: { query: LARGE } }],
    };
    const resultWith = (text: string): Message => ({
      role: 'tool',
      parts: [
        {
          type: 'tool_result',
          callId: '1.1',
          tool: 'search',
          parts: [{ type: 'text', text }],
          isError: false,
        },
      ],
    });
    const entry = entryOf(0, { messages: [call, resultWith(LARGE)] });

    expect(masked([entry])).toEqual([modified(entry, call, resultWith(LINE))]);
  });

  it('[row 50] has nothing to do a second time, and none without entries', () => {
    const once = masked([withResults(0, ['search', LARGE])]) ?? [];

    expect(once).toHaveLength(1);
    expect(masked(once)).toBeNull();
    expect(masked(once, mask({ keepRecent: 0, minBytes: 1 }))).toBeNull();
    expect(masked([])).toBeNull();
  });
});
