/** The examples of docs/console.md: its code blocks are the regions of this file. */
import { Hono } from 'hono';
import type { Everloop } from '../../src/index.ts';
import { createConsole } from '../../src/console.ts';

/** A server with the console at `/console`. */
export function serverWithConsole(
  everloop: Everloop,
  token: string,
): { readonly fetch: (request: Request) => Response | Promise<Response> } {
  // #region mount
  const console = createConsole({ everloop, access: { token }, base: '/console' });
  const app = new Hono();
  app.all('/console/*', (c) => console.fetch(c.req.raw));
  // #endregion
  return app;
}
