import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isRunning, withLock } from '../../src/worker/server/server-lock.ts';
import { eventually } from '../support/eventually.ts';

let folder: string;
let lockFile: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'everloop-lock-'));
  lockFile = join(folder, 'server.lock');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** The id of a process that has ended. */
function deadPid(): number {
  return spawnSync(process.execPath, ['-e', '']).pid;
}

describe('withLock', () => {
  it('lets one in at a time and leaves nothing behind', async () => {
    let inside = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      inside += 1;
      most = Math.max(most, inside);
      await sleep(5);
      inside -= 1;
    };

    await Promise.all(Array.from({ length: 8 }, () => withLock(lockFile, 10_000, work)));

    expect(most).toBe(1);
    expect(await readdir(folder)).toEqual([]);
  });

  it('is released when its body throws', async () => {
    const failing = withLock(lockFile, 1_000, () => Promise.reject(new Error('no')));

    await expect(failing).rejects.toThrow('no');
    expect(await withLock(lockFile, 1_000, () => Promise.resolve('free'))).toBe('free');
  });

  it.each([
    {
      name: 'whose holder has died',
      content: () => JSON.stringify({ pid: deadPid(), id: '1' }),
      ageS: 0,
    },
    { name: 'that names nobody', content: () => 'garbage', ageS: 0 },
    {
      name: 'that is too old',
      content: () => JSON.stringify({ pid: process.pid, id: '1' }),
      ageS: 61,
    },
  ])('takes over a lock $name', async ({ content, ageS }) => {
    await writeFile(lockFile, content());
    const madeAt = Date.now() / 1000 - ageS;
    await utimes(lockFile, madeAt, madeAt);

    const bodies = Array.from({ length: 4 }, (_, index) =>
      withLock(lockFile, 5_000, () => Promise.resolve(index)),
    );

    expect(await Promise.all(bodies)).toEqual([0, 1, 2, 3]);
  });

  it('is renewed while it is held, so that long work is not taken for dead', async () => {
    const madeAtMs = await withLock(lockFile, 1_000, async () => {
      await utimes(lockFile, 1, 1);
      return eventually('the lock to be renewed', async () => {
        const { mtimeMs } = await stat(lockFile);
        return mtimeMs > 1_000 && mtimeMs;
      });
    });

    expect(madeAtMs).toBeGreaterThan(Date.now() - 5_000);
  });

  it('gives up when a living holder does not let go', async () => {
    await writeFile(lockFile, JSON.stringify({ pid: process.pid, id: '1' }));

    await expect(withLock(lockFile, 100, () => Promise.resolve())).rejects.toMatchObject({
      code: 'server_lock',
      message: `Expected \`${lockFile}\` to be released within 0.1 s, got a process that still holds it. Wait until it has started its server, or remove the file if no such process runs.`,
    });
  });
});

describe('isRunning', () => {
  it('tells a living process from a dead one', () => {
    expect([isRunning(process.pid), isRunning(deadPid())]).toEqual([true, false]);
  });
});
