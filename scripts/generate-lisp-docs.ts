/**
 * Writes the tables of builtins into docs/lisp.md, between their markers, and docs/lisp-card.md.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { languageCard, referenceTables } from '../src/lisp.ts';

const START = '<!-- builtins:start -->';
const END = '<!-- builtins:end -->';

/** `page` with the tables of builtins between its markers. */
export function withTables(page: string): string {
  const before = page.slice(0, page.indexOf(START) + START.length);
  const after = page.slice(page.indexOf(END));
  return `${before}\n\n${referenceTables()}\n\n${after}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const page = fileURLToPath(new URL('../docs/lisp.md', import.meta.url));
  writeFileSync(page, withTables(readFileSync(page, 'utf8')));
  writeFileSync(
    fileURLToPath(new URL('../docs/lisp-card.md', import.meta.url)),
    `${languageCard()}\n`,
  );
}
