import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { expect, it } from 'vitest';
import { createChunkBus } from '../../src/worker/streaming/chunk-bus.ts';
import { chunk } from '../support/chunks.ts';

it('streams in a process whose own server has replaced `Response` before', async () => {
  const { Response: before, Request: asked } = globalThis;
  createAdaptorServer({ fetch: () => new Response('') });
  expect(globalThis.Response).not.toBe(before);
  const { openChunkEndpoint } = await import('../../src/worker/streaming/chunk-endpoint.ts');
  const bus = createChunkBus();
  const endpoint = await openChunkEndpoint({ source: bus, token: 'a-token-of-sixteen' });
  try {
    const headers = { authorization: 'Bearer a-token-of-sixteen' };
    const request = get(`${endpoint.url}/chunks`, { agent: false, headers });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    await once(response, 'readable');
    bus.publish(chunk(1, 'one'));
    bus.close();
    let text = '';
    for await (const piece of response.setEncoding('utf8')) text += String(piece);
    expect(text).toMatch(/^event: hello\n[^]*"delta":"one"[^]*event: end\ndata: \{\}\n\n$/);
  } finally {
    await endpoint.close();
    Object.assign(globalThis, { Response: before, Request: asked });
  }
});
