import fc from 'fast-check';
import { describe, it } from 'vitest';
import { formatOf } from '../../src/core/format/format-of.ts';
import type { FormatSpec } from '../../src/core/contract/spec.ts';
import type { Json } from '../../src/core/base/json.ts';
import { readJson } from '../../src/core/section/json-reader.ts';
import { readYaml } from '../../src/core/section/yaml-reader.ts';
import { yamlText } from '../../src/core/text/yaml-text.ts';
import { toolchainOf } from '../../src/core/toolchain/toolchain-of.ts';
import { readerIsLinear, readerIsTotal, writeThenReadIsIdentity } from '../support/laws.ts';
import { replyReaders } from '../support/reply-readers.ts';

/** Text that is full of what readers look for. */
const markup = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '<answer>',
        '</answer>',
        '<action>',
        '</action>',
        '# Answer\n',
        '```\n',
        '\n',
      ),
      fc.constantFrom(
        '- tool: search\n',
        '  args:\n',
        '{"a":',
        '[',
        ']',
        '}',
        '"',
        ': ',
        '&a',
        '*a',
      ),
      fc.string({ unit: 'binary', maxLength: 6 }),
    ),
    { maxLength: 40 },
  )
  .map((pieces) => pieces.join(''));

const pieces = [
  '<answer>',
  '</answer>x',
  '# Answer\n',
  '```a\n',
  '[',
  '{"a": ',
  '- tool: a\n',
  'a: b\n',
];

describe.each(replyReaders.map(({ name, read }) => ({ name, read })))(
  '[row 10] the reader of $name',
  ({ read }) => {
    it('is total', () => {
      fc.assert(fc.property(markup, (text) => readerIsTotal(read, text)));
    });

    it.each(pieces)('is linear in %j', (piece) => {
      readerIsLinear(read, piece);
    });
  },
);

/** Values that JSON and YAML have in common, without integers that are not exact. */
const value = fc.jsonValue().map((any) => JSON.parse(JSON.stringify(any)) as Json);
const isExact = (any: Json): boolean =>
  readJson(JSON.stringify(any)).kind === 'value' && !JSON.stringify(any).includes('__proto__');

describe('[row 10] write, then read', () => {
  it('is the identity on JSON', () => {
    fc.assert(
      fc.property(value.filter(isExact), (written) =>
        writeThenReadIsIdentity(JSON.stringify, valueOf(readJson), written),
      ),
    );
  });

  it('is the identity on YAML', () => {
    fc.assert(
      fc.property(value.filter(isExact), (written) =>
        writeThenReadIsIdentity(yamlText, valueOf(readYaml), written),
      ),
    );
  });

  it.each<FormatSpec>([
    { kind: 'xml', strict: false },
    { kind: 'xml', strict: true },
    { kind: 'markdown', strict: false },
    { kind: 'markdown', strict: true },
  ])('is the identity on sections: $kind, strict $strict', (spec) => {
    const format = formatOf(spec);
    const names = ['thinking', 'action', 'answer'];
    const content = fc
      .string({ unit: 'grapheme', maxLength: 40 })
      .map((text) => text.replace(/[<>#`~\r]/g, '').trim())
      .filter((text) => text !== '');
    const sections = fc.array(fc.record({ name: fc.constantFrom(...names), content }), {
      minLength: 1,
      maxLength: 5,
    });
    const read = (text: string): unknown => {
      const reading = format.parse(text, names, { wasCut: false });
      return reading.kind === 'read' ? reading.blocks : reading;
    };
    fc.assert(
      fc.property(sections, (written) =>
        writeThenReadIsIdentity((blocks) => format.format(blocks), read, written),
      ),
    );
  });

  it.each(['yaml', 'json'] as const)('is the identity on calls in %s', (kind) => {
    const toolchain = toolchainOf({ kind, section: 'action' });
    const context = { iteration: 1, tools: [], maxCallsPerTurn: 64 };
    const read = (text: string): unknown => {
      const reading = toolchain.readCalls([text], context);
      return reading.kind === 'calls'
        ? reading.calls.map(({ tool, args }) => ({ tool, args }))
        : reading;
    };
    const write = (calls: readonly { tool: string; args: Json }[]): string =>
      kind === 'json' ? JSON.stringify(calls) : yamlText(calls);
    const args = fc
      .dictionary(fc.stringMatching(/^[a-z]{1,6}$/), value.filter(isExact))
      .map((any) => ({ ...any }) as Json);
    const calls = fc.array(fc.record({ tool: fc.stringMatching(/^[a-z]{1,9}$/), args }), {
      minLength: 1,
      maxLength: 4,
    });
    fc.assert(
      fc.property(calls, (written) => writeThenReadIsIdentity(write, read, written)),
      // A key that would be a merge key of YAML if it stood without quotes.
      { examples: [[[{ tool: 'a', args: { a: [{ '<<': null }] } }]]] },
    );
  });
});

function valueOf(
  read: (text: string) => { readonly kind: string; readonly value?: Json },
): (text: string) => unknown {
  return (text) => {
    const reading = read(text);
    return reading.kind === 'value' ? reading.value : reading;
  };
}
