/** `everloop codec serve` as a command; what it answers is tested in test/codec-server. */
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { cli, type CliResult } from './cli-fixture.ts';

const KEYS = `k2=${Buffer.alloc(32, 2).toString('base64')},k1=${Buffer.alloc(32, 1).toString('base64')}`;

type Listener = () => void;

/** Runs the command until it is ready, then asks `check`, then sends Ctrl-C. */
async function serving(
  argv: readonly string[],
  env: Record<string, string>,
  check: (url: string) => Promise<void>,
): Promise<CliResult> {
  const listeners: Listener[] = [];
  let written = '';
  const running = cli(['codec', 'serve', '--listen', '127.0.0.1:0', ...argv], {
    env,
    io: {
      stdout: { write: (text: string) => (written += text) },
      signals: {
        on: (_signal, listener) => listeners.push(listener),
        off: () => undefined,
        exit: () => undefined,
      },
    },
  });
  const url = await eventually('a codec server', () => /http:\/\/[\d.:]+/.exec(written)?.[0]);
  await check(url);
  listeners[0]?.();
  return { ...(await running), stdout: written };
}

describe('everloop codec serve', () => {
  it('serves until Ctrl-C, and says with which keys and for whom', async () => {
    const origin = 'https://cloud.temporal.io';
    const { exitCode, stdout } = await serving(
      ['--origin', origin],
      { EVERLOOP_KEYS: KEYS },
      async (url) => {
        const body = '{"payloads":[]}';
        const answer = await fetch(`${url}/decode`, { method: 'POST', body, headers: { origin } });
        expect(await answer.json()).toEqual({ payloads: [] });
        expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
      },
    );

    expect(exitCode).toBe(0);
    expect(stdout.replaceAll(/:\d+/g, ':PORT').split('\n')).toEqual([
      'codec server  http://127.0.0.1:PORT',
      'keys          k2, k1',
      'web UIs       https://cloud.temporal.io',
      '',
      'Ready. Try: temporal workflow show --workflow-id ID --codec-endpoint http://127.0.0.1:PORT · Ctrl-C stops.',
      '',
    ]);
  });

  it('asks for EVERLOOP_CODEC_TOKEN, and knows the UI of dev', async () => {
    const env = { EVERLOOP_KEYS: KEYS, EVERLOOP_CODEC_TOKEN: 'a-token-of-sixteen' };
    const { stdout } = await serving(['--json'], env, async (url) => {
      const answer = await fetch(`${url}/decode`, { method: 'POST', body: '{"payloads":[]}' });
      expect(answer.status).toBe(401);
    });

    expect(JSON.parse(stdout)).toMatchObject({
      keys: ['k2', 'k1'],
      origins: ['http://127.0.0.1:8233', 'http://localhost:8233'],
    });
  });

  it('says what it lacks', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const at = `127.0.0.1:${port}`;
    const keyed = { EVERLOOP_KEYS: KEYS };
    const cases = [
      [
        [],
        {},
        'Expected keys to decrypt with, got none. Set EVERLOOP_KEYS to the keys of the workers.',
      ],
      [
        ['--listen', at],
        keyed,
        `Expected to listen at ${at}, got: listen EADDRINUSE: address already in use ${at}. Choose another with \`--listen\`, or stop what listens there.`,
      ],
      [
        ['--listen', '7246'],
        keyed,
        'Expected `--listen` to be HOST:PORT such as 127.0.0.1:7246, got `7246`. Correct it.',
      ],
      [
        ['--listen', '0.0.0.0:7246'],
        keyed,
        'Expected a token for a codec server at `0.0.0.0`, which other machines reach, got none. Set EVERLOOP_CODEC_TOKEN.',
      ],
      [
        ['--origin', '*'],
        keyed,
        'Expected an origin such as `https://ui.example`, got "*". Leave out the path, and name no wildcard.',
      ],
      [
        [],
        { ...keyed, EVERLOOP_CODEC_TOKEN: 'short' },
        'Expected `EVERLOOP_CODEC_TOKEN` to have at least 16 characters, got 5. Take a longer one.',
      ],
    ] as const;
    for (const [argv, env, message] of cases) {
      const { exitCode, stderr } = await cli(['codec', 'serve', ...argv], { env });
      expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: `${message}\n` });
    }
    taken.close();
  });
});
