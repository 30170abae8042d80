/**
 * Runs after `tsc` in `npm run build`. Deletes the declarations in `dist` that no entry of the package
 * leads to: three of four are of internal modules, and each takes a block of the disk. From the others
 * it drops imports that only have effects: they have no types, and name files of the sources.
 */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIST = join(ROOT, 'dist');

const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly exports: Readonly<Record<string, { readonly types?: string } | string>>;
};
const open = Object.values(exports).flatMap((entry) =>
  typeof entry === 'string' || entry.types === undefined ? [] : [resolve(ROOT, entry.types)],
);
const reached = new Set<string>();
for (let file = open.pop(); file !== undefined; file = open.pop()) {
  // An example in a comment may name a file that there is not.
  if (reached.has(file) || !existsSync(file)) continue;
  reached.add(file);
  const text = readFileSync(file, 'utf8').replaceAll(/^import '[^']+';\n/gm, '');
  writeFileSync(file, text);
  for (const [, from = ''] of text.matchAll(/(?:from|import\() ?['"](\.[^'"]+)['"]/g)) {
    open.push(resolve(dirname(file), from.replace(/\.[jt]s$/, '.d.ts')));
  }
}
for (const name of readdirSync(DIST, { recursive: true, encoding: 'utf8' })) {
  const file = join(DIST, name);
  if (name.endsWith('.d.ts') && !reached.has(file)) rmSync(file);
}
