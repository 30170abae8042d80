import { describe, expect, it } from 'vitest';
import { createConsole } from '../../src/console/serve/console.ts';
import { memoryEverloop } from '../support/memory-everloop.ts';
import { consoleStage, READ_TOKEN, TOKEN } from './console-stage.ts';

const START = { requestId: 'request-1', agent: 'clerk', task: 'Refund.' };
const stage = consoleStage([]);

describe('who may ask a console', () => {
  it('answers nothing of the API without its token', async () => {
    for (const token of [null, 'another-token-of-it', `${TOKEN}x`, '']) {
      expect(await stage.ask('/api/v1/meta', { token }), String(token)).toMatchObject({
        status: 401,
        body: { code: 'unauthorized' },
      });
    }
    expect(await stage.ask('/api/v1/meta')).toMatchObject({
      status: 200,
      body: { role: 'operate' },
    });
  });

  it('gives the page itself without a token, because it holds no data', async () => {
    const answer = await stage.ask('/runs/clerk-1%2F1.2', { token: null });

    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(answer.body).toContain('npm run build');
  });

  it('lets a read token look, and refuses it every action', async () => {
    const read = { token: READ_TOKEN };

    expect(await stage.ask('/api/v1/meta', read)).toMatchObject({
      status: 200,
      body: { role: 'read' },
    });
    for (const path of ['/runs', '/runs/clerk-1/send', '/runs/clerk-1/cancel']) {
      expect(await stage.post(`/api/v1${path}`, START, read), path).toMatchObject({
        status: 403,
        body: { code: 'forbidden' },
      });
    }
    expect(stage.lines).toEqual([]);
  });

  it('refuses a Host that is not its own, with and without a token, for pages and data', async () => {
    for (const host of [
      'evil.example',
      'evil.example:8234',
      '127.0.0.1.evil.example',
      '10.0.0.7',
    ]) {
      for (const path of ['/', '/api/v1/meta', '/assets/main.js']) {
        expect(await stage.ask(path, { headers: { host } }), `${host} ${path}`).toMatchObject({
          status: 421,
          body: { code: 'wrong_host' },
        });
      }
    }
    for (const host of ['localhost', 'LocalHost:9000', '[::1]:8234']) {
      expect(await stage.ask('/api/v1/meta', { headers: { host } }), host).toMatchObject({
        status: 200,
      });
    }
  });

  it('knows further hosts, and every address when it listens on all', async () => {
    const named = consoleStage([], { access: { token: TOKEN, hosts: ['Agents.Example', '*'] } });

    for (const host of ['agents.example', 'agents.example:443', '10.0.0.7:8234', '[fe80::1]:1']) {
      expect(await named.ask('/api/v1/meta', { headers: { host } }), host).toMatchObject({
        status: 200,
      });
    }
    expect(await named.ask('/', { headers: { host: 'evil.example' } })).toMatchObject({
      status: 421,
    });
  });

  it('takes changes from its own pages only', async () => {
    for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1:9999', '']) {
      expect(
        await stage.post('/api/v1/runs', START, { headers: { origin } }),
        origin,
      ).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    }
    expect(stage.everloop.started).toEqual([]);
  });

  it('says who acts as a proxy names them', async () => {
    const access = { token: TOKEN, userHeader: 'x-user' };
    const { ask } = consoleStage([], { access });

    expect(await ask('/api/v1/meta', { headers: { 'x-user': ' Ada ' } })).toMatchObject({
      body: { user: 'Ada' },
    });
    expect(await stage.ask('/api/v1/meta', { headers: { 'x-user': 'Ada' } })).toMatchObject({
      body: { user: null },
    });
  });

  it('reads a name that a proxy writes as UTF-8, or as Latin-1', async () => {
    const { ask } = consoleStage([], { access: { token: TOKEN, userHeader: 'x-user' } });
    const nameOf = async (bytes: Buffer): Promise<unknown> =>
      (await ask('/api/v1/meta', { headers: { 'x-user': bytes.toString('latin1') } })).body;

    expect(await nameOf(Buffer.from('Zoë Łukasz', 'utf8'))).toMatchObject({ user: 'Zoë Łukasz' });
    expect(await nameOf(Buffer.from('Zoë', 'latin1'))).toMatchObject({ user: 'Zoë' });
  });

  it('lets no page of elsewhere read, frame or load anything, on every answer', async () => {
    const answers = [
      await stage.ask('/'),
      await stage.ask('/api/v1/meta'),
      await stage.ask('/api/v1/nothing'),
      await stage.ask('/api/v1/meta', { token: null }),
      await stage.ask('/api/v1/meta', { method: 'OPTIONS', headers: { origin: 'https://a.b' } }),
    ];
    for (const { headers } of answers) {
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'; script-src 'self'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).toContain("require-trusted-types-for 'script'; trusted-types 'none'");
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('access-control-allow-origin')).toBeNull();
    }
    expect(answers.slice(1).map(({ headers }) => headers.get('cache-control'))).toEqual(
      answers.slice(1).map(() => 'no-store'),
    );
  });

  it('refuses tokens that are short or equal', () => {
    const everloop = memoryEverloop([]);
    const wrong = [
      { token: 'short' },
      { token: TOKEN, readToken: 'x' },
      { token: TOKEN, readToken: TOKEN },
    ];
    for (const access of wrong) {
      expect(() => createConsole({ everloop, access })).toThrow(/token/);
    }
  });
});
