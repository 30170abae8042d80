/** docs/large-data.md: its code is that of an example which runs here, and its limits hold. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { startWithDocument } from '../../examples/docs/large-data.ts';
import type { ConnectedEverloop, ConnectOptions } from '../../src/client/connect.ts';
import type { StartOptions } from '../../src/client/everloop-client.ts';
import type { RunHandle } from '../../src/client/run-handle.ts';
import { BLOB_SIZES, INLINE_SIZES, type SizeLimits } from '../../src/core/base/size-limits.ts';
import { MAX_BLOB_BYTES } from '../../src/protection/blobs/blob-store.ts';
import { starting } from '../cli/cli-fixture.ts';
import { blocksOf, regionsOf } from '../support/doc-pages.ts';

test('docs/large-data.md quotes its example', () => {
  expect(blocksOf('large-data').size).toBeGreaterThan(0);
  expect(blocksOf('large-data')).toEqual(regionsOf('large-data'));
});

test('a run with a large document', async () => {
  const given: (ConnectOptions | undefined)[] = [];
  const started: StartOptions[] = [];
  await startWithDocument(
    async (options) => {
      given.push(options);
      const start = starting(async (_agent, options) => {
        started.push(options);
        return {} as RunHandle;
      });
      return { start } as ConnectedEverloop;
    },
    '/tmp/blobs',
    'x',
  );

  expect(given[0]?.protection?.blobs?.place).toBe('dir:/tmp/blobs');
  expect(started).toEqual([{ task: 'Summarize.', context: { document: 'x' } }]);
});

test('its table has the limits', async () => {
  const page = await readFile('docs/large-data.md', 'utf8');
  const row = (name: string, key: keyof SizeLimits): string =>
    `| ${name} | ${bytes(INLINE_SIZES[key])} | ${bytes(BLOB_SIZES[key])} |`;
  const rows = page.replaceAll(/ +/g, ' ');

  expect(rows).toContain(row('the input of a start, also of a child', 'start'));
  expect(rows).toContain(row('a specification', 'spec'));
  expect(rows).toContain(row('a reply of a model', 'reply'));
  expect(rows).toContain(row('a tool result, an answer of a person or of outside work', 'result'));
  expect(rows).toContain(row('media of one result, as base64', 'media'));
  expect(rows).toContain(row('what one link hands to the next', 'handover'));
  expect(rows).toContain(row('a Step without its memory', 'step'));
  expect(rows).toContain(`| one blob | – | ${bytes(MAX_BLOB_BYTES)} |`);
});

function bytes(count: number | undefined): string {
  return (count ?? 0).toLocaleString('en');
}
