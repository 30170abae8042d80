import { describe, expect, test } from 'vitest';
import { formatOf } from '../../../src/core/format/format-of.ts';
import { checkSectionNames } from '../../../src/core/format/format.ts';

describe('Names of sections [row 9]', () => {
  test.each([
    { title: 'good ones', names: ['thinking', 'Plan-2', 'a_b', 'x'.repeat(32)], problems: [] },
    {
      title: 'none',
      names: [],
      problems: [
        { code: 'no_sections', message: 'Expected at least one section, got none. Add a section.' },
      ],
    },
    {
      title: 'bad, reserved and double ones together',
      names: ['1st', 'Task', 'answer', 'Answer', 'x'.repeat(33)],
      problems: [
        {
          code: 'section_name',
          message:
            'Expected a section name of 1 to 32 letters, digits, `_` or `-` that starts with a letter, got `1st`. Rename it.',
        },
        {
          code: 'section_name',
          message: 'Expected a free section name, got the reserved `Task`. Rename it.',
        },
        {
          code: 'duplicate_section',
          message:
            'Expected section names to be unique, got two sections named `Answer`. Rename one.',
        },
        {
          code: 'section_name',
          message: `Expected a section name of 1 to 32 letters, digits, \`_\` or \`-\` that starts with a letter, got \`${'x'.repeat(33)}\`. Rename it.`,
        },
      ],
    },
  ])('$title', ({ names, problems }) => {
    expect(checkSectionNames(names)).toEqual(problems);
  });

  test.each(['xml', 'markdown'] as const)('%s refuses to describe bad ones', (kind) => {
    const format = formatOf({ kind, strict: false });

    expect(() => format.describe([])).toThrow(
      expect.objectContaining({ name: 'UsageError', code: 'no_sections' }),
    );
    expect(() => format.describe([{ name: 'error', guidance: '' }])).toThrow(
      expect.objectContaining({ name: 'UsageError', code: 'section_name' }),
    );
  });
});
