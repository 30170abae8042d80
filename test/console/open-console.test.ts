import { createServer } from 'node:net';
import { once } from 'node:events';
import { request } from 'node:http';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  openConsole,
  type OpenConsole,
  type OpenConsoleOptions,
} from '../../src/console/serve/open-console.ts';
import { memoryEverloop } from '../support/memory-everloop.ts';
import { TOKEN } from './console-stage.ts';

let dataDir: string;
const opened: OpenConsole[] = [];
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'everloop-console-'));
});
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
  await rm(dataDir, { recursive: true });
});

async function open(options: Partial<OpenConsoleOptions> = {}): Promise<OpenConsole> {
  const everloop = memoryEverloop([]);
  const one = await openConsole({ everloop, dataDir, env: {}, port: 0, ...options });
  opened.push(one);
  return one;
}

function meta({ url }: OpenConsole, token: string): Promise<Response> {
  return fetch(`${url}/api/v1/meta`, { headers: { authorization: `Bearer ${token}` } });
}

describe('openConsole', () => {
  it('keeps a token that only its owner may read, and prints it in the fragment', async () => {
    const [one, other] = [await open(), await open()];
    const token = (await readFile(join(dataDir, 'console-token'), 'utf8')).trim();

    expect(Buffer.from(token, 'base64url')).toHaveLength(32);
    expect((await stat(join(dataDir, 'console-token'))).mode & 0o777).toBe(0o600);
    for (const console of [one, other]) {
      expect(console.address).toBe(`${console.url}/#key=${token}`);
      expect((await meta(console, token)).status).toBe(200);
    }
    expect((await fetch(one.address)).url).not.toContain(token);
  });

  it('has one token for consoles that start together', async () => {
    const consoles = await Promise.all(Array.from({ length: 8 }, () => open()));

    expect(new Set(consoles.map(({ address }) => new URL(address).hash)).size).toBe(1);
    expect(await readdir(dataDir)).toEqual(['console-token']);
  });

  it('refuses a token file that others may read, or that holds none', async () => {
    const file = join(dataDir, 'console-token');
    await writeFile(file, 'a-token-of-some-length\n', { mode: 0o644 });
    await chmod(file, 0o644);
    await expect(open()).rejects.toMatchObject({ code: 'console', message: /chmod 600/ });

    await chmod(file, 0o600);
    await writeFile(file, '\n');
    await expect(open()).rejects.toMatchObject({ code: 'console', message: /Delete the file/ });
  });

  it('does not start where other machines reach it without a token of the environment', async () => {
    await expect(open({ host: '0.0.0.0' })).rejects.toMatchObject({
      code: 'console',
      message: /Set EVERLOOP_CONSOLE_TOKEN/,
    });
    await expect(
      open({ host: '0.0.0.0', env: { EVERLOOP_CONSOLE_TOKEN: 'short' } }),
    ).rejects.toMatchObject({ code: 'environment' });

    const env = { EVERLOOP_CONSOLE_TOKEN: TOKEN, EVERLOOP_CONSOLE_HOSTS: 'agents.example' };
    const { port, address } = await open({ host: '0.0.0.0', env });
    // What is printed is often kept in a log.
    expect(address).toBe(`http://0.0.0.0:${port}`);
    const ask = async (host: string): Promise<number | undefined> => {
      const sent = request({ port, path: '/', headers: { host }, agent: false }).end();
      const [answer] = (await once(sent, 'response')) as [{ statusCode?: number; resume(): void }];
      answer.resume();
      return answer.statusCode;
    };
    expect(await ask('agents.example')).not.toBe(421);
    expect(await ask(`127.0.0.1:${port}`)).not.toBe(421);
    expect(await ask('evil.example')).toBe(421);
    await expect(stat(join(dataDir, 'console-token'))).rejects.toThrow(/ENOENT/);
  });

  it.each(['https://agents.example', 'agents.example:443', 'agents.example/console'])(
    'refuses the host %s, which no request would name',
    async (host) => {
      await expect(open({ env: { EVERLOOP_CONSOLE_HOSTS: host } })).rejects.toMatchObject({
        code: 'environment',
        message: /Leave out scheme, port and path/,
      });
    },
  );

  it('says that a port is taken that was asked for', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { readonly port: number };

    await expect(open({ port })).rejects.toMatchObject({ code: 'console', message: /--listen/ });
    taken.close();
  });

  it('serves built pages with their base, and assets that browsers may keep', async () => {
    const web = join(dataDir, 'web');
    await mkdir(join(web, 'assets'), { recursive: true });
    await writeFile(join(web, 'index.html'), '<script src="%BASE%/assets/main-A1.js"></script>');
    await writeFile(join(web, 'assets', 'main-A1.js'), 'let a;');
    const { url } = await open({ web });

    for (const path of ['/', '/runs/clerk-1%2F1.2', '/inbox']) {
      const page = await fetch(url + path);
      expect(await page.text()).toBe('<script src="/assets/main-A1.js"></script>');
      expect(page.headers.get('cache-control')).toBe('no-cache');
    }
    const asset = await fetch(`${url}/assets/main-A1.js`);
    expect(asset.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(asset.headers.get('cache-control')).toContain('immutable');
    expect((await fetch(`${url}/assets/%2e%2e%2findex.html`)).status).toBe(404);
  });
});
