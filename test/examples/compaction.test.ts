import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it, vi } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): string => readFileSync(`${ROOT}/${path}`, 'utf8');

it('[row 51] the example of compaction runs and says what it did', async () => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);

  await import('../../examples/03-compaction.ts');

  const lines = log.mock.calls.map(([line]: readonly unknown[]) => line);
  log.mockRestore();
  expect(lines).toEqual(['The order is ORD-1007.', 'summarize: 3 entries became 2']);
});

it('docs/compaction.md quotes the example as it is', () => {
  const [, region = ''] =
    /\/\/ region agent\n([^]*?)\/\/ endregion/.exec(read('examples/03-compaction.ts')) ?? [];

  expect(region).not.toBe('');
  expect(read('docs/compaction.md')).toContain(`\`\`\`ts\n${region}\`\`\``);
});
