/** Media by URL: fetched for models whose provider does not load them, and told in words where they cannot be had. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MediaPart } from '../../src/core/base/message.ts';
import type { ModelRequest, Reply } from '../../src/core/contract/model.ts';
import { createMediaFetcher, MAX_MEDIA_BYTES } from '../../src/models/fit/fetch-media.ts';
import { callEntry, type CallIo } from '../../src/models/model-adapter.ts';
import { modelAt, type Protocol } from '../support/aimock.ts';
import {
  startRefusingProvider,
  type RefusingProvider,
} from '../support/refusing/refusing-provider.ts';

const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAE=', 'base64');
const PDF = Buffer.from('%PDF-1.7\n');

/** What each path answers. */
const PAGES: Readonly<Record<string, RequestListener>> = {
  '/a.png': (_request, response) => void response.setHeader('content-type', 'image/png').end(PNG),
  '/untyped': (_request, response) => void response.end(PNG),
  '/a.pdf': (_request, response) =>
    void response.setHeader('content-type', 'application/octet-stream').end(PDF),
  '/silent': () => undefined,
  '/list': (_request, response) => void response.setHeader('content-type', 'text/csv').end('c,d'),
  '/page': (_request, response) =>
    void response.setHeader('content-type', 'text/html; charset=utf-8').end('<p>Log in</p>'),
  '/moved': (_request, response) => void response.writeHead(302, { location: '/a.png' }).end(),
  '/circle': (_request, response) => void response.writeHead(302, { location: '/circle' }).end(),
  '/inside': (_request, response) =>
    void response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end(),
  '/file': (_request, response) =>
    void response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
  '/packed': (_request, response) =>
    void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(PNG)),
  '/endless': (_request, response) => {
    response.setHeader('content-type', 'image/png');
    const piece = Buffer.alloc(1024 * 1024);
    const write = (): void => {
      while (!response.destroyed && response.write(piece));
    };
    response.on('drain', write);
    write();
  },
};

/** As an operator names a store beside the worker. */
const NAMED = ['127.0.0.1', '[fd00:ec2::254]', '169.254.169.254', 'files.example'];

const asked: string[] = [];
let files: Server;
let provider: RefusingProvider;
let at = '';
const bodies = () => provider.bodies.map((body) => JSON.stringify(body));

beforeAll(async () => {
  files = createServer((request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? '';
    asked.push(path);
    const page = PAGES[path];
    if (page === undefined) return void response.writeHead(404).end();
    page(request, response);
  });
  await new Promise<void>((resolve) => files.listen(0, '127.0.0.1', resolve));
  at = `http://127.0.0.1:${(files.address() as AddressInfo).port}`;
  provider = await startRefusingProvider();
});

afterAll(async () => {
  files.closeAllConnections();
  files.close();
  await provider.stop();
});

function requestOf(media: readonly MediaPart[]): ModelRequest {
  return {
    mode: 'chat',
    agent: 'a',
    runId: 'r',
    iteration: 1,
    attempt: 1,
    messages: [{ role: 'user', parts: [{ type: 'text', text: 'Look.' }, ...media] }],
    settings: { stream: false },
    cacheUpTo: 0,
  };
}

const media = (url: string, mediaType = 'image/png'): MediaPart => ({
  type: 'media',
  mediaType,
  url,
});

async function ask(
  protocol: Protocol,
  parts: readonly MediaPart[],
  io: Partial<CallIo> = {},
): Promise<{ readonly reply: Reply; readonly sent: string }> {
  const model = modelAt(provider.url, protocol, protocol === 'google' ? 'gemini-2.5-pro' : 'm');
  const signal = new AbortController().signal;
  const given = { signal, onChunk: () => undefined, mediaHosts: NAMED, ...io };
  const outcome = await callEntry({ id: 'm', model }, requestOf(parts), given);
  if (outcome.kind !== 'reply') throw new Error('aborted');
  return { reply: outcome.reply, sent: bodies().at(-1) ?? '' };
}

