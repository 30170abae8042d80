import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readHeldPatches } from '../../src/worker/config/held-patches.ts';
import { PATCHES } from '../../src/workflows/patches.ts';
import { findNodes, readSourceFiles, type SyntaxNode } from '../support/source-file.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The value of a text, perhaps with `satisfies` after it. */
function textOf(node: SyntaxNode | undefined): unknown {
  if (node?.type === 'TSSatisfiesExpression') return textOf(node['expression'] as SyntaxNode);
  return node?.['value'];
}

describe('the patches of the workflow', () => {
  it('are all listed, and none is listed that the code does not ask for', () => {
    const asked = readSourceFiles(ROOT, ['src']).flatMap(({ statements }) =>
      findNodes(statements, 'CallExpression').flatMap((call) => {
        const { name } = call['callee'] as { readonly name?: string };
        if (name !== 'patched' && name !== 'deprecatePatch') return [];
        return [String(textOf((call['arguments'] as readonly SyntaxNode[])[0]))];
      }),
    );

    expect(new Set(asked)).toEqual(new Set(Object.keys(PATCHES)));
  });

  it('say since which release they are there, and why', () => {
    for (const { release, reason } of Object.values(PATCHES)) {
      expect(release).toMatch(/^\d+\.\d+\.\d+$/);
      expect(reason).toMatch(/^[A-Z].*\.$/);
    }
  });
});

describe('readHeldPatches', () => {
  const misspelt: string[] = [];
  const read = (text: string): ReturnType<typeof readHeldPatches> =>
    readHeldPatches(text, (name, near) => void misspelt.push(`${name} → ${near}`));

  it.each([
    { text: 'all', held: 'all' },
    { text: 'limits-at-once, all', held: 'all' },
    { text: 'limits-at-once, recall-leases,', held: ['limits-at-once', 'recall-leases'] },
    // A newer release may have it, whose environment an older worker gets by a rollback.
    { text: 'wait-for-elsewhere', held: ['wait-for-elsewhere'] },
  ])('reads $text', ({ text, held }) => {
    expect(read(text)).toEqual(held);
  });

  it('refuses a name that looks like another one', () => {
    expect(read('limits-at-onec')).toBeUndefined();
    expect(read('al')).toBeUndefined();
    expect(misspelt).toEqual(['limits-at-onec → limits-at-once', 'al → all']);
  });
});
