/** docs/formats.md: each way to write an action that it shows is read as it says. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toml } from '../../examples/toml-calls/workflow.ts';
import type { FormatSpec, ToolchainSpec } from '../../src/core/contract/spec.ts';
import { OWN_PARTS } from '../../src/core/extension/store.ts';
import { formatOf } from '../../src/core/format/format-of.ts';
import { extend } from '../../src/core/modes/extend.ts';
import { toolchainOf } from '../../src/core/toolchain/toolchain-of.ts';

const page = readFileSync(fileURLToPath(new URL('../../docs/formats.md', import.meta.url)), 'utf8');

beforeAll(() => extend({ toolchains: { toml } }));
afterAll(() => Reflect.deleteProperty(globalThis, OWN_PARTS));

function callsIn(kind: string, contents: readonly string[]): unknown {
  const toolchain = toolchainOf({ kind, section: 'action' } as ToolchainSpec);
  const context = { iteration: 1, tools: [], maxCallsPerTurn: 9 };
  const reading = toolchain.readCalls(contents, context);
  if (reading.kind !== 'calls') return reading;
  return reading.calls.map(({ tool, args }) => [tool, args]);
}

const table = page.split('<!-- actions -->')[1]?.split('\n\n')[1]?.split('\n').slice(2) ?? [];
const rows = table.map((row) => [...row.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code));

test.each(rows)('%s: one call, several, one without arguments', (kind, one, several, bare) => {
  const search = ['search', { query: 'tea' }];
  const list = ['list', {}];
  const read = (text: string | undefined): unknown =>
    callsIn(kind?.slice(1, -1) ?? '', [text ?? '']);

  expect(read(one)).toEqual([search]);
  expect(read(several)).toEqual([search, list]);
  expect(read(bare)).toEqual([list]);
});

const blocks = [...page.matchAll(/<!-- action: (\w+) (\w+) -->\n\n(`{3,})\w+\n([^]*?)\n\3\n/g)].map(
  ([, format = '', toolchain = '', , text = '']) => ({ format, toolchain, text }),
);

test('the page shows each format with each toolchain', () => {
  expect(rows.map(([kind]) => kind)).toEqual(["'yaml'", "'json'", "'own:toml'"]);
  expect(blocks.map(({ format, toolchain }) => `${format} ${toolchain}`)).toEqual([
    'xml yaml',
    'xml json',
    'markdown yaml',
    'markdown json',
  ]);
});

test.each(blocks)('two calls in $format and $toolchain', ({ format, toolchain, text }) => {
  const reading = formatOf({ kind: format, strict: true } as FormatSpec).parse(
    text,
    ['thinking', 'action'],
    { wasCut: false },
  );
  const contents =
    reading.kind === 'read' ? reading.blocks.filter(({ name }) => name === 'action') : [];

  expect(
    callsIn(
      toolchain,
      contents.map(({ content }) => content),
    ),
  ).toEqual([
    ['search', { query: 'tea' }],
    ['tell', { text: 'Hello Ada,\none moment.\n' }],
  ]);
});
