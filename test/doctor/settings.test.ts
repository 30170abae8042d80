/** Each check of settings and packages: a world in which it fires, and one in which it does not. */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DoctorWorld } from '../../src/doctor/checks/check.ts';
import { readConfig } from '../../src/worker/config/config.ts';
import { createChunkBus } from '../../src/worker/streaming/chunk-bus.ts';
import { openChunkEndpoint } from '../../src/worker/streaming/chunk-endpoint.ts';
import { found, project, world } from './world.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'everloop-doctor-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The environment and what is read from it. */
function env(variables: NonNullable<DoctorWorld['env']>): Partial<DoctorWorld> {
  return { env: variables, config: readConfig(variables, () => undefined) };
}

/** A world in which a check fires, what its message holds, and one in which it does not. */
const FIRING: readonly (readonly [
  code: string,
  given: Partial<DoctorWorld>,
  says: string,
  sound: Partial<DoctorWorld>,
])[] = [
  [
    'short-grace',
    env({ EVERLOOP_SHUTDOWN_GRACE_MS: '1000' }),
    'at least 30000 ms, got 1000 ms',
    env({ EVERLOOP_SHUTDOWN_GRACE_MS: '30000' }),
  ],
  [
    'unknown-variables',
    env({ EVERLOOP_OF_TOMORROW: '1' }),
    'got `EVERLOOP_OF_TOMORROW`',
    env({ EVERLOOP_LOG_LEVEL: 'WARN' }),
  ],
  [
    'unused-variables',
    env({ EVERLOOP_STREAM_LISTEN: 'off', EVERLOOP_STREAM_TOKEN: 'sixteen-characters' }),
    '`EVERLOOP_STREAM_TOKEN` to have an effect',
    env({ EVERLOOP_STREAM_TOKEN: 'sixteen-characters' }),
  ],
  [
    'unused-variables',
    env({ EVERLOOP_HOLD_PATCHES: 'of-tomorrow' }),
    'this release has no of-tomorrow',
    env({ EVERLOOP_HOLD_PATCHES: 'all' }),
  ],
  ['local-time-zone', { timeZone: 'Europe/Berlin' }, 'got Europe/Berlin', { timeZone: 'Etc/UTC' }],
  [
    'local-language',
    env({ LC_ALL: 'de_DE.UTF-8', LANG: 'C.UTF-8' }),
    '`LC_ALL` to be C.UTF-8 where workers run, got `de_DE.UTF-8`',
    env({ LC_ALL: '', LANG: 'C.UTF-8' }),
  ],
  [
    'missing-key',
    { models: [{ id: 'openai/gpt-5-mini' }, { id: 'fast', provider: 'openai.responses' }] },
    '`OPENAI_API_KEY` to be set for `openai/gpt-5-mini`, `fast`',
    {
      ...env({ OPENAI_API_KEY: 'k' }),
      models: [{ id: 'openai/gpt-5-mini' }, { id: 'mine' }, { id: 'a', provider: 'toString.x' }],
    },
  ],
  ['musl', { hasLibc: false }, 'such as Alpine', {}],
];

