/** `everloop console` as a command; what it answers is tested in test/console. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fileURLToPath } from 'node:url';
import type { ConnectedEverloop } from '../../src/client/connect.ts';
import type { WorkerReady } from '../../src/worker/serve/run-worker.ts';
import { eventually } from '../support/eventually.ts';
import { memoryEverloop } from '../support/memory-everloop.ts';
import { cli, type CliResult } from './cli-fixture.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'everloop-console-'));
});
afterEach(() => rm(dataDir, { recursive: true }));

/** Runs the command until it is ready, then asks `check`, then sends Ctrl-C. */
async function serving(
  argv: readonly string[],
  check: (address: URL) => Promise<void>,
): Promise<CliResult> {
  const listeners: (() => void)[] = [];
  let written = '';
  const client = { address: '10.0.0.1:7233', namespace: 'shop', close: async () => undefined };
  const running = cli(['console', '--listen', '127.0.0.1:0', ...argv], {
    env: { EVERLOOP_DATA_DIR: dataDir, TEMPORAL_ADDRESS: '10.0.0.1:7233' },
    io: {
      connect: async () => ({ ...memoryEverloop([]), ...client }) as unknown as ConnectedEverloop,
      stdout: { write: (text: string) => (written += text) },
      signals: {
        on: (_signal, listener) => listeners.push(listener),
        off: () => undefined,
        exit: () => undefined,
      },
    },
  });
  const found = await eventually(
    'a console',
    () => /http:\/\/[\d.:]+\/#key=[\w-]+/.exec(written)?.[0],
  );
  await check(new URL(found));
  listeners[0]?.();
  return { ...(await running), stdout: written };
}

describe('everloop console', () => {
  it('prints its address first, serves until Ctrl-C, and knows where it stands', async () => {
    const { exitCode, stdout } = await serving([], async ({ origin, hash }) => {
      const authorization = `Bearer ${hash.replace('#key=', '')}`;
      const answer = await fetch(`${origin}/api/v1/meta`, { headers: { authorization } });
      expect(await answer.json()).toMatchObject({
        address: '10.0.0.1:7233',
        namespace: 'shop',
        role: 'operate',
      });
    });

    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^console +http:\/\/127\.0\.0\.1:\d+\/#key=[\w-]{43}\n/);
    expect(stdout).toContain('server   10.0.0.1:7233, namespace shop');
  });

  it('writes a line for each action that no terminal obeys', async () => {
    const { stderr } = await serving([], async ({ origin, hash }) => {
      await fetch(`${origin}/api/v1/runs/${encodeURIComponent('a\u009B2J\u202Eb')}/pause`, {
        method: 'POST',
        headers: { authorization: `Bearer ${hash.replace('#key=', '')}`, origin },
        body: JSON.stringify({ requestId: 'request-1' }),
      });
    });

    const line = stderr.split('\n').find((text) => text.includes('"action"')) ?? '';
    expect(line).toContain(String.raw`a\u009B2J\u202Eb`);
    expect(JSON.parse(line)).toMatchObject({ action: 'pause', run: 'a\u009B2J\u202Eb' });
  });

  it('writes one document with --json', async () => {
    const { stdout } = await serving(['--json'], async () => undefined);

    expect(JSON.parse(stdout)).toMatchObject({
      address: expect.stringContaining('/#key='),
      server: '10.0.0.1:7233',
    });
  });
});

/** `everloop dev`, whose worker is ready at once and stops at once. */
function dev(
  argv: readonly string[],
  connect: () => Promise<ConnectedEverloop>,
): Promise<CliResult> {
  return cli(['dev', '--agents', 'examples/docs/modes.ts', ...argv], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: { EVERLOOP_DATA_DIR: dataDir },
    io: {
      connect,
      runWorker: async ({ onReady, taskQueue }) =>
        onReady?.({
          server: { address: '127.0.0.1:7233', namespace: 'default', startedHere: true },
          config: { taskQueue, dataDir },
        } as WorkerReady),
    },
  });
}

describe('the console of everloop dev', () => {
  let isClosed = false;
  const connect = async (): Promise<ConnectedEverloop> =>
    ({
      ...memoryEverloop([]),
      close: async () => (isClosed = true),
    }) as unknown as ConnectedEverloop;

  it('is printed first, is there by default, and ends with the worker', async () => {
    const { stderr } = await dev([], connect);

    const address = /^console +(http:\/\/127\.0\.0\.1:\d+)\/#key=[\w-]{43}\n/.exec(stderr)?.[1];
    expect(address).toBeDefined();
    await expect(fetch(address ?? '')).rejects.toThrow('fetch failed');
    expect(isClosed).toBe(true);
  });

  it('is left out with --no-console', async () => {
    const { stderr } = await dev(['--no-console'], () => Promise.reject(new Error('unexpected')));

    expect(stderr).not.toContain('console');
    expect(stderr).toContain('Ready.');
  });

  it('keeps no worker from serving when it cannot start', async () => {
    const { stderr, exitCode } = await dev([], () => Promise.reject(new Error('no socket')));

    expect(stderr).toContain('No console: no socket');
    expect(stderr).toContain('Ready.');
    expect(exitCode).toBe(0);
  });
});
