import { describe, expect, it } from 'vitest';
import { byteSize, type Json } from '../../../src/core/base/json.ts';
import type { ApprovalItem, QuestionItem } from '../../../src/core/contract/pending.ts';
import { listWaits } from '../../../src/core/people/listed-waits.ts';

function question(id: string, text = 'Which?', rest: Partial<QuestionItem> = {}): QuestionItem {
  return { id, callId: id, since: 1, kind: 'question', question: text, free: true, ...rest };
}

function approval(id: string, args: ApprovalItem['args']): ApprovalItem {
  return { id, callId: id, since: 1, kind: 'approval', tool: 'pay', args };
}

describe('what a memo lists of what waits', () => {
  it('has short items whole', () => {
    expect(listWaits([approval('1.2', { amount: 5 })], 'boss/1/clerk')).toEqual({
      items: [
        {
          id: '1.2',
          since: 1,
          kind: 'approval',
          tool: 'pay',
          args: { amount: 5 },
          path: 'boss/1/clerk',
        },
      ],
      more: 0,
    });
  });

  it('cuts long ones with a mark', () => {
    const long = 'x'.repeat(5_000);

    const { items } = listWaits(
      [
        question('q1', long, { options: [long], details: { long } }),
        approval('1.2', { text: long, amount: 5 }),
      ],
      'clerk',
    );

    expect(items[0]).toMatchObject({ id: 'q1', isCut: true, free: true });
    expect(Object.keys(items[0] ?? {})).not.toContain('details');
    expect(JSON.stringify(items[0])).toContain('[cut: 1024 of 5000 bytes shown]');
    expect(items[1]).toMatchObject({ isCut: true, args: { amount: 5 } });
    for (const item of items) expect(byteSize(item as unknown as Json)).toBeLessThan(2_048);
  });

  it('leaves hidden arguments out', () => {
    const { items } = listWaits([approval('1.2', { amount: 5, _key: 'sk-1' })], 'clerk');

    expect(items).toMatchObject([{ args: { amount: 5 }, isCut: true }]);
    expect(JSON.stringify(items)).not.toContain('sk-1');
  });

  it('counts those for which there is no room', () => {
    const many = Array.from({ length: 40 }, (_, at) => question(`q${at}`));
    const large = many.map(({ id }) => question(id, 'y'.repeat(1_000)));

    expect(listWaits(many, 'clerk')).toMatchObject({ more: 24 });
    const { items, more } = listWaits(large, 'clerk');
    expect(items.length + more).toBe(40);
    expect(byteSize(items as unknown as Json)).toBeLessThan(8_400);
  });
});