describe('media by URL', () => {
  it('are fetched for a provider that does not load them, each once', async () => {
    const before = asked.length;
    const parts = ['/a.png', '/untyped', '/moved', '/a.png'].map((path) => media(`${at}${path}`));

    const { reply, sent } = await ask('google', [
      ...parts,
      media(`${at}/a.pdf`, 'application/pdf'),
    ]);

    expect(reply.warnings).toBeUndefined();
    expect(sent.split(PNG.toString('base64'))).toHaveLength(5);
    expect(sent).toContain(PDF.toString('base64'));
    expect(asked.slice(before).toSorted()).toEqual([
      '/a.pdf',
      '/a.png',
      '/a.png',
      '/moved',
      '/untyped',
    ]);
  });

  it('take the type that they have, where theirs names only a kind', async () => {
    const { sent } = await ask('google', [media(`${at}/a.png`, 'image/*')]);

    expect(sent).toContain('"mimeType":"image/png"');
  });

  it('of text are text for a model that takes no such files', async () => {
    const { sent, reply } = await ask('openai-responses', [
      { type: 'media', mediaType: 'text/csv', data: Buffer.from('a,b').toString('base64') },
      media(`${at}/list`, 'text/plain'),
    ]);

    expect(sent).toContain('a,b');
    expect(sent).toContain('c,d');
    expect(reply.warnings).toBeUndefined();
  });

  it('stay URLs for a provider that loads them', async () => {
    const before = asked.length;

    const { sent } = await ask('anthropic', [media('https://files.example/a.png')]);

    expect(sent).toContain('https://files.example/a.png');
    expect(asked).toHaveLength(before);
  });

  it('in the form `data:` are data', async () => {
    const { sent } = await ask('google', [
      media(`data:image/png;base64,${PNG.toString('base64')}`),
    ]);

    expect(sent).toContain(PNG.toString('base64'));
  });

  it.each([
    ['/none', '127.0.0.1:PORT answered with status 404'],
    ['/page', 'it is text/html, not image/png'],
    ['/circle', '127.0.0.1:PORT redirects more than 5 times'],
    ['/inside', 'no request is sent to 169.254.169.254'],
    ['/file', 'file: is neither http: nor https:'],
    ['/packed', 'it was sent as gzip'],
    ['/endless', `media of one request have more than ${MAX_MEDIA_BYTES} bytes`],
    ['http://[fd00:ec2::254]/', 'no request is sent to fd00:ec2::254'],
    ['ftp://files.example/a.png', 'ftp: is neither http: nor https:'],
    ['a.png', 'its address is not absolute'],
  ])('are told in words where they cannot be had: %s', async (path, words) => {
    const url = path.startsWith('/') ? `${at}${path}?token=hidden` : path;

    const { reply, sent } = await ask('google', [media(url)]);

    const said = words.replace('PORT', new URL(at).port);
    expect(sent).toContain(said);
    expect(sent).not.toContain('token=hidden');
    expect(reply.parts).toEqual([{ type: 'text', text: 'OK.' }]);
    expect(reply.warnings?.map(({ code, message }) => [code, message.includes(said)])).toEqual([
      ['media_not_fetched', true],
    ]);
  });

  it('are waited for no longer than all of them may take, or their call lasts', async () => {
    const signal = new AbortController().signal;
    const fetcher = createMediaFetcher({ signal, hosts: NAMED, timeoutMs: 50 });
    const both = ['/silent', '/silent?2'].map((path) => fetcher.fetch(media(`${at}${path}`)));

    expect(await Promise.all(both)).toEqual(
      Array(2).fill('media of one request took longer than 0.05 s'),
    );
    const ended = createMediaFetcher({ signal: AbortSignal.abort(), hosts: NAMED });
    expect(await ended.fetch(media(`${at}/silent`))).toMatch(/abort/i);
  });

  it('come only from hosts that the operator names, if any', async () => {
    const before = asked.length;
    const url = media(`${at}/a.png`);

    const { sent } = await ask('google', [url], { mediaHosts: ['files.example'] });

    expect(sent).toContain('this worker may not ask 127.0.0.1');
    expect(asked).toHaveLength(before);
    expect(
      (await ask('google', [url], { mediaHosts: ['127.0.0.1'] })).reply.warnings,
    ).toBeUndefined();
  });

  it.each(['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '2130706433'])(
    'come from no private address, unless its host is named: %s',
    async (host) => {
      const before = asked.length;
      const { port } = new URL(at);
      const url = `http://${host}:${port}/a.png`;

      const { sent } = await ask('google', [media(url)], { mediaHosts: undefined });

      expect(sent).toMatch(/no request is sent to \S+, which is a private address/);
      expect(asked).toHaveLength(before);
    },
  );
});
