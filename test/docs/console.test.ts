/** docs/console.md: its code is that of an example which runs here. */
import { expect, test } from 'vitest';
import { serverWithConsole } from '../../examples/docs/console.ts';
import type { Everloop } from '../../src/client/everloop-client.ts';
import { blocksOf, regionsOf } from '../support/doc-pages.ts';
import { memoryEverloop } from '../support/memory-everloop.ts';

test('docs/console.md quotes its example', () => {
  expect(blocksOf('console').size).toBeGreaterThan(0);
  expect(blocksOf('console')).toEqual(regionsOf('console'));
});

test('a server of your own serves the console below its path', async () => {
  const token = 'a-token-that-may-act';
  const app = serverWithConsole(memoryEverloop([]) as unknown as Everloop, token);
  const ask = (path: string): Response | Promise<Response> =>
    app.fetch(
      new Request(`http://127.0.0.1:3000/console${path}`, {
        headers: { authorization: `Bearer ${token}` },
      }),
    );

  expect(await (await ask('/api/v1/meta')).json()).toMatchObject({ role: 'operate' });
  expect(await (await ask('/api/v1/runs')).json()).toMatchObject({ rows: [], cursor: null });
  expect((await ask('/runs/clerk-1')).headers.get('content-type')).toContain('text/html');
});