describe('a check', () => {
  it.each(FIRING)('%s fires', async (code, given, says, sound) => {
    const findings = await found(code, world(given));

    expect(findings.map(({ message }) => message).join('\n')).toContain(says);
    expect(await found(code, world(sound))).toEqual([]);
  });

  it('archive-not-writable fires when a file is in the way', async () => {
    const blocked = await project(folder, { '.everloop': 'a file' });
    const sound = await project(folder, {});

    expect(await found('archive-not-writable', world({ cwd: sound }))).toEqual([]);
    const findings = await found('archive-not-writable', world({ cwd: blocked }));
    expect(findings).toMatchObject([{ severity: 'error' }]);
    expect(existsSync(join(sound, '.everloop'))).toBe(false);
  });

  it('no-stream fires when the workers refuse the token, or none is there', async () => {
    const token = 'a-token-of-24-characters';
    const endpoint = await openChunkEndpoint({ source: createChunkBus(), token });
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const at = (url: string, own: string): DoctorWorld =>
      world(env({ EVERLOOP_STREAM_URL: url, EVERLOOP_STREAM_TOKEN: own }));
    try {
      expect(await found('no-stream', world())).toEqual([]);
      expect(await found('no-stream', at(endpoint.url, token))).toEqual([]);
      expect(
        await found('no-stream', at(endpoint.url, `${token}, another-token-altogether`)),
      ).toEqual([]);
      expect(await found('no-stream', at(endpoint.url, 'another-token-altogether'))).toMatchObject([
        { message: expect.stringContaining('one that refuses the token') as string },
      ]);
      const gone = await openChunkEndpoint({ source: createChunkBus(), token });
      await gone.close();
      const both = at(`${gone.url}, http://127.0.0.1:${port}`, token);
      expect(await found('no-stream', both)).toMatchObject([
        { message: expect.stringContaining('ECONNREFUSED') as string },
        { message: expect.stringContaining('no answer within 3 s') as string },
      ]);
    } finally {
      silent.close();
      await endpoint.close();
    }
  });

  it('package-copies fires for two copies of a package that must be one', async () => {
    const one = {
      'node_modules/protobufjs/package.json': '{"version": "8.8.1"}',
      // As every install has it.
      'node_modules/@grpc/proto-loader/node_modules/protobufjs/package.json':
        '{"version": "7.6.6"}',
    };
    const two = {
      ...one,
      'node_modules/@other/sdk/node_modules/protobufjs/package.json': '{"version": "7.0.0"}',
    };

    expect(await found('package-copies', world({ cwd: await project(folder, one) }))).toEqual([]);
    expect(await found('package-copies', world({ cwd: await project(folder, two) }))).toMatchObject(
      [
        {
          message: expect.stringMatching(
            /one copy of protobufjs, got 2: 8\.8\.1.*7\.0\.0/,
          ) as string,
        },
      ],
    );
  });

  it('temporal-packages fires for two versions of the SDK, and for a range', async () => {
    const sound = {
      'package.json': '{"dependencies": {"@temporalio/client": "1.24.0", "zod": "^4.0.0"}}',
      'node_modules/@temporalio/client/package.json': '{"version": "1.24.0"}',
      'node_modules/@temporalio/worker/package.json': '{"version": "1.24.0"}',
    };
    const broken = {
      'package.json': '{"devDependencies": {"@temporalio/worker": "^1.24.0"}}',
      'node_modules/@temporalio/client/package.json': '{"version": "1.24.0"}',
      'node_modules/@temporalio/worker/package.json': '{"version": "1.25.0"}',
    };

    expect(await found('temporal-packages', world({ cwd: await project(folder, sound) }))).toEqual(
      [],
    );
    expect(
      await found('temporal-packages', world({ cwd: await project(folder, broken) })),
    ).toMatchObject([
      {
        severity: 'error',
        message: expect.stringContaining('client 1.24.0, worker 1.25.0') as string,
      },
      {
        severity: 'warning',
        message: expect.stringContaining('@temporalio/worker ^1.24.0') as string,
      },
    ]);
  });
});

describe('a fix', () => {
  it('adds the data folder to .gitignore, once', async () => {
    const cwd = await project(folder, { '.git/HEAD': '', '.gitignore': 'node_modules' });
    const given = world({ cwd });

    expect(await found('folder-not-ignored', given)).toMatchObject([{ fixable: true }]);
    expect(await readFile(join(cwd, '.gitignore'), 'utf8')).toBe('node_modules');
    expect(await found('folder-not-ignored', given, true)).toMatchObject([{ fixed: true }]);

    expect(await readFile(join(cwd, '.gitignore'), 'utf8')).toBe('node_modules\n.everloop/\n');
    expect(await found('folder-not-ignored', given)).toEqual([]);
    const elsewhere = world({ cwd: await project(folder, {}) });
    expect(await found('folder-not-ignored', elsewhere)).toEqual([]);
  });

  it('removes a bundle that cannot be read, and no other', async () => {
    const sound = '.everloop/cache/workflows-1.json';
    const broken = '.everloop/cache/workflows-2.json';
    const cwd = await project(folder, {
      [sound]: '{"v": 5, "code": "1"}',
      [broken]: '{"v": 5, "co',
    });
    const given = world({ cwd });

    expect(await found('broken-bundle-cache', given)).toMatchObject([{ fixable: true }]);
    expect(existsSync(join(cwd, broken))).toBe(true);
    expect(await found('broken-bundle-cache', given, true)).toMatchObject([{ fixed: true }]);

    expect(existsSync(join(cwd, broken))).toBe(false);
    expect(existsSync(join(cwd, sound))).toBe(true);
    expect(await found('broken-bundle-cache', given)).toEqual([]);
  });
});
