import fc from 'fast-check';
import { it } from 'vitest';
import { anyChunkingParsesAlike } from '../../support/laws.ts';

/** Text with the marks that readers look for, and characters of several code units. */
const text = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '<answer>',
        '</answer>',
        '<action>\n- tool: search\n',
        '</action>',
        '\n',
        '# ',
      ),
      fc.string({ unit: 'grapheme', maxLength: 8 }),
    ),
    { maxLength: 12 },
  )
  .map((pieces) => pieces.join(''));

const said = fc.record({
  reasoning: text,
  text,
  args: fc.array(
    fc.dictionary(fc.string(), fc.jsonValue()).map((args) => JSON.stringify(args)),
    { maxLength: 3 },
  ),
});

it('[row 54] any chunking of a stream parses alike', async () => {
  const lengths = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 });

  await fc.assert(
    fc.asyncProperty(said, lengths, (reply, sizes) =>
      anyChunkingParsesAlike(reply, (whole) => cut(whole, sizes)),
    ),
  );
});

/** Pieces of these lengths in turn, in code units: a provider may cut anywhere. */
function cut(whole: string, sizes: readonly number[]): readonly string[] {
  const pieces: string[] = [];
  for (let at = 0; at < whole.length;) {
    const size = sizes[pieces.length % sizes.length] ?? 1;
    pieces.push(whole.slice(at, at + size));
    at += size;
  }
  return pieces;
}
