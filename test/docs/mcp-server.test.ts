import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const read = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');

it('the page about the MCP server quotes the example that is run', () => {
  const [, region = ''] =
    /\/\/ region host\n([^]*?)\/\/ endregion/.exec(read('examples/11-mcp-host.ts')) ?? [];
  const [, shown = ''] = /```ts\n([^]*?)```/.exec(read('docs/mcp-server.md')) ?? [];

  expect(shown).toBe(region);
});
