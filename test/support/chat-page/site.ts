/** The site of the page: its HTML and script, and the handler of its chats. */
import { build } from 'esbuild';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import type { AddressInfo } from 'node:net';
import type { UIMessage } from '../../../src/ui/ui-messages.ts';
import { fileURLToPath } from 'node:url';

const PAGE = fileURLToPath(new URL('page.ts', import.meta.url));

/** A site on this machine. */
export interface Site {
  /** `http://127.0.0.1:41233` */
  readonly url: string;
  readonly close: () => void;
}

/**
 * Serves the page with the hook of the package `react`, its chats by `handler`, and the messages of one.
 */
export async function openSite(
  react: string,
  handler: (request: Request) => Promise<Response> | Response,
  messagesOf: (chatId: string) => Promise<readonly UIMessage[]>,
): Promise<Site> {
  const script = await bundled(react);
  const app = new Hono();
  app.post('/api/chat', (c) => handler(c.req.raw));
  app.get('/api/chat/:id/stream', (c) => handler(c.req.raw));
  app.get('/api/chat/:id/messages', async (c) => c.json(await messagesOf(c.req.param('id'))));
  app.get('/page.js', (c) => c.body(script, 200, { 'content-type': 'text/javascript' }));
  app.get('/', (c) =>
    c.html('<div id="root"></div><script type="module" src="/page.js"></script>'),
  );
  const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 });
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

async function bundled(react: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [PAGE],
    bundle: true,
    write: false,
    format: 'esm',
    define: { 'process.env.NODE_ENV': '"production"' },
    alias: { '@ai-sdk/react': react },
    logLevel: 'error',
  });
  return outputFiles[0]?.text ?? '';
}
