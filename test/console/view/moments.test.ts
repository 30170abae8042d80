import { describe, expect, it } from 'vitest';
import type { Entry } from '../../../src/core/contract/entry.ts';
import type { Part, Role } from '../../../src/core/base/message.ts';
import { editEntries } from '../../../src/core/fork/edit-entries.ts';
import {
  editableEntries,
  forkBody,
  type ForkForm,
} from '../../../src/console/view/forks/moments.ts';

function entry(index: number, role: Role, ...parts: Part[]): Entry {
  return { index, iteration: 1, origin: 'original', messages: [{ role, parts }] };
}

const text = (words: string): Part => ({ type: 'text', text: words });
const call = (callId: string): Part => ({ type: 'tool_call', callId, tool: 't', args: {} });
const result = (callId: string): Part => ({
  type: 'tool_result',
  callId,
  tool: 't',
  parts: [text(`result ${callId}`)],
  isError: false,
});

describe('the entries of a moment', () => {
  const ENTRIES = [
    entry(0, 'user', text('<script>hello</script>')),
    entry(1, 'assistant', text('I look.'), call('1.1'), call('1.2')),
    entry(2, 'tool', result('1.1')),
    entry(3, 'tool', result('1.2')),
    entry(4, 'assistant', call('2.1')),
    entry(5, 'tool', result('2.1'), result('2.2')),
    entry(6, 'user', text('x'.repeat(40_000))),
  ];
  const editable = editableEntries(ENTRIES);

  it('say which text an edit replaces', () => {
    expect(editable.map((one) => one.editable)).toEqual([
      '<script>hello</script>',
      'I look.',
      'result 1.1',
      'result 1.2',
      null,
      null,
      null,
    ]);
    expect(editable[6]?.text).toHaveLength(4_001);
  });

  it('say which are dropped together, as an edit wants it', () => {
    expect(editable.map(({ together }) => together.toSorted((a, b) => a - b))).toEqual([
      [0],
      [1, 2, 3],
      [1, 2, 3],
      [1, 2, 3],
      [4, 5],
      [4, 5],
      [6],
    ]);
    for (const { together, index, editable: words } of editable) {
      const drops = together.map((drop) => ({ drop }));
      expect(editEntries(ENTRIES, drops).kind).toBe('edited');
      if (words === null) continue;
      expect(editEntries(ENTRIES, [{ entry: index, text: 'x' }]).kind).toBe('edited');
    }
  });
});

describe('the form of a fork', () => {
  const NOTHING: ForkForm = {
    at: 3,
    append: ' ',
    instructions: '',
    model: '',
    tokens: '',
    cost: '',
    definition: 'recorded',
    effects: null,
    texts: new Map(),
    dropped: new Set(),
  };

  it('asks for nothing that was not said', () => {
    expect(forkBody(NOTHING)).toEqual({ at: 3, definition: 'recorded' });
  });

  it('asks for all that was said, and edits no entry that is dropped', () => {
    const form: ForkForm = {
      ...NOTHING,
      append: 'Think again.',
      instructions: 'Be brief.',
      model: ' m2 ',
      tokens: '500',
      cost: '0.5',
      effects: 'replay-only',
      texts: new Map([
        [0, 'new'],
        [1, 'gone'],
      ]),
      dropped: new Set([1]),
    };

    expect(forkBody(form)).toEqual({
      at: 3,
      definition: 'recorded',
      edits: [{ entry: 0, text: 'new' }, { drop: 1 }, { append: 'Think again.' }],
      instructions: 'Be brief.',
      model: 'm2',
      effects: 'replay-only',
      limits: { totalTokens: 500, costUsd: 0.5 },
    });
  });
});
