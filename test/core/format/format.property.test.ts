import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatOf } from '../../../src/core/format/format-of.ts';
import type { FormatSpec } from '../../../src/core/contract/spec.ts';
import { cpuMsOf } from '../../support/cpu-time.ts';

const names = ['thinking', 'action', 'answer'];
const specs: readonly FormatSpec[] = [
  { kind: 'xml', strict: false },
  { kind: 'xml', strict: true },
  { kind: 'markdown', strict: false },
  { kind: 'markdown', strict: true },
];

/** Text that is full of what formats look for. */
const markup = fc
  .array(
    fc.oneof(
      fc.constantFrom('<', '</', '>', ' ', '\n', '\r\n', '# ', '#', '```', '~~~~', ':', '\\'),
      fc.constantFrom('<answer>', '</answer>', '<Action >', '</action>', '# Answer\n', 'thinking'),
      fc.string({ unit: 'binary', maxLength: 5 }),
    ),
    { maxLength: 60 },
  )
  .map((pieces) => pieces.join(''));

describe.each(specs)('$kind, strict $strict [row 10]', (spec) => {
  const format = formatOf(spec);

  test('reads any text without a throw, and blocks are registered and not empty', () => {
    fc.assert(
      fc.property(markup, fc.boolean(), (text, wasCut) => {
        const reading = format.parse(text, names, { wasCut });
        if (reading.kind === 'problem') return reading.problem.message !== '';
        return (
          reading.blocks.length > 0 &&
          reading.blocks.every(
            ({ name, content }) =>
              names.includes(name) && content !== '' && content === content.trim(),
          )
        );
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    { title: 'opening tags', piece: '<answer>', count: 100_000 },
    { title: 'half tags with blanks', piece: '<answer           ', count: 50_000 },
    { title: 'closing tags', piece: '</answer>', count: 100_000 },
    { title: 'opening and closing tags', piece: '<answer>a</answer>', count: 50_000 },
    { title: 'fences that never close', piece: '```a\n', count: 100_000 },
    { title: 'headings', piece: '# Answer\n', count: 100_000 },
    { title: 'blanks', piece: '# \t', count: 200_000 },
    { title: 'hashes', piece: '#', count: 1_000_000 },
  ])('reads $count $title in under 500 ms', ({ piece, count }) => {
    const text = piece.repeat(count);

    const ms = cpuMsOf(() => format.parse(text, names, { wasCut: false }));

    expect(ms).toBeLessThan(500);
  });

  test('fences of falling length stay linear', () => {
    const text = Array.from({ length: 1200 }, (_, i) => '`'.repeat(1203 - i) + 'a')
      .concat(Array.from({ length: 100_000 }, () => '~~~a'))
      .join('\n');

    const ms = cpuMsOf(() => format.parse(text, names, { wasCut: false }));

    expect(ms).toBeLessThan(500);
  });
});
