import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readHeldPatches } from '../../src/worker/config/held-patches.ts';
import { PATCHES, type Patch } from '../../src/workflows/patches.ts';
import {
  findNodes,
  parseSourceFile,
  readSourceFiles,
  type SourceFile,
  type SyntaxNode,
} from '../support/source-file.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** What is wrong with a list of patches and the calls of them in `files`. */
function patchProblems(
  files: readonly Pick<SourceFile, 'statements'>[],
  patches: Readonly<Record<string, Patch>>,
): readonly string[] {
  const asked = files.flatMap(({ statements }) =>
    findNodes(statements, 'CallExpression').flatMap((call) => {
      const { name } = call['callee'] as { readonly name?: string };
      if (name !== 'patched' && name !== 'deprecatePatch') return [];
      return [String((call['arguments'] as readonly SyntaxNode[])[0]?.['value'])];
    }),
  );
  return [
    ...asked.filter((name) => !Object.hasOwn(patches, name)).map((name) => `${name}: not listed`),
    ...Object.entries(patches).flatMap(([name, { release, reason }]) => [
      ...(asked.includes(name) ? [] : [`${name}: no code asks for it`]),
      ...(/^\d+\.\d+\.\d+$/.test(release) ? [] : [`${name}: since which release?`]),
      ...(/^[A-Z].*\.$/.test(reason) ? [] : [`${name}: why?`]),
    ]),
  ];
}

describe('the patches of the workflow', () => {
  it('are all listed, with a release and a reason, and none is listed that no code asks for', () => {
    expect(patchProblems(readSourceFiles(ROOT, ['src']), PATCHES)).toEqual([]);
  });

  it('are refused without an entry, a call, a release or a reason', () => {
    const file = parseSourceFile(
      'src/a.ts',
      `if (patched('a') && patched('b')) deprecatePatch(c);`,
    );
    const good = { release: '1.2.0', reason: 'Calls begin in another order.' };

    expect(patchProblems([file], { a: good, d: good })).toEqual([
      'b: not listed',
      'undefined: not listed',
      'd: no code asks for it',
    ]);
    expect(patchProblems([file], { a: { release: 'next', reason: '' }, b: good }).slice(1)).toEqual(
      ['a: since which release?', 'a: why?'],
    );
  });
});

describe('readHeldPatches', () => {
  const known = ['calls-in-order', 'short-waits'];
  const misspelt: string[] = [];
  const read = (text: string): ReturnType<typeof readHeldPatches> =>
    readHeldPatches(text, (name, near) => void misspelt.push(`${name} → ${near}`), known);

  it.each([
    { text: 'all', held: 'all' },
    { text: 'calls-in-order, all', held: 'all' },
    { text: 'calls-in-order, short-waits,', held: ['calls-in-order', 'short-waits'] },
    // A newer release may have it, whose environment an older worker gets by a rollback.
    { text: 'wait-for-elsewhere', held: ['wait-for-elsewhere'] },
  ])('reads $text', ({ text, held }) => {
    expect(read(text)).toEqual(held);
  });

  it('refuses a name that looks like another one', () => {
    expect(read('calls-in-ordre')).toBeUndefined();
    expect(read('al')).toBeUndefined();
    expect(misspelt).toEqual(['calls-in-ordre → calls-in-order', 'al → all']);
  });
});
