/** Where a server of this machine keeps its program, and which task queue a folder has. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cliFolder } from '../../src/worker/server/cli-folder.ts';
import { folderQueue } from '../../src/worker/server/folder-queue.ts';
import { pinnedCliName } from '../../src/worker/server/temporal-cli.ts';

let folder: string;
let dataDir: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'everloop-folders-'));
  dataDir = join(folder, 'project', '.everloop');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('the folder of the Temporal CLI', () => {
  it('is in the cache folder of the user, whatever the project is', async () => {
    const env = { HOME: join(folder, 'home') };

    expect(await cliFolder(dataDir, env, 'linux')).toBe(join(env.HOME, '.cache/everloop/bin'));
    expect(await cliFolder(join(folder, 'other'), env, 'darwin')).toBe(
      join(env.HOME, 'Library/Caches/everloop/bin'),
    );
  });

  it('is where XDG_CACHE_HOME says, if that is absolute', async () => {
    const HOME = join(folder, 'home');

    const absolute = await cliFolder(
      dataDir,
      { HOME, XDG_CACHE_HOME: join(folder, 'xdg') },
      'linux',
    );
    const relative = await cliFolder(dataDir, { HOME, XDG_CACHE_HOME: 'xdg' }, 'linux');

    expect(absolute).toBe(join(folder, 'xdg/everloop/bin'));
    expect(relative).toBe(join(HOME, '.cache/everloop/bin'));
  });

  it('is in the project, if somebody put the CLI there', async () => {
    await mkdir(join(dataDir, 'bin'), { recursive: true });
    await writeFile(join(dataDir, 'bin', pinnedCliName()), '');

    expect(await cliFolder(dataDir, { HOME: folder }, 'linux')).toBe(join(dataDir, 'bin'));
  });

  it('is in the project, if there is no cache folder that can be written', async () => {
    await writeFile(join(folder, 'file'), '');

    expect(await cliFolder(dataDir, { HOME: '' }, 'linux')).toBe(join(dataDir, 'bin'));
    expect(await cliFolder(dataDir, { HOME: join(folder, 'file') }, 'linux')).toBe(
      join(dataDir, 'bin'),
    );
  });
});

describe('the task queue of a folder', () => {
  it('is its own, and stays the same', async () => {
    const first = await folderQueue(dataDir);
    await writeFile(join(dataDir, 'temporal.db'), '');

    expect(first).toMatch(/^everloop-[0-9a-f]{12}$/);
    expect(await folderQueue(dataDir)).toBe(first);
    expect(await folderQueue(join(folder, 'other'))).not.toBe(first);
  });

  it('is the same without a note, if the folder cannot be written', async () => {
    await writeFile(join(folder, 'file'), '');
    const inFile = join(folder, 'file', '.everloop');

    expect(await folderQueue(inFile)).toBe(await folderQueue(inFile));
  });
});
