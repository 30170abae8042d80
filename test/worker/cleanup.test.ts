import { describe, expect, it } from 'vitest';
import { createCleanup, withCleanup } from '../../src/worker/config/cleanup.ts';

describe('cleanup', () => {
  it('stops the newest first, all of it, and tells the first failure', async () => {
    const stopped: string[] = [];
    const cleanup = createCleanup();
    cleanup.add(() => void stopped.push('server'));
    cleanup.add(() => Promise.reject(new Error('stuck')));
    cleanup.add(async () => void stopped.push('worker'));

    await expect(cleanup.run()).rejects.toThrow('stuck');

    expect(stopped).toEqual(['worker', 'server']);
    await expect(cleanup.run()).rejects.toThrow('stuck');
    expect(stopped).toEqual(['worker', 'server']);
  });

  it('stops what was started when a later start fails', async () => {
    const stopped: string[] = [];

    const starting = withCleanup(async (cleanup) => {
      cleanup.add(() => void stopped.push('server'));
      throw new Error('no worker');
    });

    await expect(starting).rejects.toThrow('no worker');
    expect(stopped).toEqual(['server']);
  });

  it('keeps what was started when all starts succeed', async () => {
    const stopped: string[] = [];

    const result = await withCleanup(async (cleanup) => {
      cleanup.add(() => void stopped.push('server'));
      return 'up';
    });

    expect([result, stopped]).toEqual(['up', []]);
  });
});
