/** Writes the generated parts of the documentation: `npm run docs`. A test finds stale ones. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GENERATED_PAGES, readPage, renderPage, ROOT } from './generated-docs.ts';

for (const path of GENERATED_PAGES) {
  const page = readPage(path);
  const rendered = await renderPage(path, page);
  if (rendered === page) continue;
  writeFileSync(join(ROOT, path), rendered);
  console.log(`wrote ${path}`);
}
