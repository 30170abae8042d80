import { describe, expect, test } from 'vitest';
import { settleSections } from '../../../src/core/modes/section-values.ts';

const unreadable = { name: 'plan', problems: [{ code: 'json_syntax', message: 'no' }] };
const turn = {
  sections: [
    { name: 'plan', value: { a: 1 } },
    { name: 'rating', value: 3 },
    { name: 'plan', value: 'x' },
  ],
  sectionErrors: [unreadable],
};

describe('Structured sections after their check [row 12]', () => {
  test('without a check all values are kept, by name', () => {
    expect(settleSections(turn, null)).toEqual({
      values: { plan: [{ a: 1 }, 'x'], rating: [3] },
      errors: [unreadable],
    });
  });

  test('values that do not fit are errors, others are kept as the check left them', () => {
    expect(
      settleSections(turn, [
        { problems: [], value: { a: 1, b: null } },
        { problems: [], value: null },
        { problems: ['(value): expected object, got string "x"'] },
      ]),
    ).toEqual({
      values: { plan: [{ a: 1, b: null }], rating: [null] },
      errors: [
        unreadable,
        {
          name: 'plan',
          problems: [{ code: 'schema', message: '(value): expected object, got string "x"' }],
        },
      ],
    });
  });
});
