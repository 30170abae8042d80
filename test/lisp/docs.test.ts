import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { withTables } from '../../scripts/generate-lisp-docs.ts';
import { languageCard } from '../../src/lisp.ts';

const read = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');

test('docs/lisp.md has the tables of the registry', () => {
  const page = read('docs/lisp.md');

  expect(page).toBe(withTables(page));
});

test('the language card is fresh, whole, and at most 6 KB', () => {
  const card = languageCard();

  expect(read('docs/lisp-card.md')).toBe(`${card}\n`);
  expect(Buffer.byteLength(card)).toBeLessThanOrEqual(6_144);
  expect(card).toContain('step-done');
});
