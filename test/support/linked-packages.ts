/** Packages for a project in a temporary folder, as links into this checkout. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Makes Everloop, from its sources, and the packages `names` of this checkout known to `project`, as
 * `npm install` would.
 */
export function linkPackages(project: string, names: readonly string[]): void {
  const modules = join(project, 'node_modules');
  const own = join(modules, 'everloop');
  mkdirSync(own, { recursive: true });
  symlinkSync(join(ROOT, 'src'), join(own, 'src'));
  const exports = {
    '.': './src/index.ts',
    './testing': './src/testing.ts',
    './worker': './src/worker.ts',
  };
  const manifest = { name: 'everloop', type: 'module', exports };
  writeFileSync(join(own, 'package.json'), JSON.stringify(manifest));
  for (const name of names) {
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  }
}
