import { describe, expect, it } from 'vitest';
import { cli, fakeRun, type CliResult } from './cli-fixture.ts';

/** Runs `stream-token` with a client that notes what it is asked for. */
async function asked(
  argv: readonly string[],
): Promise<CliResult & { readonly lives: readonly unknown[] }> {
  const lives: unknown[] = [];
  const result = await cli(['stream-token', ...argv], {
    everloop: {
      attach: (id) =>
        fakeRun(id, {
          streamToken: async (options) => {
            lives.push([id, options]);
            return { token: 'els1.root.1.signature', expiresAt: 1_800_000_000_000 };
          },
        }),
    },
  });
  return { ...result, lives };
}

describe('everloop stream-token', () => {
  it('prints the token alone, for a script', async () => {
    const { stdout, lives } = await asked(['run-1', '--ttl', '15m']);

    expect(stdout).toBe('els1.root.1.signature\n');
    expect(lives).toEqual([['run-1', { ttlMs: 900_000 }]]);
  });

  it('says in JSON when it expires', async () => {
    const { stdout, lives } = await asked(['run-1', '--json']);

    expect(JSON.parse(stdout)).toEqual({
      id: 'run-1',
      token: 'els1.root.1.signature',
      expiresAt: '2027-01-15T08:00:00.000Z',
    });
    expect(lives).toEqual([['run-1', {}]]);
  });

  it('refuses a life that is no time', async () => {
    const { exitCode, stderr } = await asked(['run-1', '--ttl', '1 hour']);

    expect(exitCode).toBe(2);
    expect(stderr).toContain('Expected `--ttl` to be a time such as 90s, 30m, 2h or 1d');
  });
});
